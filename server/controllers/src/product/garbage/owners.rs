//! Whether the owners of an object are alive.
//!
//! An owner is gone when nothing is stored under its name, or something with another uid. An owner that is
//! deleted in the foreground waits for its dependents, so it does not keep them. One whose kind is not known,
//! or that cannot be read, counts as alive: nothing is collected by mistake.

use std::sync::Arc;

use orch_storage::Key;

use super::node::{Found, Lookup, Node, Owner};

/// The owners of an object, taken together.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owners {
    /// All are alive, or it is not known whether they are.
    Alive,
    /// Some are alive. These are not.
    Some(Vec<Arc<str>>),
    /// None is alive; `waiting` says that one of them waits for its dependents.
    None { waiting: bool },
}

/// How an owner is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Alive,
    /// It is deleted in the foreground.
    Waiting,
    Gone,
}

/// The owners of an object as they are now. Without owners, nothing is missing.
pub(super) fn owners_of(node: &Node, lookup: &impl Lookup) -> Owners {
    let lives = node.owners.iter().map(|reference| match &reference.owner {
        // Nobody can tell whether they exist.
        Owner::OfUnknownKind | Owner::OutOfReach(_) => (Life::Alive, &reference.uid),
        Owner::At(key) => (life(key, &reference.uid, lookup), &reference.uid),
    });
    let lives: Vec<_> = lives.collect();
    let lost: Vec<_> = lives.iter().filter(|(life, _)| *life != Life::Alive).collect();
    if lost.is_empty() {
        Owners::Alive
    } else if lost.len() < lives.len() {
        Owners::Some(lost.into_iter().map(|(_, uid)| Arc::clone(uid)).collect())
    } else {
        Owners::None { waiting: lost.iter().any(|(life, _)| *life == Life::Waiting) }
    }
}

/// Whether there is no owner with this uid under the key.
pub(super) fn is_gone(key: &Key, uid: &str, lookup: &impl Lookup) -> bool {
    life(key, uid, lookup) == Life::Gone
}

fn life(key: &Key, uid: &str, lookup: &impl Lookup) -> Life {
    match lookup.find(key) {
        Found::Node(owner) if *owner.uid != *uid => Life::Gone,
        Found::Node(owner) if owner.waits() => Life::Waiting,
        Found::Node(_) | Found::Unreadable => Life::Alive,
        Found::Absent => Life::Gone,
    }
}
