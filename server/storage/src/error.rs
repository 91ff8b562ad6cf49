//! Everything that can go wrong, in the store's own terms. Transport-free: callers decide on status codes.

use std::path::PathBuf;
use std::sync::Arc;

use crate::condition::Condition;
use crate::key::Key;
use crate::object::Object;
use crate::revision::Revision;

/// Why a write, a read or the start did not succeed. Cheap to clone: one failure of a batch is the answer to
/// every write in it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The object to create exists.
    #[error("{} already exists", current.key())]
    AlreadyExists {
        /// The object that is there.
        current: Arc<Object>,
    },
    /// The object to replace or remove does not exist.
    #[error("{key} does not exist")]
    NotFound {
        /// Its name.
        key: Key,
    },
    /// A replacement or removal was computed from a state that is no longer the newest.
    #[error("{} is at revision {}, not {expected}", current.key(), current.revision())]
    Conflict {
        /// The revision that was expected.
        expected: Revision,
        /// The newest state.
        current: Arc<Object>,
    },
    /// A condition on another object does not hold; what the change itself demands does.
    #[error("{key} is not written: {condition}")]
    ConditionFailed {
        /// The object that was to be written.
        key: Key,
        /// The first of the write's conditions that does not hold.
        condition: Arc<Condition>,
        /// The object that is in the way: one with the name of the condition (none: it does not exist), or
        /// one that has the term.
        found: Option<Arc<Object>>,
    },
    /// The history that was asked for is no longer kept.
    #[error("revision {asked} is too old: history begins after {oldest}")]
    Expired {
        /// The revision that was asked for.
        asked: Revision,
        /// The oldest revision that can be asked for.
        oldest: Revision,
    },
    /// The revision that was asked for has not been reached.
    #[error("revision {asked} lies in the future: the store is at {current}")]
    FutureRevision {
        /// The revision that was asked for.
        asked: Revision,
        /// Where the store stands.
        current: Revision,
    },
    /// There is no room for the write. Reads go on; writes succeed again when there is room.
    #[error("the disk is full: {detail}")]
    DiskFull {
        /// What the database said.
        detail: Arc<str>,
    },
    /// The database takes no writes, because something is wrong with its data. Reads go on.
    #[error("the database takes no writes: {detail}")]
    ReadOnly {
        /// What the database said.
        detail: Arc<str>,
    },
    /// The disk of the database fails. For a write: it was not acknowledged and readers will not see it.
    /// Reads go on, and each write is tried.
    #[error("the disk of the database fails: {detail}")]
    DiskFails {
        /// What the database said.
        detail: Arc<str>,
    },
    /// The database could not do it. For a write: it was not acknowledged and readers will not see it.
    #[error("the database failed: {detail}")]
    Unavailable {
        /// What the database said.
        detail: Arc<str>,
    },
    /// The database gave no answer to a write: whether it was made is not known. Readers see it if it was.
    #[error("it is not known whether the write was made: {detail}")]
    Unknown {
        /// What happened.
        detail: Arc<str>,
    },
    /// The database cannot be reached. A write was not made.
    #[error("the database cannot be reached: {detail}")]
    Unreachable {
        /// What happened.
        detail: Arc<str>,
    },
    /// The value is larger than the database takes.
    #[error("the value is too large: {detail}")]
    TooLarge {
        /// What the database said.
        detail: Arc<str>,
    },
    /// The store has been shut down, or its writer ended.
    #[error("the store is closed")]
    Closed,
    /// Another process has the database.
    #[error("{} is in use by another process (it holds the lock file {})", path.display(), lock.display())]
    Locked {
        /// The database file.
        path: PathBuf,
        /// The lock file.
        lock: PathBuf,
    },
    /// The directory or the file cannot be written.
    #[error("cannot write {}: {detail}", path.display())]
    NotWritable {
        /// The path that was tried.
        path: PathBuf,
        /// What the system said.
        detail: Arc<str>,
    },
    /// A file that is needed cannot be read.
    #[error("cannot read {}: {detail}", path.display())]
    NotReadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        detail: Arc<str>,
    },
    /// The database belongs to another vocabulary.
    #[error("{} was created with the vocabulary {found:?}, not {expected:?}", path.display())]
    WrongVocabulary {
        /// The database file.
        path: PathBuf,
        /// What it records.
        found: Arc<str>,
        /// What was configured.
        expected: Arc<str>,
    },
    /// The database was written by a newer version of this software.
    #[error("{} has format {found}; this version reads formats up to {supported}", path.display())]
    NewerFormat {
        /// The database file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest format that this version knows.
        supported: u64,
    },
    /// The file is something else than a database of this store.
    #[error("{} is not a database of this server: {detail}", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        detail: Arc<str>,
    },
    /// Writes that were acknowledged are not in the database.
    #[error(
        "{} lacks writes that were acknowledged: {detail}; put back what belongs to it (-wal, .mark), salvage \
         what is left with the command repair, or go on without with --accept-data-loss",
        path.display()
    )]
    Lost {
        /// The database file.
        path: PathBuf,
        /// What is missing, and how that is known.
        detail: Arc<str>,
    },
    /// The structure of the database is damaged, so that it is unknown what is missing.
    #[error(
        "{} is damaged: {detail}; restore a copy, or salvage what is left with the command repair",
        path.display()
    )]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// What the database said.
        detail: Arc<str>,
    },
}
