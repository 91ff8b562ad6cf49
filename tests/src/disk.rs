//! A small disk in memory, for tests of what happens when it is full.

use std::{path::PathBuf, process::Command};

/// A mounted disk; it goes away with this value.
#[derive(Debug)]
pub(crate) struct Disk(PathBuf);

impl Disk {
    /// Mounts one of so many bytes at a path, which becomes a private directory; `None` where this user may not.
    pub(crate) fn mount(at: PathBuf, bytes: u64) -> Option<Self> {
        std::fs::create_dir(&at).expect("the directory is the test's own");
        let options = format!("size={bytes},mode=0700");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&at).output();
        mount.is_ok_and(|mount| mount.status.success()).then_some(Disk(at))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The server may still be ending: the disk goes when it has.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}
