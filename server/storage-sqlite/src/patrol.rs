//! Reads the whole database again and again, slowly: damage is found while there still is a copy without it,
//! and not at the next start.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use orch_storage::store::Record;
use orch_storage::{Patrolled, Revision, StoreError};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::identity::Identity;
use crate::log::LogReader;

/// How many rows one step reads at most.
const STEP: u32 = 256;
/// How long it rests after a step, and after the last of a round.
const REST: Duration = Duration::from_secs(1);
const REST_AFTER_ROUND: Duration = Duration::from_mins(10);
/// How many revisions are left out after a place that cannot be read, first; twice as many each time.
const LEFT_OUT: u64 = 16;

/// What was found so far; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings(Arc<Mutex<Patrolled>>);

/// The task that reads.
pub(crate) struct Patrol {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Findings {
    /// What was found so far.
    pub(crate) fn get(&self) -> Patrolled {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records why no writes are taken any more; none where they are.
    pub(crate) fn set_stopped(&self, reason: Option<Arc<str>>) {
        self.change(|found| found.stopped = reason);
    }

    fn change(&self, change: impl FnOnce(&mut Patrolled)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Patrol {
    /// Starts the task for a database.
    pub(crate) fn start(identity: Identity, findings: Findings) -> Self {
        let (stop, mut stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let mut round = Round::default();
            let mut rest = REST;
            loop {
                tokio::select! {
                    _ = &mut stopped => return,
                    () = tokio::time::sleep(rest) => {}
                }
                rest = match round.step(&identity, &findings).await {
                    Ok(true) => REST_AFTER_ROUND,
                    Ok(false) => REST,
                    Err(error) => {
                        tracing::warn!(%error, "the database cannot be looked through; trying again later");
                        round = Round::default();
                        REST_AFTER_ROUND
                    }
                };
            }
        });
        Self { stop, task }
    }

    /// Ends the task; returns when it reads no more.
    pub(crate) async fn stop(self) {
        drop(self.stop);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the task that looks through the database failed");
        }
    }
}

/// One reading of the whole database.
#[derive(Default)]
struct Round {
    /// Up to here everything was read.
    after: Revision,
    damaged_rows: u64,
    unreadable: u64,
    left_out: u64,
}

impl Round {
    /// Reads some rows. Returns whether they were the last ones.
    async fn step(&mut self, identity: &Identity, findings: &Findings) -> Result<bool, StoreError> {
        identity.check()?;
        let path = identity.path();
        let mut reader = LogReader::open(path).await?;
        let (mut count, mut last) = (0, self.after);
        let mut damaged = Vec::new();
        let mut take = |record: Record| {
            (count, last) = (count + 1, record.revision);
            if let Err(corrupt) = record.value {
                damaged.push((record.key, corrupt));
            }
        };
        let read = reader.read_some(path, self.after, STEP, &mut take).await;
        reader.close().await;
        self.damaged_rows += damaged.len() as u64;
        let is_known = findings.get().rounds > 0;
        for (key, corrupt) in damaged.iter().filter(|_| !is_known) {
            tracing::error!(%key, %corrupt, "an object cannot be read from the disk");
        }
        findings.change(|findings| {
            findings.rows += u64::from(count);
            findings.damaged_rows = findings.damaged_rows.max(self.damaged_rows);
        });
        match read {
            Ok(()) if count < STEP => {
                findings.change(|findings| {
                    findings.rounds += 1;
                    (findings.damaged_rows, findings.unreadable) = (self.damaged_rows, self.unreadable);
                });
                *self = Self::default();
                Ok(true)
            }
            Ok(()) => {
                (self.after, self.left_out) = (last, 0);
                Ok(false)
            }
            Err(StoreError::Damaged { detail, .. }) => {
                if self.left_out == 0 {
                    self.unreadable += 1;
                    tracing::error!(after = %last, %detail, "a page of the database cannot be read");
                    findings
                        .change(|findings| findings.unreadable = findings.unreadable.max(self.unreadable));
                }
                self.left_out = self.left_out.saturating_mul(2).max(LEFT_OUT);
                self.after = Revision::new(last.get().saturating_add(self.left_out).min(Revision::MAX.get()));
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}
