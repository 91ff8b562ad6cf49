//! The state that all reads are served from, and the history that watches follow.
//!
//! One writer changes it ([`MemoryWriter`], owned by the store); any number of readers hold [`Memory`]. A batch
//! of writes becomes visible at one instant, when the new [`State`] is swapped in: snapshots, watches and the
//! current revision all go by the revision of that state. Events are in the logs before that instant, so a
//! reader that knows a revision always finds the events up to it.

mod event_log;
mod held;
mod history;
mod past;
mod replay;
mod snapshot;
mod table;
mod wakers;
mod watch;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::watch as signal;

use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::event::{Event, EventKind};
use crate::index::Indexer;
use crate::key::{Key, ResourceName, Scope};
use crate::object::Object;
use crate::revision::Revision;
use crate::store::Op;
use crate::write::{Committed, Write};

use event_log::{EventLog, Hub};
pub(crate) use history::{Garbage, Retention};
use history::{History, garbage_of};
pub(crate) use replay::Replay;
pub use snapshot::Snapshot;
use table::Table;
pub use watch::Watch;

/// Everything at one revision. Cloning it copies no objects.
#[derive(Clone)]
struct State {
    revision: Revision,
    resources: imbl::OrdMap<ResourceName, Table>,
    indexer: Option<Arc<dyn Indexer>>,
}

struct Shared {
    state: ArcSwap<State>,
    hubs: ArcSwap<HashMap<ResourceName, Arc<Hub>>>,
    /// Held while a hub is added, so that two threads do not add the same one.
    adding: Mutex<()>,
    /// History up to here was gone before this process began, or somebody had it forgotten. Watches that run since
    /// before then are not held up by it: their logs know what they have seen.
    begins_after: AtomicU64,
    /// The revision of `state`, for those who wait for it.
    reached: signal::Sender<Revision>,
    closed: AtomicBool,
}

/// A reader's handle on the memory.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Shared>);

/// The one handle that changes the memory.
pub(crate) struct MemoryWriter {
    memory: Memory,
    history: History,
}

/// Writes that have been checked against each other and the state, and that nobody can see yet.
pub(crate) struct Batch {
    state: State,
    time: Timestamp,
    pub(crate) changes: Vec<Change>,
}

/// What has become visible, and where there may be somebody who waits for it.
#[must_use = "those who wait must be woken"]
pub(crate) struct Published {
    revision: Revision,
    logs: Vec<Arc<EventLog>>,
    /// To take it apart costs about as much as to build it, and nobody should wait for that.
    _replaced: Arc<State>,
}

/// One accepted write of a batch.
pub(crate) struct Change {
    pub(crate) op: Op,
    pub(crate) event: Arc<Event>,
}

impl Memory {
    fn with(state: State, begins_after: Revision) -> Self {
        let reached = signal::Sender::new(state.revision);
        Self(Arc::new(Shared {
            state: ArcSwap::from_pointee(state),
            hubs: ArcSwap::default(),
            adding: Mutex::default(),
            begins_after: AtomicU64::new(begins_after.get()),
            reached,
            closed: AtomicBool::new(false),
        }))
    }

    pub(crate) fn revision(&self) -> Revision {
        self.0.state.load().revision
    }

    pub(crate) fn snapshot(&self, resource: &ResourceName) -> Snapshot {
        let state = self.0.state.load();
        Snapshot::new(state.revision, state.resources.get(resource).cloned().unwrap_or_default())
    }

    /// The state of `resource` at `revision`: the current one with younger events undone.
    pub(crate) fn snapshot_at(
        &self,
        resource: &ResourceName,
        revision: Revision,
    ) -> Result<Snapshot, StoreError> {
        let now = self.snapshot(resource);
        if revision > now.revision() {
            return Err(StoreError::FutureRevision { asked: revision, current: now.revision() });
        }
        if revision == now.revision() {
            return Ok(now);
        }
        self.covers(revision)?;
        let hub = self.hub(resource);
        let base = hub.past.at_or_after(revision).unwrap_or(now);
        let younger = hub.between(revision, base.revision())?;
        let indexer = self.0.state.load().indexer.clone();
        let past = base.undo(indexer.as_deref(), &younger, revision);
        hub.past.keep(&past);
        Ok(past)
    }

    /// Keeps indexes from now on. Nobody writes meanwhile.
    pub(crate) fn index_by(&self, indexer: &Arc<dyn Indexer>) {
        self.0.state.rcu(|state| {
            let with_terms =
                |(name, table): (&ResourceName, &Table)| (name.clone(), table.indexed(&**indexer));
            State {
                revision: state.revision,
                resources: state.resources.iter().map(with_terms).collect(),
                indexer: Some(Arc::clone(indexer)),
            }
        });
    }

