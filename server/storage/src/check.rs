//! The self-check: does memory show what the log says, and is the log sound?

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use crate::engine::Memory;
use crate::error::StoreError;
use crate::key::Key;
use crate::object::Object;
use crate::revision::Revision;
use crate::store::{Op, Record, Store};

/// How many findings are spelled out. The rest is only counted.
const DETAILS: usize = 100;

/// How often the comparison is begun anew because history was forgotten while it ran.
const ATTEMPTS: usize = 3;

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The newest revision in the log.
    pub revision: Revision,
    /// Records in the log.
    pub records: usize,
    /// Objects that the log says exist.
    pub objects: usize,
    /// Revisions of records whose checksum does not fit. Their objects cannot be read.
    pub corrupt: Vec<Revision>,
    /// Everything else that is wrong, in words for an operator; only so many of them as a person can read.
    pub problems: Vec<String>,
    /// How many more problems there are.
    pub omitted: usize,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.corrupt.is_empty() && self.problems.is_empty()
    }

    /// Adds a finding; its text is only made if there is room for it.
    pub fn problem(&mut self, problem: impl FnOnce() -> String) {
        if self.problems.len() < DETAILS {
            self.problems.push(problem());
        } else {
            self.omitted += 1;
        }
    }
}

/// Reads the whole log of `store` and compares it with `memory`.
pub(crate) async fn check(memory: &Memory, store: &dyn Store) -> Result<Report, StoreError> {
    let integrity = store.integrity().await?;
    let mut attempt = 1;
    loop {
        let mut summary = Summary::default();
        let revision = store.records(&mut |record| summary.add(&record)).await?;
        memory.reach(revision).await?;
        match compare(&mut summary, memory, revision) {
            Err(StoreError::Expired { .. }) if attempt < ATTEMPTS => attempt += 1,
            compared => {
                compared?;
                let mut report = summary.finish(revision);
                for finding in integrity {
                    report.problem(|| finding);
                }
                return Ok(report);
            }
        }
    }
}

/// A log, reduced to what a comparison needs.
#[derive(Default)]
pub struct Summary {
    report: Report,
    newest: Revision,
    live: HashMap<Key, (Revision, Option<u64>)>,
}

impl Summary {
    /// Takes the next record.
    pub fn add(&mut self, record: &Record) {
        let Record { revision, key, op, value, .. } = record;
        self.report.records += 1;
        if *revision <= self.newest {
            self.report.problem(|| format!("revision {revision} comes after {}", self.newest));
        }
        self.newest = *revision;
        let checksum = value.as_ref().ok().map(|bytes| fingerprint(bytes));
        if checksum.is_none() {
            self.report.corrupt.push(*revision);
        }
        let previous = match op {
            Op::Remove => self.live.remove(key),
            Op::Create | Op::Replace => self.live.insert(key.clone(), (*revision, checksum)),
        };
        if let (Op::Create, Some((earlier, _))) = (op, previous) {
            self.report.problem(|| format!("{key} is created at {revision} but exists since {earlier}"));
        }
    }

    /// The report, when nothing more is to be compared.
    pub fn finish(mut self, revision: Revision) -> Report {
        self.report.revision = revision;
        self.report.objects = self.live.len();
        self.report
    }
}

fn compare(summary: &mut Summary, memory: &Memory, revision: Revision) -> Result<(), StoreError> {
    let Summary { report, live, .. } = summary;
    let mut found = 0;
    for resource in memory.resources() {
        for object in memory.snapshot_at(&resource, revision)?.iter() {
            found += 1;
            match live.get(object.key()) {
                None => report.problem(|| format!("{} is in memory but not in the log", object.key())),
                Some(logged) if *logged != summary_of(object) => {
                    report.problem(|| format!("{} differs between memory and log", object.key()));
                }
                Some(_) => {}
            }
        }
    }
    if found < live.len() {
        report.problem(|| format!("{} objects are in the log but not in memory", live.len() - found));
    }
    Ok(())
}

fn summary_of(object: &Arc<Object>) -> (Revision, Option<u64>) {
    (object.revision(), object.value().ok().map(|bytes| fingerprint(bytes)))
}

/// Tells values apart. Nothing is stored with it, so any good hash will do.
fn fingerprint(value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(value);
    hasher.finish()
}
