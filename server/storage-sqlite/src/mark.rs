//! The high-water mark: a small file beside the database that says which revision was acknowledged last.
//!
//! It is written after a transaction is on the disk and before its writes are acknowledged. So what it says
//! was in the database once; a database that is behind it has lost writes. The writing is a copy into the
//! memory of the system, and the disk follows within [`SYNC_EVERY`]. ARCHITECTURE.md says what the mark can
//! prove.
//!
//! There are two lines of text, each in a block of its own, and they are written in turn: a power cut in the
//! middle of one leaves the other.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use orch_storage::{Revision, StoreError};
use tokio::task::JoinHandle;

use crate::disk;

/// How long the disk may be behind, at most.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// Bytes of a line, with its padding: what a disk writes as a whole.
const LINE: usize = 512;
/// Bytes from the beginning of one line to that of the next.
const BLOCK: usize = 4096;
const LINES: usize = 2;
/// How a line begins.
const TITLE: &str = "acknowledged";

/// What a mark says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marked {
    /// The identity of the database that it belongs to.
    pub(crate) cluster_uid: Arc<str>,
    /// A revision that was durable.
    pub(crate) revision: Revision,
}

/// The mark of a database that is open.
#[derive(Debug)]
pub(crate) struct Mark {
    database: PathBuf,
    cluster_uid: Arc<str>,
    file: Option<Arc<File>>,
    marked: Revision,
    /// The line to write next.
    line: usize,
    synced: Revision,
    last_sync: Instant,
    syncing: Option<JoinHandle<()>>,
    /// It could not be written the last time.
    failing: bool,
}

/// The file of the mark beside the database at `path`.
pub(crate) fn mark_path(path: &Path) -> PathBuf {
    let mut mark = path.as_os_str().to_owned();
    mark.push(".mark");
    mark.into()
}

/// The mark beside the database at `path`, if there is one that can be read.
pub(crate) fn read(path: &Path) -> Result<Option<Marked>, StoreError> {
    let mark = mark_path(path);
    match fs::read(&mark) {
        Ok(bytes) => Ok(newest(&bytes).map(|(_, marked)| marked)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::NotWritable { path: mark, detail: error.to_string().into() }),
    }
}

/// The newest line that is whole: which one, and what it says.
fn newest(bytes: &[u8]) -> Option<(usize, Marked)> {
    let line = |line| Some((line, parse(bytes.get(line * BLOCK..line * BLOCK + LINE)?)?));
    (0..LINES).filter_map(line).max_by_key(|(_, marked)| marked.revision)
}

impl Mark {
    /// The mark of the database at `path`, which has this identity. Nothing is written yet.
    pub(crate) fn of(path: &Path, cluster_uid: Arc<str>) -> Self {
        Self {
            database: path.into(),
            cluster_uid,
            file: None,
            marked: Revision::ZERO,
            line: 0,
            synced: Revision::ZERO,
            last_sync: Instant::now(),
            syncing: None,
            failing: false,
        }
    }

    /// Makes the file anew, durably, with this revision in it. Where there is no room for another one, that
    /// which is there goes on, if it is of this database: its blocks are on the disk already.
    pub(crate) fn create(&mut self, revision: Revision) -> io::Result<()> {
        let path = mark_path(&self.database);
        let draft = path.with_added_extension("new");
        let Err(error) = self.replace(&path, &draft, revision) else { return Ok(()) };
        // It may not be there.
        let _ = fs::remove_file(&draft);
        if disk::is_full(&error) && self.go_on(&path, revision) { Ok(()) } else { Err(error) }
    }

