//! Whether the disk is full. SQLite reports some forms of that as plain input/output errors, so the file
//! system itself is asked.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use rustix::fs::StatVfsMountFlags;

/// How much is tried: more than what SQLite makes beside a database that it opens.
const PROBE: usize = 1 << 16;

/// Why a small file beside `path` cannot be written, if the reason is that there is no room.
pub(crate) fn no_room(path: &Path) -> Option<io::Error> {
    let mut probe = path.as_os_str().to_owned();
    probe.push(".probe");
    let written = File::create(&probe).and_then(|mut file| {
        file.write_all(&vec![0; PROBE])?;
        file.sync_all()
    });
    // Whether it can be removed does not change the answer.
    let _ = fs::remove_file(&probe);
    written.err().filter(|error| is_full(error) || error.kind() == ErrorKind::FileTooLarge)
}

/// How many bytes the disk of `path` still takes; none where the system does not say.
pub(crate) fn room(path: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(path).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Whether nobody can write to the file system of `path`.
pub(crate) fn is_read_only(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Whether the reason is that the disk has no room, whatever the file.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}
