//! The contract, for callers.

use std::sync::Arc;

use orch_storage::store::{BoxFuture, Record, Store, Visitor};
use orch_storage::{Committed, Object, Revision, StoreError, Timestamp, Write};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;
use tokio::time::timeout_at;

use crate::barrier::Barrier;
use crate::changes::{Changes, Told};
use crate::client::ALARM;
use crate::commit::Committer;
use crate::compaction;
use crate::failure::Failure;
use crate::follower::{Control, ask};
use crate::group::{self, groups};
use crate::keys::Place;
use crate::message::{self, Alarms, Empty};
use crate::shared::{Shared, too_late};

/// A store that is open.
pub(crate) struct Etcd {
    pub(crate) shared: Arc<Shared>,
    pub(crate) committer: Arc<Committer>,
    /// One permit for each write that may be on its way. Closed at the end.
    pub(crate) writes: Arc<Semaphore>,
    pub(crate) permits: u32,
    pub(crate) barrier: Barrier,
    pub(crate) controls: mpsc::Sender<Control>,
    pub(crate) cluster_uid: Arc<str>,
    /// What runs beside.
    pub(crate) tasks: Vec<AbortHandle>,
}

impl Store for Etcd {
    fn commit(&self, write: Write) -> BoxFuture<'_, Result<Committed, StoreError>> {
        Box::pin(async move {
            self.check_not_lost()?;
            let deadline = self.shared.deadline();
            let permit = timeout_at(deadline, Arc::clone(&self.writes).acquire_owned()).await;
            let permit = permit.map_err(|_| too_late())?.map_err(|_| StoreError::Closed)?;
            let (shared, committer) = (Arc::clone(&self.shared), Arc::clone(&self.committer));
            // A caller that leaves does not take it back.
            let task = tokio::spawn(async move {
                let done = committer.commit(&shared, &write, deadline).await;
                drop(permit);
                done
            });
            task.await.unwrap_or(Err(StoreError::Closed))
        })
    }

    fn records<'a>(&'a self, visit: &'a mut Visitor<'_>) -> BoxFuture<'a, Result<Revision, StoreError>> {
        Box::pin(async move { read_all(&self.shared, visit).await.map_err(|failure| failure.of_read()) })
    }

    fn barrier(&self) -> BoxFuture<'_, Result<Revision, StoreError>> {
        Box::pin(async move {
            if self.writes.is_closed() {
                return Err(StoreError::Closed);
            }
            self.check_not_lost()?;
            let deadline = self.shared.deadline();
            let newest = timeout_at(deadline, self.barrier.newest()).await;
            let newest = newest.map_err(|_| {
                let detail = "etcd has not told its newest write".into();
                StoreError::Unreachable { detail }
            })??;
            self.check_not_lost()?;
            self.shared.reach(newest, deadline).await?;
            Ok(newest)
        })
    }

    fn compact(&self, before: Revision) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let before = before.min(self.shared.memory.revision());
            ask(&self.controls, |done| Control::Forget(before, done)).await?;
            let compacted = compaction::compact(&self.shared, before.get()).await;
            compacted.map_err(|failure| failure.of_read())
        })
    }

    fn expire(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(ask(&self.controls, Control::Expire))
    }

    fn integrity(&self) -> BoxFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(async move {
            let alarms: Alarms = self
                .shared
                .client
                .call(ALARM, &Empty, self.shared.timeout)
                .await
                .map_err(|failure| failure.of_read())?;
            let finding = |alarm: &message::Alarm| {
                let kind = ["no alarm", "NOSPACE", "CORRUPT"].get(alarm.kind as usize).unwrap_or(&"unknown");
                format!("the member {:x} of etcd has raised the alarm {kind}", alarm.member)
            };
            Ok(alarms.0.iter().map(finding).collect())
        })
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn lost(&self) -> BoxFuture<'_, Arc<str>> {
        Box::pin(self.shared.mark.lost())
    }

    fn trouble(&self) -> Option<StoreError> {
        self.check_not_lost().err().or_else(|| self.barrier.failure())
    }

    fn is_stale(&self, object: &Object) -> bool {
        let sealing = self.shared.form.sealing.as_ref();
        sealing.is_some_and(|sealing| sealing.is_stale(&object.key().resource, object.seal()))
    }

    fn shutdown(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            // What was accepted has permits; nobody gets one behind this.
            if let Ok(all) = self.writes.acquire_many(self.permits).await {
                self.writes.close();
                drop(all);
            }
            self.tasks.iter().for_each(AbortHandle::abort);
            // Where it has ended already, there is nothing to wait for.
            let _ = ask(&self.controls, Control::Stop).await;
            Ok(())
        })
    }

    fn cluster_uid(&self) -> Arc<str> {
        Arc::clone(&self.cluster_uid)
    }
}

impl Etcd {
    /// An error where etcd has lost writes.
    fn check_not_lost(&self) -> Result<(), StoreError> {
        self.shared.mark.loss().map_or(Ok(()), |detail| Err(StoreError::Unavailable { detail }))
    }
}

/// All that etcd still has: the state at the oldest revision that can be read, and what changed since.
async fn read_all(shared: &Shared, visit: &mut Visitor<'_>) -> Result<Revision, Failure> {
    let reader = shared.reader();
    let newest = reader.newest().await?;
    let begins = reader.history_begins(Timestamp(0), newest.etcd).await?;
    let mut state: Vec<Record> = Vec::new();
    let mut take = |kv: message::KeyValue| {
        if let Place::Object(key) = shared.keys.place(&kv.key) {
            state.push(group::state(key, &kv, &shared.form).0);
        }
    };
    let mut last = reader.state_at(begins, &mut take).await?;
    state.sort_by_key(|record| record.revision);
    state.into_iter().for_each(&mut *visit);
    if newest.write <= begins {
        return Ok(Revision::new(last.max(newest.write)));
    }
    let mut changes = Changes::begin(&shared.client, &shared.keys, begins + 1, shared.timeout).await?;
    while last < newest.write {
        let Told::Changes(told) = changes.next_within(shared.timeout).await? else {
            return Err(Failure::NoAnswer("history was compacted while it was read".to_owned()));
        };
        for group in groups(told, &shared.keys) {
            last = group.revision.get();
            // The last state that nobody says is in a record before.
            let records = group.records(&shared.form, &shared.keys, Timestamp(0), |_| bytes::Bytes::new());
            records.for_each(|(record, _)| visit(record));
            if last >= newest.write {
                break;
            }
        }
    }
    Ok(Revision::new(last))
}
