//! Makes a new database of what can be read of a damaged one, and puts it in its place.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orch_storage::check::Summary;
use orch_storage::store::{Op, Record};
use orch_storage::{Clock, Key, Revision, StoreError, SystemClock};

use crate::config::SqliteConfig;
use crate::evidence::{Evidence, Found};
use crate::lock::Lock;
use crate::log::Log;
use crate::mark::{Mark, sync_directory};
use crate::place::remove_database;
use crate::salvage::{LogRow, Salvage};
use crate::{row, schema, wal};

/// How many rows are inserted in one transaction.
const BATCH: usize = 4096;

/// What a repair kept, and what it could not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// Objects that are there now; those in `damaged` are among them.
    pub objects: usize,
    /// Rows that are there now.
    pub rows: usize,
    /// Where the new history begins.
    pub revision: Revision,
    /// Rows whose object is known and whose value cannot be trusted, in words. Such objects are served as
    /// damaged ones.
    pub damaged: Vec<String>,
    /// What is gone, in words.
    pub lost: Vec<String>,
    /// The files of the damaged database, under their new names.
    pub kept: Vec<PathBuf>,
}

/// Salvages the rows of the database at `path`, which no server uses. `vocabulary` is needed where the
/// database does not say its own any more. The old files are kept beside the new one. The new database begins
/// a new history: no revision is given out twice.
pub async fn repair(path: &Path, vocabulary: Option<&str>) -> Result<Repaired, StoreError> {
    let _lock = Lock::acquire(path)?;
    let evidence = Evidence::gather(path)?;
    let failed = |error: io::Error| not_writable(path, &error);
    let mut salvage = Salvage::open(path).map_err(failed)?;
    let draft = path.with_added_extension("repaired");
    remove_database(&draft)?;
    // Made here, so that only this user can read it from the beginning.
    File::options().write(true).create_new(true).mode(0o600).open(&draft).map_err(failed)?;

    let config = SqliteConfig::new(&draft, "");
    let (mut log, meta) = Log::open(&config).await?;
    let at_draft = |error| schema::at_start(&draft, &error);
    let (mut rows, mut damaged, mut newest) = (Vec::new(), Vec::new(), evidence.marked());
    while let Some(more) = salvage.next_rows() {
        let (whole, rest): (Vec<LogRow>, Vec<LogRow>) = more.into_iter().partition(LogRow::is_whole);
        newest = whole.iter().map(|row| row.revision).max().unwrap_or_default().max(newest);
        rows.extend(whole);
        damaged.extend(rest);
        if rows.len() >= BATCH {
            log.insert_salvaged(&std::mem::take(&mut rows)).await.map_err(at_draft)?;
        }
    }
    log.insert_salvaged(&rows).await.map_err(at_draft)?;
    // The damage of a row may be in its revision.
    damaged.retain(|row: &LogRow| row.revision <= newest);
    // Or in its name, which would then give the object of another name a history that it never had.
    let mut histories: Histories = damaged.iter().map(|row| (row.key.clone(), BTreeMap::new())).collect();
    let mut remember = |record: Record| {
        if let Some(history) = histories.get_mut(&record.key) {
            history.insert(record.revision, record.op);
        }
    };
    log.read(&mut remember).await.map_err(at_draft)?;
    damaged.retain(|row| fits(row, &histories[&row.key]));
    log.insert_salvaged(&damaged).await.map_err(at_draft)?;
    let no_vocabulary = || StoreError::NotADatabase {
        path: path.into(),
        detail: "it does not say its vocabulary any more; name it with --vocabulary".into(),
    };
    let vocabulary =
        salvage.meta.get("vocabulary").map(String::as_str).or(vocabulary).ok_or_else(no_vocabulary)?;
    let known_uid = salvage.meta.get("cluster_uid").map(|uid| Arc::from(uid.as_str()));
    let cluster_uid = known_uid.or(evidence.marked_uid()).unwrap_or(meta.cluster_uid);
    log.adopt(vocabulary, &cluster_uid).await.map_err(at_draft)?;

    let mut inventory = Inventory::new(&salvage);
    let newest = log.read(&mut |record: Record| inventory.add(&record)).await.map_err(at_draft)?;
    let Inventory { summary, rows, time, damaged, gaps, compacted, .. } = inventory;
    let found = Found { newest: newest.max(compacted.unwrap_or_default()), rows, time };
    let revision = evidence.new_history(found, SystemClock.now());
    log.begin_history(revision, rows).await.map_err(at_draft)?;
    log.close().await.map_err(at_draft)?;
    let lost = lost(&evidence, &salvage, found, gaps);

    // From here on the old files are refused: the mark is that of the new history.
    Mark::of(path, cluster_uid).create(revision).map_err(failed)?;
    let kept = replace(path, &draft, revision).map_err(failed)?;
    let objects = summary.finish(revision).objects;
    Ok(Repaired { objects, rows: rows as usize, revision, damaged, lost, kept })
}