    fn replace(&mut self, path: &Path, draft: &Path, revision: Revision) -> io::Result<()> {
        let file = File::options().create(true).truncate(true).write(true).open(draft)?;
        // It may be read by the same users as the database; before there is one, by this user alone.
        let permissions = match self.database.metadata() {
            Ok(database) => database.permissions(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Permissions::from_mode(0o600),
            Err(error) => return Err(error),
        };
        file.set_permissions(permissions)?;
        for line in 0..LINES {
            let mut block = vec![b' '; BLOCK];
            block[..LINE].copy_from_slice(&self.text(revision));
            file.write_all_at(&block, (line * BLOCK) as u64)?;
        }
        file.sync_all()?;
        fs::rename(draft, path)?;
        sync_directory(path)?;
        (self.file, self.marked, self.synced) = (Some(Arc::new(file)), revision, revision);
        Ok(())
    }

    /// Takes the file that is there. Returns whether it is of this database, which has come to `revision`.
    fn go_on(&mut self, path: &Path, revision: Revision) -> bool {
        let (Ok(bytes), Ok(file)) = (fs::read(path), File::options().write(true).open(path)) else {
            return false;
        };
        let Some((line, marked)) = newest(&bytes) else { return false };
        let is_ours = marked.cluster_uid == self.cluster_uid && marked.revision <= revision;
        if is_ours {
            self.line = (line + 1) % LINES;
            (self.file, self.marked, self.synced) = (Some(Arc::new(file)), marked.revision, marked.revision);
        }
        is_ours
    }

    /// Whether there is a file to write to.
    pub(crate) fn is_there(&self) -> bool {
        self.file.is_some()
    }

    /// Says that `revision` is durable. A failure is no reason to fail a write that is: it is logged.
    pub(crate) fn raise(&mut self, revision: Revision) {
        let Some(file) = &self.file else { return };
        let written = file.write_all_at(&self.text(revision), (self.line * BLOCK) as u64);
        if let Err(error) = &written
            && !self.failing
        {
            tracing::error!(%error, "the high-water mark cannot be written: lost writes may go unnoticed");
        }
        self.failing = written.is_err();
        (self.line, self.marked) = ((self.line + 1) % LINES, revision);
        self.sync_when_due();
    }

    /// Brings the mark to the disk, without waiting for it, if that was not done lately.
    pub(crate) fn sync_when_due(&mut self) {
        let is_busy = self.syncing.as_ref().is_some_and(|task| !task.is_finished());
        if is_busy || self.synced == self.marked || self.last_sync.elapsed() < SYNC_EVERY {
            return;
        }
        let Some(file) = self.file.clone() else { return };
        (self.synced, self.last_sync) = (self.marked, Instant::now());
        self.syncing = Some(tokio::task::spawn_blocking(move || {
            if let Err(error) = file.sync_data() {
                tracing::error!(%error, "the high-water mark cannot be brought to the disk");
            }
        }));
    }

    /// Brings the mark to the disk for the last time.
    pub(crate) async fn close(mut self) {
        self.last_sync = self.last_sync.checked_sub(SYNC_EVERY).unwrap_or(self.last_sync);
        if let Some(task) = self.syncing.take() {
            // Its error is logged.
            let _ = task.await;
        }
        self.sync_when_due();
        if let Some(task) = self.syncing.take() {
            let _ = task.await;
        }
    }

    fn text(&self, revision: Revision) -> [u8; LINE] {
        let statement = format!("{TITLE} {revision} of {}", self.cluster_uid);
        let line = format!("{statement} {:08x}", crc32fast::hash(statement.as_bytes()));
        let mut text = [b' '; LINE];
        let length = line.len().min(LINE - 1);
        text[..length].copy_from_slice(&line.as_bytes()[..length]);
        text[LINE - 1] = b'\n';
        text
    }
}

/// What a line says; nothing if it is not whole.
fn parse(line: &[u8]) -> Option<Marked> {
    let text = str::from_utf8(line).ok()?.trim_end();
    let (statement, sum) = text.rsplit_once(' ')?;
    if u32::from_str_radix(sum, 16).ok()? != crc32fast::hash(statement.as_bytes()) {
        return None;
    }
    let (revision, cluster_uid) = statement.strip_prefix(TITLE)?.trim_start().split_once(" of ")?;
    Some(Marked { cluster_uid: cluster_uid.into(), revision: revision.parse().ok()? })
}

/// Makes the entries of the directory of `path` durable: what was made, renamed or removed there.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(revision: u64) -> Marked {
        Marked { cluster_uid: "uid".into(), revision: Revision::new(revision) }
    }

    #[tokio::test]
    async fn says_the_newest_revision_that_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("store.db");
        File::create(&database).unwrap();
        assert_eq!(read(&database).unwrap(), None);
        let mut mark = Mark::of(&database, "uid".into());
        mark.raise(Revision::new(1));
        assert_eq!(read(&database).unwrap(), None, "there is no file yet");
        mark.create(Revision::new(2)).unwrap();
        assert_eq!(read(&database).unwrap(), Some(marked(2)));
        for revision in 3..10 {
            mark.raise(Revision::new(revision));
            assert_eq!(read(&database).unwrap(), Some(marked(revision)));
        }
        mark.close().await;
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "no draft is left");
    }

    /// Without room for another file, that which is there says what comes next; not that of another store.
    #[test]
    fn goes_on_where_there_is_no_room() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("store.db");
        File::create(&database).unwrap();
        let mut first = Mark::of(&database, "uid".into());
        first.create(Revision::new(5)).unwrap();
        first.raise(Revision::new(6));
        let path = mark_path(&database);
        for (uid, revision, is_ours) in [("other", 9, false), ("uid", 4, false), ("uid", 6, true)] {
            let mut mark = Mark::of(&database, uid.into());
            assert_eq!(mark.go_on(&path, Revision::new(revision)), is_ours, "{uid} {revision}");
            mark.raise(Revision::new(7));
            assert_eq!(read(&database).unwrap(), Some(marked(if is_ours { 7 } else { 6 })));
            let older = fs::read(&path).unwrap();
            let older = parse(&older[if is_ours { 0 } else { BLOCK }..][..LINE]).unwrap();
            assert_eq!(older, marked(if is_ours { 6 } else { 5 }), "the newest line was left alone");
        }
    }

    /// A line that a power cut left half-written, whatever is in it, leaves the line before it.
    #[test]
    fn half_a_line_is_no_line() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("store.db");
        File::create(&database).unwrap();
        let mut mark = Mark::of(&database, "uid".into());
        mark.create(Revision::new(5)).unwrap();
        let older = fs::read(mark_path(&database)).unwrap();
        mark.line = 0;
        mark.raise(Revision::new(6_000_000));
        let newer = fs::read(mark_path(&database)).unwrap();
        let length = newer[..LINE - 1].iter().rposition(|byte| *byte != b' ').unwrap() + 1;
        for cut in 0..=LINE {
            for rest in [&older[cut..LINE], &vec![0; LINE - cut], &vec![b'7'; LINE - cut]] {
                let torn = [&newer[..cut], rest, &newer[LINE..]].concat();
                fs::write(mark_path(&database), torn).unwrap();
                let found = read(&database).unwrap().unwrap();
                assert!(found == marked(5) || (cut >= length - 8 && found == marked(6_000_000)), "{cut}");
            }
        }
        for junk in [vec![], vec![b'x'; 100], vec![0; 2 * BLOCK]] {
            fs::write(mark_path(&database), junk).unwrap();
            assert_eq!(read(&database).unwrap(), None);
        }
    }
}
