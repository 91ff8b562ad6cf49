//! Copies of a database: made while it is written to, and made into a database again.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use orch_storage::check::Report;
use orch_storage::{Clock, StoreError, SystemClock};

use crate::check::check;
use crate::config::SqliteConfig;
use crate::evidence::{Evidence, Found};
use crate::lock::Lock;
use crate::log::{Log, LogReader};
use crate::mark::sync_directory;
use crate::place::{self, remove_database};
use crate::schema;

/// Only the user of the process may read it: stored objects include secrets.
const PRIVATE: u32 = 0o600;

/// What is added to the name of the database, before the number of the process, for a copy that loses its
/// name.
const UNNAMED: &str = "copy-";

/// How long a file is left to whoever has locked it.
const MOMENT: Duration = Duration::from_millis(10);

/// How much of a copy is in memory at a time, in bytes.
const PIECE: usize = 256 << 10;

/// Copies the database at `path` into the new file `copy`, as it is at one moment, and checks the copy. A
/// server may be writing meanwhile, and does not wait. The file has its name when it is whole; until then,
/// and where the process is killed, `.partial` is added to it.
pub async fn backup(path: &Path, copy: &Path) -> Result<Report, StoreError> {
    let partial = copy.with_added_extension("partial");
    let failed = |error: io::Error| not_writable(copy, &error);
    if copy.exists() {
        return Err(failed(ErrorKind::AlreadyExists.into()));
    }
    // Its lock keeps others away who copy into the same file.
    let file = open_private(&partial).map_err(failed)?;
    file.try_lock().map_err(|error| failed(error.into()))?;
    let made = async {
        let report = fill(path, &partial, &file).await?;
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

/// Copies the database at `path`, as it is at one moment, and checks the copy: an open file beside the
/// database that has no name any more, so that nothing is left of it whatever happens to the process. Any
/// number of processes may do so at a time.
pub async fn backup_unnamed(path: &Path) -> Result<(Report, File), StoreError> {
    remove_abandoned(path);
    let copy = path.with_added_extension(format!("{UNNAMED}{}", std::process::id()));
    let file = claim(&copy).await.map_err(|error| not_writable(&copy, &error))?;
    let made = fill(path, &copy, &file).await;
    let removed = remove_database(&copy);
    let report = made?;
    removed.map(|()| (report, file))
}

/// Copies and checks; `file` is the copy, locked by this process. What is in it is overwritten. What was
/// acknowledged, as the files beside the database say, has to be in the copy.
async fn fill(path: &Path, copy: &Path, file: &File) -> Result<Report, StoreError> {
    let failed = |error: io::Error| not_writable(copy, &error);
    let evidence = Evidence::gather(path)?;
    file.set_len(0).map_err(failed)?;
    LogReader::open(path).await?.copy_into(path, copy).await?;
    file.sync_all().map_err(failed)?;
    let report = whole(check(copy).await?, copy)?;
    if let Some((meta, found)) = LogReader::look(copy).await? {
        evidence.require(&meta, found)?;
    }
    Ok(report)
}

/// It has the right mode from the beginning.
fn open_private(path: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).read(true).write(true).mode(PRIVATE).open(path)
}

/// The file at `path`, locked.
async fn claim(path: &Path) -> io::Result<File> {
    loop {
        let file = open_private(path)?;
        match file.try_lock() {
            // Somebody may have taken it for abandoned, and removed it, before it was locked.
            Ok(()) if is_at(&file, path) => return Ok(file),
            Ok(()) => {}
            // Or looks at it just now.
            Err(TryLockError::WouldBlock) => tokio::time::sleep(MOMENT).await,
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Removes what processes left beside the database that were killed while they copied. The system has taken
/// their locks back.
fn remove_abandoned(path: &Path) {
    let (Some(directory), Some(database)) = (path.parent(), path.file_name()) else { return };
    let prefix = format!("{}.{UNNAMED}", database.display());
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(&prefix));
        if process.is_none_or(|process| process.parse::<u32>().is_err()) {
            continue;
        }
        let copy = entry.path();
        if let Ok(file) = File::open(&copy)
            && file.try_lock().is_ok()
            && is_at(&file, &copy)
        {
            // What cannot be removed is not in the way.
            let _ = remove_database(&copy);
        }
    }
}

/// Whether an open file has this name.
fn is_at(file: &File, path: &Path) -> bool {
    let of = |metadata: io::Result<fs::Metadata>| metadata.ok().map(|found| (found.dev(), found.ino()));
    of(file.metadata()).is_some_and(|opened| of(path.metadata()) == Some(opened))
}

/// Makes the database at `path`, which must not be there, of a copy, which errors call `name`. It begins a
/// new history: no revision of the database that was copied is given out again.
pub async fn restore(
    copy: impl Read + Send + 'static,
    name: &Path,
    path: &Path,
) -> Result<Report, StoreError> {
    let _lock = Lock::acquire(path)?;
    let draft = path.with_added_extension("restored");
    let restored = restore_by(&draft, copy, name, path).await;
    if restored.is_err() {
        // Nobody needs half a database; the error says why.
        let _ = remove_database(&draft);
    }
    restored
}

/// The database is made under the name `draft`, and gets its own when it is whole.
async fn restore_by(
    draft: &Path,
    copy: impl Read + Send + 'static,
    name: &Path,
    path: &Path,
) -> Result<Report, StoreError> {
    let evidence = Evidence::gather(path)?;
    let failed = |error: io::Error| not_writable(draft, &error);
    remove_database(draft)?;
    let spooling = {
        let (name, draft) = (name.to_owned(), draft.to_owned());
        tokio::task::spawn_blocking(move || spool(copy, &name, &draft))
    };
    spooling.await.map_err(|error| failed(error.into()))??;
    let of_copy = |error| match error {
        StoreError::NotADatabase { detail, .. } => StoreError::NotADatabase { path: name.into(), detail },
        StoreError::Damaged { detail, .. } => StoreError::Damaged { path: name.into(), detail },
        error => error,
    };
    whole(check(draft).await.map_err(of_copy)?, name)?;

    let vocabulary = LogReader::open(draft).await?.meta(draft).await?.vocabulary;
    let (mut log, meta) = Log::open(&SqliteConfig::new(draft, &*vocabulary)).await?;
    let at_draft = |error| schema::at_start(draft, &error);
    let (mut rows, mut time) = (0, None);
    let mut take = |record: orch_storage::store::Record| (rows, time) = (rows + 1, Some(record.time));
    let last = log.read(&mut take).await.map_err(at_draft)?;
    let found = Found { newest: meta.newest(last), rows, time };
    let revision = evidence.new_history(found, SystemClock.now());
    log.begin_history(revision, rows).await.map_err(at_draft)?;
    log.close().await.map_err(at_draft)?;
    let report = check(draft).await?;

    place::replace(draft, path, &evidence, meta.cluster_uid, revision)?;
    Ok(report)
}

/// Writes all of a copy into the new file `draft`.
fn spool(mut copy: impl Read, name: &Path, draft: &Path) -> Result<(), StoreError> {
    let failed = |error: io::Error| not_writable(draft, &error);
    let mut file = File::options().create_new(true).write(true).mode(PRIVATE).open(draft).map_err(failed)?;
    let mut buffer = vec![0; PIECE];
    loop {
        match copy.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => file.write_all(&buffer[..length]).map_err(failed)?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(StoreError::NotReadable { path: name.into(), detail: error.to_string().into() });
            }
        }
    }
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
