//! What lies beside a database and says whether it is all that it was: the high-water mark and the
//! write-ahead log.
//!
//! The database itself takes a log that ends early, or is missing, for one that never was longer. So both are
//! looked at before the database is opened, and compared with what it then shows.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orch_storage::{Revision, StoreError, Timestamp};

use crate::mark::{self, Marked};
use crate::schema::Meta;
use crate::wal::{self, Scan};

/// How many revisions a new history skips: more than a store has acknowledged without a trace in its
/// high-water mark, and far more than that.
const GAP: u64 = 1 << 32;
/// How many revisions it skips besides for each millisecond since the newest write that is known: more than
/// any store writes.
const GAP_PER_MILLISECOND: u64 = 128;

/// What was found beside a database before it was opened.
#[derive(Debug)]
pub(crate) struct Evidence {
    path: PathBuf,
    mark: Option<Marked>,
    wal: Scan,
    /// The length of the write-ahead log in bytes, if there is one.
    wal_length: Option<u64>,
    /// The file is not there, or empty.
    no_database: bool,
}

/// What the rows of a database show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// The newest revision.
    pub(crate) newest: Revision,
    /// How many rows there are.
    pub(crate) rows: u64,
    /// When the last of them was written.
    pub(crate) time: Option<Timestamp>,
}

impl Evidence {
    /// Looks at what lies beside the database at `path`. Changes nothing.
    pub(crate) fn gather(path: &Path) -> Result<Self, StoreError> {
        // The mark first: a server that writes meanwhile makes the rest newer, never older.
        let mark = mark::read(path)?;
        let wal_length = wal::wal_path(path).metadata().ok().map(|file| file.len());
        let wal = wal::scan(path)?;
        let no_database = match path.metadata() {
            Ok(file) => file.is_file() && file.len() == 0,
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        Ok(Self { path: path.into(), mark, wal, wal_length, no_database })
    }

    /// Whether the database file is gone although there was one; an empty one would take its place.
    pub(crate) fn database_is_gone(&self) -> bool {
        self.no_database && (self.mark.is_some() || self.wal.taken > 0)
    }

    /// Whether there is a file with anything in it.
    pub(crate) fn has_database(&self) -> bool {
        !self.no_database
    }

    /// What a database lacks that says and shows this; empty if nothing is known to be missing.
    pub(crate) fn missing(&self, meta: &Meta, found: Found) -> Vec<String> {
        let mut missing = Vec::new();
        match &self.mark {
            Some(mark) if mark.cluster_uid != meta.cluster_uid => missing.push(format!(
                "it is another database than the one that was here ({}, at revision {})",
                mark.cluster_uid, mark.revision
            )),
            Some(mark) if mark.revision > found.newest => {
                let (first, last) = (found.newest.next(), mark.revision);
                missing.push(if first == last {
                    format!("revision {first} is missing")
                } else {
                    format!("revisions {first} to {last} are missing")
                });
                missing.extend(self.about_wal());
            }
            None if meta.is_open && !self.wal.is_readable => {
                missing.push("it was in use, and what was written last is in a write-ahead log".to_owned());
                missing.extend(self.about_wal());
            }
            _ => {
                let was_durable = self.wal.after_damage.is_some_and(|after| after.was_durable);
                missing.extend(was_durable.then(|| self.about_wal()).flatten());
            }
        }
        missing.extend(wrong_count(meta, found));
        missing
    }

    /// Refuses a database that lacks something.
    ///
    /// # Errors
    /// [`StoreError::Lost`].
    pub(crate) fn require(&self, meta: &Meta, found: Found) -> Result<(), StoreError> {
        match self.missing(meta, found) {
            missing if missing.is_empty() => Ok(()),
            missing => Err(StoreError::Lost { path: self.path.clone(), detail: missing.join("; ").into() }),
        }
    }

    /// The beginning of a new history: after everything that may have been acknowledged. `now` is the time.
    pub(crate) fn new_history(&self, found: Found, now: Timestamp) -> Revision {
        let milliseconds = found.time.map_or(0, |time| now.0.saturating_sub(time.0));
        let unknown = milliseconds.saturating_mul(GAP_PER_MILLISECOND);
        let known = self.marked().max(found.newest).get();
        Revision::new(known.saturating_add(GAP).saturating_add(unknown).min(Revision::MAX.get()))
    }

    /// The revision that the mark says, or zero.
    pub(crate) fn marked(&self) -> Revision {
        self.mark.as_ref().map_or(Revision::ZERO, |mark| mark.revision)
    }

    /// The identity of the database that the mark belongs to.
    pub(crate) fn marked_uid(&self) -> Option<Arc<str>> {
        self.mark.as_ref().map(|mark| Arc::clone(&mark.cluster_uid))
    }

    /// Keeps a copy of the write-ahead log, for whoever wants to look for more in it.
    pub(crate) fn keep_wal(&self, history: Revision) -> Result<(), StoreError> {
        let wal = wal::wal_path(&self.path);
        let kept = wal.with_added_extension(format!("before-{history}"));
        match fs::copy(&wal, &kept) {
            Ok(0) => fs::remove_file(&kept),
            Ok(_) => {
                tracing::warn!(file = %kept.display(), "the write-ahead log as it was found is kept here");
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
        .map_err(|error| StoreError::NotWritable { path: kept, detail: error.to_string().into() })
    }

    fn about_wal(&self) -> Option<String> {
        let wal = wal::wal_path(&self.path);
        let file = wal.file_name().unwrap_or_default().display();
        if let Some(after) = self.wal.after_damage {
            let (damaged, whole) = (after.damaged, after.whole);
            return Some(format!("frame {damaged} of {file} is damaged, and {whole} whole frames follow it"));
        }
        (!self.wal.is_readable).then(|| match self.wal_length {
            None => format!("there is no {file}"),
            Some(0) => format!("{file} is empty"),
            Some(_) => format!("the beginning of {file} is damaged"),
        })
    }
}

/// Each revision has a row until it is dropped, and those are counted.
fn wrong_count(meta: &Meta, found: Found) -> Option<String> {
    let expected = found.newest.get().checked_sub(meta.absent?)?;
    if found.rows < expected {
        let gone = expected - found.rows;
        return Some(format!("{gone} of {expected} rows are gone from the middle"));
    }
    (found.rows > expected).then(|| format!("{} rows are there that were dropped", found.rows - expected))
}
