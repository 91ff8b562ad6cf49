//! Values that an object owns alone among the objects of its kind: addresses, ports.
//!
//! They are terms of the store's index, so it is known at no cost who has one, and a write that takes one commits
//! only if nobody else has it by then ([`orch_storage::Condition::Unclaimed`]). Nothing is kept besides the objects:
//! a value is free again when the object that has it is gone.

use std::sync::Arc;

use orch_storage::{Snapshot, Term};

/// Indexes from this number on are those of claims; the smaller numbers are those that the schema asks for.
const FIRST_INDEX: u16 = 1 << 15;

/// A value that an object owns alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Which sort of value, counted from 0; see [`Behaviour::claim_sorts`](crate::behaviour::Behaviour::claim_sorts).
    pub sort: u16,
    /// The value.
    pub value: String,
}

impl Claim {
    /// The term under which the store finds the object.
    pub fn term(&self) -> Term {
        Term { index: FIRST_INDEX + self.sort, value: Arc::from(self.value.as_str()) }
    }
}

/// Who has what, at one version of the store.
pub struct Claimed<'s> {
    snapshot: &'s Snapshot,
    /// The object that is being written; what it has already is no obstacle.
    own: (&'s str, &'s str),
}

impl<'s> Claimed<'s> {
    /// For the object of this namespace and name.
    pub fn new(snapshot: &'s Snapshot, namespace: &'s str, name: &'s str) -> Self {
        Claimed { snapshot, own: (namespace, name) }
    }

    /// Whether another object has the value.
    pub fn is_taken(&self, sort: u16, value: &str) -> bool {
        self.snapshot.holders(FIRST_INDEX + sort, value).any(|holder| {
            let key = holder.key();
            (&*key.namespace, &*key.name) != self.own
        })
    }
}
