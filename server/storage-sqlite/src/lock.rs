//! One process per database: a locked file beside it, which the system unlocks when the process ends, however
//! it ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use orch_storage::StoreError;

/// Holds the database until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "open is locked")] File);

impl Lock {
    /// Takes the database at `path`; makes its directory if needed.
    pub(crate) fn acquire(path: &Path) -> Result<Self, StoreError> {
        if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            fs::create_dir_all(directory).map_err(|error| not_writable(directory, &error))?;
        }
        let lock = lock_path(path);
        let file = File::options().create(true).truncate(false).write(true).open(&lock);
        let file = file.map_err(|error| not_writable(&lock, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: path.into(), lock }),
            Err(TryLockError::Error(error)) => Err(not_writable(&lock, &error)),
        }
    }
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
