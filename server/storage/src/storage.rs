//! The handle through which everything else reads and writes.

use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::check::{self, Report};
use crate::engine::{Events, HistoryUse, Memory, Snapshot, Watch};
use crate::error::StoreError;
use crate::index::{Indexer, Term};
use crate::key::{ResourceName, Scope};
use crate::object::Object;
use crate::patrolled::Patrolled;
use crate::revision::Revision;
use crate::store::{BoxFuture, Store, Visitor};
use crate::write::{Committed, Write};

/// How many events are undone by whoever asks for an older state: that takes a few milliseconds.
const UNDONE_AT_ONCE: usize = 4096;

/// A running store and the memory in front of it. Clones are handles on the same one.
#[derive(Clone)]
pub struct Storage {
    memory: Memory,
    store: Arc<dyn Store>,
    /// One for each older state that is being made.
    turns: Arc<Semaphore>,
}

impl Storage {
    /// The handle on a backend that has been started: `store` publishes its writes to `memory`.
    pub fn new(memory: Memory, store: Arc<dyn Store>) -> Self {
        // Half of the processors are left to everybody else.
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        Self { memory, store, turns: Arc::new(Semaphore::new((processors / 2).max(1))) }
    }

    /// Commits one write: a [`Write`], or a [`Change`](crate::Change) if it has no conditions. When it
    /// returns, the write is durable and every snapshot shows it. When the future is dropped, the write may
    /// or may not happen; it is never half done.
    pub fn commit(&self, write: impl Into<Write>) -> BoxFuture<'_, Result<Committed, StoreError>> {
        self.store.commit(write.into())
    }

    /// Keeps indexes of what is stored and of what will be. To be called before the first write, and once.
    pub fn index_by(&self, indexer: &Arc<dyn Indexer>) {
        self.memory.index_by(indexer);
    }

    /// The newest state of a resource.
    pub fn snapshot(&self, resource: &ResourceName) -> Snapshot {
        self.memory.snapshot(resource)
    }

    /// The newest state of several resources, all at one revision.
    pub fn snapshots(&self, resources: &[ResourceName]) -> Vec<Snapshot> {
        self.memory.snapshots(resources)
    }

    /// The state of a resource as it was at `revision`. [`StoreError::Expired`] if history does not reach
    /// back that far, [`StoreError::FutureRevision`] if the store is not there yet. Costs about a microsecond
    /// per event since then.
    pub fn snapshot_at(&self, resource: &ResourceName, revision: Revision) -> Result<Snapshot, StoreError> {
        self.memory.snapshot_at(resource, revision)
    }

    /// Like [`snapshot_at`](Storage::snapshot_at), for callers whose thread serves others too: where many
    /// events have to be undone, that is done by a thread of its own, for a few callers at a time.
    pub async fn snapshot_at_apart(
        &self,
        resource: &ResourceName,
        revision: Revision,
    ) -> Result<Snapshot, StoreError> {
        if self.memory.count_undone(resource, revision) <= UNDONE_AT_ONCE {
            return self.snapshot_at(resource, revision);
        }
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let (memory, resource) = (self.memory.clone(), resource.clone());
        let undo = move || {
            // The caller may be gone; the next one has its turn when this one is done.
            let _turn = turn;
            memory.snapshot_at(&resource, revision)
        };
        match spawn_blocking(undo).await {
            Ok(snapshot) => snapshot,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime ends.
                Err(_) => Err(StoreError::Closed),
            },
        }
    }

    /// The names of the resources that have objects.
    pub fn resources(&self) -> Vec<ResourceName> {
        self.memory.resources()
    }

    /// The newest revision that readers see.
    pub fn current_revision(&self) -> Revision {
        self.memory.revision()
    }

    /// Returns when snapshots show `revision`; [`StoreError::FutureRevision`] if that takes longer than
    /// `deadline`.
    pub async fn wait_for(&self, revision: Revision, deadline: Duration) -> Result<(), StoreError> {
        if self.current_revision() >= revision {
            return Ok(());
        }
        match tokio::time::timeout(deadline, self.memory.reach(revision)).await {
            Ok(reached) => reached,
            Err(_) => Err(StoreError::FutureRevision { asked: revision, current: self.current_revision() }),
        }
    }

    /// Makes the next snapshot consistent: it shows every write that anybody had committed before this call.
    pub async fn barrier(&self) -> Result<Revision, StoreError> {
        self.store.barrier().await
    }

    /// Follows `scope` of a resource: every event after `after`, in order, each once. A snapshot and a watch
    /// after its revision make up a complete view. [`StoreError::Expired`] if history does not reach back
    /// that far. A revision in the future is allowed: nothing is delivered up to it.
    pub fn watch(&self, resource: &ResourceName, scope: Scope, after: Revision) -> Result<Watch, StoreError> {
        self.memory.watch(resource, scope, None, after)
    }

    /// Like [`watch`](Storage::watch), but leaves out at least the events of objects that neither have nor
    /// had `term`, where one is given. Objects that cannot be read are not left out.
    pub fn watch_term(
        &self,
        resource: &ResourceName,
        scope: Scope,
        term: Option<Term>,
        after: Revision,
    ) -> Result<Watch, StoreError> {
        self.memory.watch(resource, scope, term, after)
    }

    /// How many watches would be told of a change of an object now.
    pub fn told_of(&self, resource: &ResourceName, namespace: &str, name: &str) -> usize {
        self.memory.told_of(resource, namespace, name)
    }

    /// The events of a resource since the start; none where nobody wrote or watched.
    pub fn events(&self, resource: &ResourceName) -> Option<Events> {
        self.memory.events(resource)
    }

    /// What the history holds now.
    pub fn history(&self) -> HistoryUse {
        self.memory.history()
    }

    /// Forgets history up to and including `before`.
    pub async fn compact(&self, before: Revision) -> Result<(), StoreError> {
        self.store.compact(before).await
    }

    /// Forgets history beyond what is configured, now. It also happens by itself.
    pub async fn expire(&self) -> Result<(), StoreError> {
        self.store.expire().await
    }

    /// Shows `visit` every record of the durable log, in order of revision, and returns the newest revision.
    pub async fn records(&self, visit: &mut Visitor<'_>) -> Result<Revision, StoreError> {
        self.store.records(visit).await
    }

    /// Reads the whole log and compares it with memory. Writes and reads go on meanwhile.
    pub async fn self_check(&self) -> Result<Report, StoreError> {
        check::check(&self.memory, &*self.store).await
    }

    /// What the store found that looks through its data by itself.
    pub fn patrolled(&self) -> Patrolled {
        self.store.patrolled()
    }

    /// Whether other servers may write to the same data.
    pub fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    /// Returns, with the reason, when the store no longer has what it has told: a server has to end then, and
    /// to begin anew.
    pub async fn lost(&self) -> Arc<str> {
        self.store.lost().await
    }

    /// Why consistent reads failed when one was tried last; none where it succeeded. Does not wait.
    pub fn trouble(&self) -> Option<StoreError> {
        self.store.trouble()
    }

    /// Whether a state would be kept otherwise if it were written now: sealed with another key, or with none.
    pub fn is_stale(&self, object: &Object) -> bool {
        self.store.is_stale(object)
    }

    /// The identity that the data got when it was created; stays the same for its life.
    pub fn cluster_uid(&self) -> Arc<str> {
        self.store.cluster_uid()
    }

    /// Commits what was accepted, ends all watches and closes the store. Later writes get
    /// [`StoreError::Closed`]; reads go on from memory.
    pub async fn shutdown(&self) -> Result<(), StoreError> {
        self.store.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;

    use super::*;
    use crate::key::Key;
    use crate::write::{Body, Change};

    #[tokio::test]
    async fn many_events_are_undone_apart() {
        let (storage, resource) = (Storage::in_memory(), ResourceName::new("configmaps"));
        let body = || Body::new(Vec::from("@"), 1);
        let mut revision = Revision::ZERO;
        let mut revisions = Vec::new();
        for number in 0..=UNDONE_AT_ONCE + 10 {
            let key = Key::new(resource.clone(), "n", format!("{number}"));
            revision = storage.commit(Change::Create { key, body: body() }).await.unwrap().object.revision();
            revisions.push(revision);
        }
        let turns = Arc::clone(&storage.turns);
        let others = turns.acquire_many(turns.available_permits() as u32).await.unwrap();
        let mut waits = pin!(storage.snapshot_at_apart(&resource, revisions[0]));
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut waits).await.is_err());
        drop(others);
        assert_eq!(waits.await.unwrap().len(), 1);
        // The second time the state is kept, and younger states are a few events away from it.
        for (at, is_ready) in [(0, true), (1, false), (UNDONE_AT_ONCE, true)] {
            let mut asked = pin!(storage.snapshot_at_apart(&resource, revisions[at]));
            let mut turns = 0;
            let found = poll_fn(|context| {
                turns += 1;
                asked.as_mut().poll(context)
            });
            assert_eq!(found.await.unwrap().len(), at + 1);
            assert_eq!(turns == 1, is_ready, "{at}");
        }
        let future = storage.snapshot_at_apart(&resource, revision.next()).await;
        assert!(matches!(future, Err(StoreError::FutureRevision { .. })));
    }
}
