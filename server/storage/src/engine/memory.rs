//! A reader's view of the memory: snapshots, older states and watches.

use std::sync::Arc;

use super::batch::Batch;
use super::event_log::{Events, Part};
use super::history::{HistoryMeter, HistoryUse};
use super::shared::Shared;
use super::snapshot::Snapshot;
use super::state::State;
use super::table::Table;
use super::watch::Watch;
use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::frame_bytes::FrameTotal;
use crate::index::{Indexer, Term};
use crate::key::{ResourceName, Scope};
use crate::revision::Revision;
use crate::write::Write;

/// A reader's handle on the memory. Clones are handles on the same one.
#[derive(Clone)]
pub struct Memory(pub(super) Arc<Shared>);

impl Memory {
    pub(super) fn with(state: State, begins_after: Revision, history: Arc<HistoryMeter>) -> Self {
        Self(Arc::new(Shared::new(state, begins_after, history)))
    }

    /// What the history holds now.
    pub fn history(&self) -> HistoryUse {
        self.0.history.read()
    }

    /// The revision of the newest state that readers see.
    pub fn revision(&self) -> Revision {
        self.0.revision()
    }

    /// The newest state of a resource.
    pub fn snapshot(&self, resource: &ResourceName) -> Snapshot {
        let state = self.0.state.load();
        Snapshot::new(state.revision, state.resources.get(resource).cloned().unwrap_or_default())
    }

    /// The newest state of several resources, all at one revision.
    pub fn snapshots(&self, resources: &[ResourceName]) -> Vec<Snapshot> {
        let state = self.0.state.load();
        let table = |resource| state.resources.get(resource).cloned().unwrap_or_default();
        resources.iter().map(|resource| Snapshot::new(state.revision, table(resource))).collect()
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
        self.0.covers(revision)?;
        let hub = self.0.hub(resource);
        let base = hub.older_states.at_or_after(revision).unwrap_or(now);
        let younger = hub.between(revision, base.revision())?;
        let indexer = self.0.state.load().indexer.clone();
        let past = base.undo(indexer.as_deref(), &younger, revision);
        hub.older_states.keep(&past);
        Ok(past)
    }

    /// How many events [`snapshot_at`](Memory::snapshot_at) would undo.
    pub fn count_undone(&self, resource: &ResourceName, revision: Revision) -> usize {
        let hub = self.0.hub(resource);
        let base = hub.older_states.at_or_after(revision).map_or(self.revision(), |base| base.revision());
        hub.count_between(revision, base)
    }

    /// Whether a write could be made on the newest state: the error that the commit would have, if not.
    pub fn check(&self, write: &Write) -> Result<(), StoreError> {
        self.batch().check(write)
    }

    /// Whether a write gives its object a term that it does not have in the newest state.
    pub fn adds_term(&self, write: &Write) -> bool {
        self.batch().adds_term(&write.change)
    }

    fn batch(&self) -> Batch {
        Batch::on(State::clone(&self.0.state.load()), Timestamp(0), FrameTotal::default())
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

    /// Follows `scope` of a resource after a revision, or what has a term in it. The errors are those of
    /// [`Storage::watch`](crate::Storage::watch).
    pub fn watch(
        &self,
        resource: &ResourceName,
        scope: Scope,
        term: Option<Term>,
        after: Revision,
    ) -> Result<Watch, StoreError> {
        self.0.covers(after)?;
        // The scope of one name is narrower than any term.
        let term = term.filter(|_| !matches!(scope, Scope::Name(..)));
        Watch::new(Arc::clone(&self.0), resource, Part { scope, term }, after)
    }

    /// The events of a resource since the start; none where nobody wrote or watched.
    pub fn events(&self, resource: &ResourceName) -> Option<Events> {
        self.0.hubs.load().get(resource).map(|hub| hub.events())
    }

    /// How many watches are told of a change of an object.
    pub fn told_of(&self, resource: &ResourceName, namespace: &str, name: &str) -> usize {
        self.0.hubs.load().get(resource).map_or(0, |hub| hub.told_of(namespace, name))
    }

    /// Returns when the state is at `revision` or later; [`StoreError::Closed`] if the writer ends before.
    pub async fn reach(&self, revision: Revision) -> Result<(), StoreError> {
        let mut reached = self.0.reached.subscribe();
        loop {
            if *reached.borrow_and_update() >= revision {
                return Ok(());
            }
            if self.0.is_closed() || reached.changed().await.is_err() {
                return Err(StoreError::Closed);
            }
        }
    }
}
