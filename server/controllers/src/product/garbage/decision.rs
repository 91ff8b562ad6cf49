//! What has to happen to an object because of its owners and its dependents. A function of what is stored.
//!
//! The rules are those of the reference: an object goes when it has owners and none of them is alive, and it
//! loses references to those that are not where another one is.

use std::{collections::BTreeSet, sync::Arc};

use orch_storage::Key;

use super::{
    graph::Graph,
    node::{Found, Lookup, Node, Owner, Reference},
    owners::{Owners, owners_of},
};

/// What has to happen to an object.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing, until something changes.
    Nothing,
    /// It is deleted; `foreground` says that its own dependents go first.
    Delete { foreground: bool },
    /// It loses its references to these owners.
    Disown(Vec<Arc<str>>),
    /// Its dependents lose their references to it, then it loses the finalizer that asks for this.
    Orphan(Vec<Key>),
    /// It loses the finalizer by which it waited for its dependents.
    Release,
    /// It is removed, unless whoever deletes it does that soon.
    Finish,
}

/// The step for an object that is stored like this.
pub(super) fn decide(key: &Key, node: &Node, graph: &Graph, lookup: &impl Lookup) -> Step {
    if node.is_deleted {
        return end(key, node, graph, lookup);
    }
    match owners_of(node, lookup) {
        Owners::Alive => Step::Nothing,
        Owners::Some(lost) => Step::Disown(lost),
        Owners::None { waiting } => {
            Step::Delete { foreground: waiting && graph.owned(key, &node.uid).next().is_some() }
        }
    }
}

/// The step for an object that is being deleted.
fn end(key: &Key, node: &Node, graph: &Graph, lookup: &impl Lookup) -> Step {
    if node.is_over {
        return Step::Finish;
    }
    // The change that is not in the graph yet brings the object again.
    if graph.through() < node.revision {
        return Step::Nothing;
    }
    if node.has_orphan {
        return Step::Orphan(graph.owned(key, &node.uid).cloned().collect());
    }
    if node.has_foreground && !is_blocked(key, node, graph, lookup) {
        return Step::Release;
    }
    Step::Nothing
}

/// Whether a dependent is left for which the object has to wait. One that waits for the object in its turn
/// does not count: in a circle somebody has to go first.
fn is_blocked(key: &Key, node: &Node, graph: &Graph, lookup: &impl Lookup) -> bool {
    let mut above = None;
    let mut blocking = graph.blocking(key, &node.uid).filter(|dependent| *dependent != key);
    blocking.any(|dependent| match lookup.find(dependent) {
        Found::Node(found) if found.waits() => {
            !above.get_or_insert_with(|| waits_for(node, lookup)).contains(dependent)
        }
        _ => true,
    })
}

/// The owners that wait for the object, those that wait for these, and so on.
fn waits_for(node: &Node, lookup: &impl Lookup) -> BTreeSet<Key> {
    let mut found = BTreeSet::new();
    let mut ahead: Vec<Reference> = node.owners.to_vec();
    while let Some(reference) = ahead.pop() {
        if let Owner::At(key) = reference.owner
            && reference.blocks
            && !found.contains(&key)
            && let Found::Node(owner) = lookup.find(&key)
            && owner.uid == reference.uid
            && owner.waits()
        {
            ahead.extend_from_slice(&owner.owners);
            found.insert(key);
        }
    }
    found
}
