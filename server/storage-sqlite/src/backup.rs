//! Copies of a database: made while it is written to, and made into a database again.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use orch_storage::check::Report;
use orch_storage::{Clock, Revision, StoreError, SystemClock};

use crate::check::check;
use crate::config::SqliteConfig;
use crate::evidence::{Evidence, Found};
use crate::lock::Lock;
use crate::log::{Log, LogReader};
use crate::mark::{Mark, sync_directory};
use crate::repair::remove_database;
use crate::schema;

/// Only the user of the process may read it: stored objects include secrets.
const PRIVATE: u32 = 0o600;

/// Copies the database at `path` into the new file `copy`, as it is at one moment, and checks the copy. A
/// server may be writing meanwhile, and does not wait. The file has its name when it is whole; until then,
/// and where the process is killed, `.partial` is added to it.
pub async fn backup(path: &Path, copy: &Path) -> Result<Report, StoreError> {
    let partial = copy.with_added_extension("partial");
    let failed = |error: io::Error| not_writable(copy, &error);
    if copy.exists() {
        return Err(failed(ErrorKind::AlreadyExists.into()));
    }
    // It has the right mode from the beginning. Its lock keeps others away who copy into the same file.
    let file = File::options().create(true).truncate(false).write(true).mode(PRIVATE).open(&partial);
    let file = file.map_err(failed)?;
    file.try_lock().map_err(|error| failed(error.into()))?;
    let made = async {
        file.set_len(0).map_err(failed)?;
        LogReader::open(path).await?.copy_into(path, &partial).await?;
        file.sync_all().map_err(failed)?;
        let report = whole(check(&partial).await?, copy)?;
        fs::rename(&partial, copy).map_err(failed)?;
        sync_directory(copy).map_err(failed)?;
        Ok(report)
    };
    let made = made.await;
    if made.is_err() {
        // Nobody needs half a copy; the error says why.
        let _ = fs::remove_file(&partial);
    }
    made
}

/// Makes the database at `path`, which must not be there, of a copy. It begins a new history: no revision of
/// the database that was copied is given out again.
pub async fn restore(copy: &Path, path: &Path) -> Result<Report, StoreError> {
    let _lock = Lock::acquire(path)?;
    let evidence = Evidence::gather(path)?;
    let draft = path.with_added_extension("restored");
    let failed = |error: io::Error| not_writable(&draft, &error);
    remove_database(&draft)?;
    fs::copy(copy, &draft).map_err(|error| not_writable(copy, &error))?;
    fs::set_permissions(&draft, fs::Permissions::from_mode(PRIVATE)).map_err(failed)?;
    whole(check(&draft).await?, copy)?;

    let vocabulary = LogReader::open(&draft).await?.meta(&draft).await?.vocabulary;
    let (mut log, meta) = Log::open(&SqliteConfig::new(&draft, &*vocabulary)).await?;
    let at_draft = |error| schema::at_start(&draft, &error);
    let (mut rows, mut time) = (0, None);
    let mut take = |record: orch_storage::store::Record| (rows, time) = (rows + 1, Some(record.time));
    let last = log.read(&mut take).await.map_err(at_draft)?;
    let found = Found { newest: meta.newest(last), rows, time };
    let revision = evidence.new_history(found, SystemClock.now());
    log.begin_history(revision, rows).await.map_err(at_draft)?;
    log.close().await.map_err(at_draft)?;
    let report = check(&draft).await?;

    // A log that is left here belongs to the database that is gone.
    evidence.keep_wal(Revision::ZERO)?;
    remove_database(path)?;
    fs::rename(&draft, path).map_err(failed)?;
    Mark::of(path, meta.cluster_uid).create(revision).map_err(failed)?;
    Ok(report)
}

/// A report of a copy that has everything it should have. Rows that are damaged are copied as they are.
fn whole(report: Report, copy: &Path) -> Result<Report, StoreError> {
    match report.problems.first() {
        None => Ok(report),
        Some(problem) => Err(StoreError::Lost { path: copy.into(), detail: problem.as_str().into() }),
    }
}

fn not_writable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::NotWritable { path: path.into(), detail: error.to_string().into() }
}