    /// The names of all resources that have objects.
    pub(crate) fn resources(&self) -> Vec<ResourceName> {
        let state = self.0.state.load();
        let filled = state.resources.iter().filter(|(_, objects)| !objects.is_empty());
        filled.map(|(resource, _)| resource.clone()).collect()
    }

    pub(crate) fn watch(
        &self,
        resource: &ResourceName,
        scope: Scope,
        after: Revision,
    ) -> Result<Watch, StoreError> {
        self.covers(after)?;
        Watch::new(self.clone(), self.hub(resource), scope, after)
    }

    fn begins_after(&self) -> Revision {
        Revision::new(self.0.begins_after.load(Ordering::Acquire))
    }

    fn covers(&self, asked: Revision) -> Result<(), StoreError> {
        let oldest = self.begins_after();
        if asked < oldest { Err(StoreError::Expired { asked, oldest }) } else { Ok(()) }
    }

    /// Resolves when the state is at `revision` or later; fails when it cannot come to that any more.
    pub(crate) async fn reach(&self, revision: Revision) -> Result<(), StoreError> {
        let mut reached = self.0.reached.subscribe();
        loop {
            if *reached.borrow_and_update() >= revision {
                return Ok(());
            }
            if self.is_closed() || reached.changed().await.is_err() {
                return Err(StoreError::Closed);
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// The logs of `resource`; made on first use, by a reader or by the writer.
    fn hub(&self, resource: &ResourceName) -> Arc<Hub> {
        if let Some(hub) = self.0.hubs.load().get(resource) {
            return Arc::clone(hub);
        }
        let _adding = self.0.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hubs = HashMap::clone(&self.0.hubs.load());
        let hub =
            hubs.entry(resource.clone()).or_insert_with(|| Arc::new(Hub::new(self.begins_after()))).clone();
        self.0.hubs.store(Arc::new(hubs));
        hub
    }
}

impl MemoryWriter {
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Begins a batch on the newest state, committed at `now`.
    pub(crate) fn batch(&self, now: Timestamp) -> Batch {
        Batch { state: State::clone(&self.memory.0.state.load()), time: now, changes: Vec::new() }
    }

    /// Makes a durable batch visible, all of it at one instant. Those who wait for it are still to be woken.
    pub(crate) fn publish(&mut self, batch: Batch) -> Published {
        let mut by_resource: HashMap<ResourceName, Vec<Arc<Event>>> = HashMap::new();
        for change in batch.changes {
            self.history.push(Arc::clone(&change.event));
            let resource = &change.event.key().resource;
            match by_resource.get_mut(resource) {
                Some(events) => events.push(change.event),
                None => drop(by_resource.insert(resource.clone(), vec![change.event])),
            }
        }
        let logs =
            by_resource.into_iter().flat_map(|(resource, events)| self.memory.hub(&resource).append(&events));
        let logs = logs.collect();
        let revision = batch.state.revision;
        let replaced = self.memory.0.state.swap(Arc::new(batch.state));
        Published { revision, logs, _replaced: replaced }
    }

    /// Wakes those who wait for what was published.
    pub(crate) fn wake(&self, published: &Published) {
        self.memory.0.reached.send_replace(published.revision);
        published.logs.iter().for_each(|log| log.wake());
    }

    /// Forgets the oldest events that `retention` does not keep, at most `limit`. Returns what the log no longer needs
    /// either.
    pub(crate) fn forget_overdue(
        &mut self,
        now: Timestamp,
        retention: &Retention,
        limit: usize,
    ) -> Vec<Garbage> {
        let events = self.history.pop_overdue(now, retention, limit);
        self.forget(&events)
    }

    /// Forgets all events up to and including `before`. Returns what the log no longer needs either.
    pub(crate) fn forget_through(&mut self, before: Revision) -> Vec<Garbage> {
        let before = before.min(self.memory.revision());
        self.memory.0.begins_after.fetch_max(before.get(), Ordering::AcqRel);
        let events = self.history.pop_through(before);
        self.forget(&events)
    }

    fn forget(&mut self, events: &[Arc<Event>]) -> Vec<Garbage> {
        for event in events {
            self.memory.hub(&event.key().resource).forget(event);
        }
        events.iter().flat_map(|event| garbage_of(event)).collect()
    }

    /// Ends all watches and waits: no write will come.
    pub(crate) fn close(&self) {
        let shared = &self.memory.0;
        shared.closed.store(true, Ordering::Release);
        shared.reached.send_modify(|_| ());
        shared.hubs.load().values().for_each(|hub| hub.wake_all());
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        self.close();
    }
}

impl Batch {
    /// Whether the condition of a write holds after the writes before it.
    pub(crate) fn check(&self, write: &Write) -> Result<(), StoreError> {
        let key = write.key();
        let objects = self.state.resources.get(&key.resource);
        write.check(objects.and_then(|objects| objects.get(&key.name_ref())))
    }

    /// Adds a write if its condition holds after the writes before it. It is as good as committed if the batch is.
    pub(crate) fn add(&mut self, write: Write) -> Result<Committed, StoreError> {
        let key = write.key();
        let objects = self.state.resources.get(&key.resource);
        let previous = objects.and_then(|objects| objects.get(&key.name_ref())).cloned();
        write.check(previous.as_ref())?;
        let revision = self.state.revision.next();
        let (op, kind, key, body) = match write {
            Write::Create { key, body } => (Op::Create, EventKind::Put, key, body),
            Write::Replace { key, body, .. } | Write::Retire { key, body, .. } => {
                (Op::Replace, EventKind::Put, key, body)
            }
            Write::Remove { key, body, .. } => (Op::Remove, EventKind::Remove, key, body),
        };
        // A replaced object hands on its name, so that equal names are in memory once.
        let key = previous.as_ref().map_or_else(|| Arc::new(key), |previous| previous.shared_key());
        let object = Arc::new(Object::new(key, revision, Ok(body.stamp(revision))));
        self.state.apply(kind, &object, previous.as_ref());
        self.state.revision = revision;
        let event = Event::new(kind, self.time, Arc::clone(&object), previous.clone());
        self.changes.push(Change { op, event: Arc::new(event) });
        Ok(Committed { revision, object, previous })
    }
}

impl State {
    fn apply(&mut self, kind: EventKind, object: &Arc<Object>, previous: Option<&Arc<Object>>) {
        let Key { resource, .. } = object.key();
        let table = match self.resources.get_mut(resource) {
            Some(table) => table,
            None => self.resources.entry(resource.clone()).or_default(),
        };
        table.apply(self.indexer.as_deref(), kind, object, previous);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::write::Body;

    /// Events are in the logs a moment before their batch is visible: nobody may read them ahead of the state.
    #[tokio::test]
    async fn no_event_is_seen_before_its_state() {
        let retention = Retention { time: Duration::MAX, bytes: u64::MAX };
        let (mut writer, _) = Replay::new(Revision::ZERO, Timestamp(0), retention).finish();
        let memory = writer.memory().clone();
        let resource = ResourceName::new("pods");
        let start = memory.revision();
        let mut watch = memory.watch(&resource, Scope::All, start).unwrap();
        let mut batch = writer.batch(Timestamp(1));
        let key = Key::new(resource.clone(), "ns", "a");
        let committed = batch.add(Write::Create { key, body: Body::new(Vec::new(), 0) }).unwrap();
        let events: Vec<_> = batch.changes.iter().map(|change| Arc::clone(&change.event)).collect();

        let hub = memory.hub(&resource);
        let _ = hub.append(&events);
        assert!(watch.take().unwrap().is_empty());
        assert_eq!((watch.progress(), memory.revision()), (start, start));
        assert!(memory.snapshot(&resource).is_empty());
        hub.forget(&events[0]);

        let mut watch = memory.watch(&resource, Scope::All, committed.revision).unwrap();
        let published = writer.publish(batch);
        assert_eq!(memory.snapshot(&resource).len(), 1, "visible before anybody is woken");
        writer.wake(&published);
        assert!(watch.take().unwrap().is_empty(), "it was to start after this event");
    }

    /// States that lists paged through go when history goes, not when somebody asks the next time.
    #[tokio::test]
    async fn older_states_go_with_history() {
        let retention = Retention { time: Duration::MAX, bytes: u64::MAX };
        let (mut writer, _) = Replay::new(Revision::ZERO, Timestamp(0), retention).finish();
        let memory = writer.memory().clone();
        let resource = ResourceName::new("pods");
        for name in ["a", "b"] {
            let mut batch = writer.batch(Timestamp(1));
            let key = Key::new(resource.clone(), "ns", name);
            batch.add(Write::Create { key, body: Body::new(Vec::new(), 0) }).unwrap();
            let _ = writer.publish(batch);
        }
        let first = Revision::FIRST.next();
        assert_eq!(memory.snapshot_at(&resource, first).unwrap().len(), 1);
        let past = &memory.hub(&resource).past;
        assert!(past.at_or_after(first).is_some());
        writer.forget_through(first);
        assert!(past.at_or_after(first).is_some(), "it can still be asked for");
        writer.forget_through(first.next());
        assert!(past.at_or_after(first).is_none());
    }
}
