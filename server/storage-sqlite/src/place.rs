//! How a database that was made elsewhere is put in its place.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orch_storage::{Revision, StoreError};

use crate::evidence::Evidence;
use crate::lock::Lock;
use crate::log::LogReader;
use crate::mark::{Mark, mark_path, sync_directory};
use crate::wal;

/// The files of the database at `path` that are there. They belong together.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let all = itself_and_logs(path).into_iter().chain([mark_path(path)]);
    all.filter(|file| file.exists()).collect()
}

fn itself_and_logs(path: &Path) -> [PathBuf; 4] {
    ["", "-wal", "-shm", "-journal"].map(|end| {
        let mut file = path.as_os_str().to_owned();
        file.push(end);
        file.into()
    })
}

/// Makes the database `draft`, which is closed and in the same file system, that at `path`, where there is
/// none. Logs that one has left there are removed; of its write-ahead log a copy is kept.
pub async fn put_in_place(draft: &Path, path: &Path) -> Result<(), StoreError> {
    let _lock = Lock::acquire(path)?;
    let evidence = Evidence::gather(path)?;
    let refused =
        |path: &Path, detail: &str| StoreError::NotADatabase { path: path.into(), detail: detail.into() };
    if evidence.has_database() {
        return Err(refused(path, "there is a file already"));
    }
    let look = LogReader::look(draft).await?;
    let (meta, found) = look.ok_or_else(|| refused(draft, "there is none"))?;
    replace(draft, path, &evidence, meta.cluster_uid, found.newest)
}

/// The same for a caller that has locked `path` and knows the draft: its identity and its newest revision. If
/// it is cut off at any moment, a start finds the database, or refuses to make an empty one.
pub(crate) fn replace(
    draft: &Path,
    path: &Path,
    evidence: &Evidence,
    cluster_uid: Arc<str>,
    newest: Revision,
) -> Result<(), StoreError> {
    let failed = |error: io::Error| not_writable(path, &error);
    if wal::wal_path(draft).metadata().is_ok_and(|log| log.len() > 0) {
        return Err(not_writable(draft, &io::Error::other("its write-ahead log is not copied")));
    }
    // The database would take its frames.
    evidence.keep_wal(Revision::ZERO)?;
    remove_database(path)?;
    // Behind the rename, that of another database would be there for a moment.
    Mark::of(path, cluster_uid).create(newest).map_err(failed)?;
    fs::rename(draft, path).map_err(failed)?;
    sync_directory(path).map_err(failed)?;
    // What those who looked at the draft left keeps its name.
    remove_database(draft)
}

/// Removes a database with its logs, such as one that an earlier attempt left that was cut off.
pub(crate) fn remove_database(path: &Path) -> Result<(), StoreError> {
    for file in itself_and_logs(path) {
        match fs::remove_file(file) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(not_writable(path, &error)),
            _ => {}
        }
    }
    Ok(())
}

fn not_writable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::NotWritable { path: path.into(), detail: error.to_string().into() }
}
