//! Whether the names of the database and its write-ahead log still lead to the files that were opened.
//!
//! Writes to a file that was removed, or that another one has taken the place of, are gone at the next
//! start. And SQLite must not open the other file beside the write-ahead log of the first one: it would take
//! that log for its own.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orch_storage::StoreError;

/// The file that was opened under a name.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    path: Arc<Path>,
    device: u64,
    inode: u64,
}

impl Identity {
    /// Of the file that has this name now.
    pub(crate) fn of(path: &Path) -> Result<Self, StoreError> {
        let found = fs::metadata(path).map_err(|error| StoreError::NotReadable {
            path: PathBuf::from(path),
            detail: error.to_string().into(),
        })?;
        Ok(Self { path: path.into(), device: found.dev(), inode: found.ino() })
    }

    /// The name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// [`StoreError::ReadOnly`] where the name leads to no file, or to another one.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let read_only = |what: &str| {
            let detail = format!("{} {what}", self.path.display()).into();
            Err(StoreError::ReadOnly { detail })
        };
        match fs::metadata(&self.path) {
            Ok(found) if self.is(&found) => Ok(()),
            Ok(_) => read_only("is another file than the one that was opened"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => read_only("was removed"),
            // It may be there all the same.
            Err(_) => Ok(()),
        }
    }

    fn is(&self, found: &Metadata) -> bool {
        (found.dev(), found.ino()) == (self.device, self.inode)
    }
}
