//! A small disk in memory, for tests of what happens when it is full.

use std::{io::ErrorKind, path::PathBuf, process::Command};

/// What `mount` says to those who may not mount anything. Whatever else it says is an error.
const REFUSALS: &[&str] = &["permission denied", "Operation not permitted", "superuser", "are you root?"];

/// A mounted disk; it goes away with this value.
#[derive(Debug)]
pub(crate) struct Disk(PathBuf);

impl Disk {
    /// Mounts one of so many bytes at a path, which becomes a private directory; `Err` says why this user may
    /// not.
    pub(crate) fn mount(at: PathBuf, bytes: u64) -> Result<Self, String> {
        std::fs::create_dir(&at).expect("the directory is the test's own");
        let options = format!("size={bytes},mode=0700");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&at).output();
        let mount = match mount {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err("there is no mount".to_owned()),
            mount => mount.expect("mount starts"),
        };
        if mount.status.success() {
            return Ok(Disk(at));
        }
        let errors = String::from_utf8_lossy(&mount.stderr).trim().to_owned();
        let may_not = REFUSALS.iter().any(|refusal| errors.contains(refusal));
        assert!(may_not, "mount fails: {errors}");
        Err(errors)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The server may still be running: a lazy unmount takes effect once it has ended.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}
