//! A control group that limits memory, for tests of what happens before the system kills.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

/// Where control groups of memory are: of version 1, with the file that holds the limit, and of version 2.
const PLACES: &[(&str, &str)] =
    &[("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];

/// A group of its own. It goes away with this value, after the processes in it.
#[derive(Debug)]
pub struct MemoryGroup(PathBuf);

impl MemoryGroup {
    /// A group whose processes may have so many bytes together; `Err` says why this user cannot make one.
    pub fn make(bytes: u64) -> Result<Self, String> {
        let mut why = "there are no control groups of memory".to_owned();
        for (place, limit) in PLACES.iter().filter(|(place, _)| Path::new(place).is_dir()) {
            match make(Path::new(place), limit, bytes) {
                Ok(group) => return Ok(group),
                Err(error) => why = format!("{place}: {error}"),
            }
        }
        Err(why)
    }

    /// The file to which a process writes its number to be in the group.
    pub(crate) fn processes(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

fn make(place: &Path, limit: &str, bytes: u64) -> io::Result<MemoryGroup> {
    let group = place.join(format!("orch-test-{}-{bytes}", std::process::id()));
    fs::create_dir(&group)?;
    let group = MemoryGroup(group);
    // A directory that is no group has no such file, and a group without the controller neither.
    let file = fs::File::options().write(true).open(group.0.join(limit))?;
    io::Write::write_all(&mut &file, bytes.to_string().as_bytes())?;
    Ok(group)
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // A process that was killed a moment ago may still be in it.
        for _ in 0..100 {
            match fs::remove_dir(&self.0) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => std::thread::yield_now(),
                _ => return,
            }
        }
    }
}
