//! Finds the objects that the collector has to look at: it keeps the graph as events tell, in the order in
//! which they happened, over all kinds.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use futures_util::future::BoxFuture;
use orch_registry::stored;
use orch_storage::{Event, EventKind, Key, Object, Revision, Scope, Snapshot, Storage, StoreError, Watch};

use super::{
    decision::{Step, decide},
    graph::{Change, Graph},
    node::{Kinds, Node, StoredNodes},
};
use crate::{slice::Slice, source::KeySource};

/// See the module.
pub(super) struct GraphSource {
    kinds: Arc<Kinds>,
    storage: Storage,
    graph: Arc<Mutex<Graph>>,
    /// The state at the beginning, until the graph is made of it.
    snapshots: Vec<Snapshot>,
    watches: Vec<Watch>,
}

impl GraphSource {
    /// Begins with what is stored now.
    ///
    /// # Errors
    /// Where that is no longer in the history.
    pub(super) fn begin(
        kinds: &Arc<Kinds>,
        storage: &Storage,
        graph: &Arc<Mutex<Graph>>,
    ) -> Result<Self, StoreError> {
        let names = kinds.names();
        let snapshots = storage.snapshots(&names);
        let after = snapshots.first().map_or(Revision::FIRST, Snapshot::revision);
        let watches = names.iter().map(|name| storage.watch(name, Scope::All, after));
        Ok(GraphSource {
            watches: watches.collect::<Result<_, _>>()?,
            kinds: Arc::clone(kinds),
            storage: storage.clone(),
            graph: Arc::clone(graph),
            snapshots,
        })
    }

    /// Makes the graph anew. Returns the objects to which something has to happen.
    async fn build(&mut self) -> Vec<Key> {
        let snapshots = std::mem::take(&mut self.snapshots);
        let lookup = StoredNodes { kinds: &self.kinds, storage: &self.storage };
        let mut graph = Graph::default();
        let mut candidates = Vec::new();
        let mut slice = Slice::begin();
        for object in snapshots.iter().flat_map(Snapshot::iter) {
            slice.next().await;
            let Some(node) = concerning(&self.kinds, object) else { continue };
            graph.apply(Change { key: object.key(), before: None, after: Some(&node) }, &lookup);
            candidates.push((object.key().clone(), node));
        }
        graph.reached(snapshots.first().map_or(Revision::FIRST, Snapshot::revision));
        let mut keys = Vec::new();
        for (key, node) in candidates {
            slice.next().await;
            if node.has_owner_out_of_reach() || decide(&key, &node, &graph, &lookup) != Step::Nothing {
                keys.push(key);
            }
        }
        *self.lock() = graph;
        keys
    }

    /// All events up to one revision, in order.
    async fn events(&mut self) -> Result<(Vec<Arc<Event>>, Revision), StoreError> {
        let mut events = poll_fn(|context| {
            let mut events = Vec::new();
            // Each is polled, so that each wakes this task.
            for watch in &mut self.watches {
                if let Poll::Ready(first) = watch.poll_next(context) {
                    events.extend(first?);
                }
            }
            if events.is_empty() { Poll::Pending } else { Poll::Ready(Ok::<_, StoreError>(events)) }
        })
        .await?;
        let through = self.storage.current_revision();
        for watch in &mut self.watches {
            loop {
                let rest = watch.take_through(through)?;
                if rest.is_empty() {
                    break;
                }
                events.extend(rest);
            }
        }
        events.sort_by_key(|event| event.revision());
        Ok((events, through))
    }

    async fn next_keys(&mut self) -> Result<Vec<Key>, StoreError> {
        let (events, through) = self.events().await?;
        let mut keys = Vec::new();
        let mut slice = Slice::begin();
        for event in events {
            self.take_in(&event, &mut keys);
            slice.next().await;
        }
        self.lock().reached(through);
        Ok(keys)
    }

    /// Puts an event into the graph. Workers wait only while it is put there, not while it is read.
    fn take_in(&self, event: &Event, keys: &mut Vec<Key>) {
        let lookup = StoredNodes { kinds: &self.kinds, storage: &self.storage };
        let removed = event.kind() == EventKind::Remove;
        let before = event.previous().and_then(|before| {
            if removed { self.kinds.read(before) } else { concerning(&self.kinds, before) }
        });
        let after = if removed { None } else { concerning(&self.kinds, event.object()) };
        if before.is_some() || after.is_some() {
            let change = Change { key: event.key(), before: before.as_ref(), after: after.as_ref() };
            keys.extend(self.lock().apply(change, &lookup));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Graph> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeySource for GraphSource {
    fn list(&mut self) -> BoxFuture<'_, Vec<Key>> {
        Box::pin(self.build())
    }

    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Key>, StoreError>> {
        Box::pin(self.next_keys())
    }
}

/// The node of an object that has owners or is being deleted. Most objects are neither: to see that costs a
/// small part of reading them.
fn concerning(kinds: &Kinds, object: &Object) -> Option<Node> {
    let may_concern = ["ownerReferences", "deletionTimestamp"];
    may_concern.iter().any(|field| stored::may_have_field(object, field)).then(|| kinds.read(object))?
}
