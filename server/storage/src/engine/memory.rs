//! A reader's view of the memory: snapshots, older states and watches.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::watch as signal;

use super::event_log::Hub;
use super::snapshot::Snapshot;
use super::state::State;
use super::table::Table;
use super::watch::Watch;
use crate::error::StoreError;
use crate::index::Indexer;
use crate::key::{ResourceName, Scope};
use crate::revision::Revision;

/// A reader's handle on the memory. Clones are handles on the same one.
#[derive(Clone)]
pub struct Memory(pub(super) Arc<Shared>);

/// What readers and the writer share.
pub(super) struct Shared {
    pub(super) state: ArcSwap<State>,
    pub(super) hubs: ArcSwap<HashMap<ResourceName, Arc<Hub>>>,
    /// Held while a hub is added, so that two threads do not add the same one.
    adding: Mutex<()>,
    /// History up to here was dropped before this process began, or on request. Watches that began before
    /// then do not go by it: their logs know what they have seen.
    pub(super) begins_after: AtomicU64,
    /// The revision of `state`, for those who wait for it.
    pub(super) reached: signal::Sender<Revision>,
    pub(super) closed: AtomicBool,
}

impl Memory {
    pub(super) fn with(state: State, begins_after: Revision) -> Self {
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

    /// The revision of the newest state that readers see.
    pub fn revision(&self) -> Revision {
        self.0.state.load().revision
    }

    /// The newest state of a resource.
    pub fn snapshot(&self, resource: &ResourceName) -> Snapshot {
        let state = self.0.state.load();
        Snapshot::new(state.revision, state.resources.get(resource).cloned().unwrap_or_default())
    }

    /// The state of `resource` at `revision`: the newest one with younger events undone. The errors are those
    /// of [`Storage::snapshot_at`](crate::Storage::snapshot_at).
    pub fn snapshot_at(&self, resource: &ResourceName, revision: Revision) -> Result<Snapshot, StoreError> {
        let now = self.snapshot(resource);
        if revision > now.revision() {
            return Err(StoreError::FutureRevision { asked: revision, current: now.revision() });
        }
        if revision == now.revision() {
            return Ok(now);
        }
        self.covers(revision)?;
        let hub = self.hub(resource);
        let base = hub.older_states.at_or_after(revision).unwrap_or(now);
        let younger = hub.between(revision, base.revision())?;
        let indexer = self.0.state.load().indexer.clone();
        let past = base.undo(indexer.as_deref(), &younger, revision);
        hub.older_states.keep(&past);
        Ok(past)
    }

    /// Keeps indexes from now on. Nobody may write meanwhile.
    pub fn index_by(&self, indexer: &Arc<dyn Indexer>) {
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
    pub fn resources(&self) -> Vec<ResourceName> {
        let state = self.0.state.load();
        let filled = state.resources.iter().filter(|(_, objects)| !objects.is_empty());
        filled.map(|(resource, _)| resource.clone()).collect()
    }

    /// Follows `scope` of a resource after a revision. The errors are those of
    /// [`Storage::watch`](crate::Storage::watch).
    pub fn watch(&self, resource: &ResourceName, scope: Scope, after: Revision) -> Result<Watch, StoreError> {
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

    /// Returns when the state is at `revision` or later; [`StoreError::Closed`] if the writer ends before.
    pub async fn reach(&self, revision: Revision) -> Result<(), StoreError> {
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

    pub(super) fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// The logs of `resource`; made on first use, by a reader or by the writer.
    pub(super) fn hub(&self, resource: &ResourceName) -> Arc<Hub> {
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