/// What the rows that are whole did to objects.
type Histories = HashMap<Key, BTreeMap<Revision, Op>>;

/// Whether a damaged row can be part of the history of its object: nothing is created twice, and what changes
/// or ends exists before. The first row of a history may be missing.
fn fits(row: &LogRow, history: &BTreeMap<Revision, Op>) -> bool {
    let before = history.range(..row.revision).next_back().map(|(_, op)| *op);
    let after = history.range(row.revision..).next().map(|(_, op)| *op);
    match row::op(row.op) {
        Op::Create => matches!(before, None | Some(Op::Remove)) && after != Some(Op::Create),
        Op::Replace => before != Some(Op::Remove) && after != Some(Op::Create),
        Op::Remove => before != Some(Op::Remove) && matches!(after, None | Some(Op::Create)),
    }
}

/// What a salvaged database holds, row by row.
struct Inventory {
    summary: Summary,
    rows: u64,
    time: Option<orch_storage::Timestamp>,
    damaged: Vec<String>,
    /// Up to here revisions may have no row.
    compacted: Option<Revision>,
    newest: Revision,
    /// The first and the last revision of each gap after that.
    gaps: Vec<(Revision, Revision)>,
}

impl Inventory {
    fn new(salvage: &Salvage) -> Self {
        let compacted: Option<Revision> = salvage.meta.get("compacted").and_then(|text| text.parse().ok());
        let newest = compacted.unwrap_or_default().max(Revision::FIRST);
        Self {
            summary: Summary::default(),
            rows: 0,
            time: None,
            damaged: Vec::new(),
            compacted,
            newest,
            gaps: Vec::new(),
        }
    }

    fn add(&mut self, record: &Record) {
        let Record { revision, key, time, value, .. } = record;
        self.summary.add(record);
        (self.rows, self.time) = (self.rows + 1, Some(*time));
        if value.is_err() {
            self.damaged.push(format!("{key} at revision {revision}"));
        }
        if self.compacted.is_some() && *revision > self.newest {
            if *revision > self.newest.next() {
                self.gaps.push((self.newest.next(), Revision::new(revision.get() - 1)));
            }
            self.newest = *revision;
        }
    }
}

/// What is gone, in words: revisions without a row, and how many rows beside them.
fn lost(
    evidence: &Evidence,
    salvage: &Salvage,
    found: Found,
    mut gaps: Vec<(Revision, Revision)>,
) -> Vec<String> {
    let marked = evidence.marked();
    if marked > found.newest {
        gaps.push((found.newest.next(), marked));
    }
    let absent = salvage.meta.get("absent").and_then(|text| text.split_once('@'));
    let absent: Option<u64> = absent.and_then(|(count, _)| count.parse().ok());
    let in_gaps: u64 = gaps.iter().map(|(first, last)| last.get() + 1 - first.get()).sum();
    let mut lost: Vec<String> =
        gaps.into_iter()
            .map(|(first, last)| {
                if first == last {
                    format!("revision {first}")
                } else {
                    format!("revisions {first} to {last}")
                }
            })
            .collect();
    if let Some(absent) = absent {
        let expected = found.newest.max(marked).get().saturating_sub(absent);
        let older = expected.saturating_sub(found.rows + in_gaps);
        if older > 0 {
            lost.push(format!("{older} rows of older objects"));
        }
    }
    lost
}

/// Puts the new database in the place of the old one, whose files get other names.
fn replace(path: &Path, draft: &Path, revision: Revision) -> io::Result<Vec<PathBuf>> {
    let mut kept = Vec::new();
    for old in [wal::wal_path(path), path.to_path_buf()] {
        let name = old.with_added_extension(format!("damaged-before-{revision}"));
        match fs::rename(&old, &name) {
            Ok(()) => kept.push(name),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let mut index = path.as_os_str().to_owned();
    index.push("-shm");
    match fs::remove_file(index) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::rename(draft, path)?;
    sync_directory(path)?;
    Ok(kept)
}

fn not_writable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::NotWritable { path: path.into(), detail: error.to_string().into() }
}
