//! One process per database: a locked file beside it, which the system unlocks when the process ends, however
//! it ends.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use orch_storage::StoreError;

/// Who can open the file can lock it, and so keep a server from starting.
const PRIVATE: u32 = 0o600;

/// Holds the database until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    /// Locked as long as it is open.
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the database at `path`; makes its directory if needed.
    pub(crate) fn acquire(path: &Path) -> Result<Self, StoreError> {
        if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            fs::create_dir_all(directory).map_err(|error| not_writable(directory, &error))?;
        }
        let lock = lock_path(path);
        let file = open_private(&lock).map_err(|error| not_writable(&lock, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file, path: lock }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: path.into(), lock }),
            Err(TryLockError::Error(error)) => Err(not_writable(&lock, &error)),
        }
    }

    /// Whether others who open the lock file find this one. Where nobody can tell, they do.
    pub(crate) fn has_its_name(&self) -> bool {
        match (self.file.metadata(), fs::metadata(&self.path)) {
            (Ok(locked), Ok(named)) => (locked.dev(), locked.ino()) == (named.dev(), named.ino()),
            (_, Err(error)) => error.kind() != ErrorKind::NotFound,
            (Err(_), Ok(_)) => true,
        }
    }
}

/// The file at `path`, closed to other users, also where it was made open to them.
fn open_private(path: &Path) -> io::Result<File> {
    let file = File::options().create(true).truncate(false).write(true).mode(PRIVATE).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(PRIVATE))?;
    }
    Ok(file)
}

/// The lock file of the database at `path`.
pub(crate) fn lock_path(path: &Path) -> PathBuf {
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    lock.into()
}

fn not_writable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::NotWritable { path: path.into(), detail: error.to_string().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_can_take_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data.db");
        let mode = || lock_path(&path).metadata().unwrap().permissions().mode() & 0o777;
        drop(Lock::acquire(&path).unwrap());
        assert_eq!(mode(), PRIVATE);
        fs::set_permissions(lock_path(&path), Permissions::from_mode(0o644)).unwrap();
        drop(Lock::acquire(&path).unwrap());
        assert_eq!(mode(), PRIVATE);
    }
}
