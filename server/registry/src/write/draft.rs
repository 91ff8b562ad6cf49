//! What goes from stage to stage.

use orch_runtime::{Tree, field_error::Validation, object::ApiObject, resource_def::FieldPath};
use orch_storage::Condition;

use crate::objects::Current;

/// An object as a client, a patch or a merge would have it.
pub struct Proposed {
    /// Its structural form.
    pub tree: Tree,
    /// Who comes to own its fields.
    pub ownership: Ownership,
    /// What it is to replace; absent for a new object.
    pub current: Option<Current>,
}

/// The same with the server's metadata in place.
pub struct Placed<'w> {
    /// See [`Proposed`].
    pub proposed: Proposed,
    /// The name; a generated one is known.
    pub name: String,
    /// Of a new object, what its name was or could have been generated from; empty where the client gives no base.
    pub base: String,
    /// Whether the name was generated.
    pub is_generated: bool,
    /// The version that the client sent with a new object, which should have none.
    pub sent_version: u64,
    /// What is wrong with it so far.
    pub violations: Validation<'w>,
}

/// A typed object on its way through the rules.
pub struct Draft<'w> {
    /// As it is to be.
    pub object: Box<dyn ApiObject>,
    /// As it is; absent for a new object.
    pub old: Option<Box<dyn ApiObject>>,
    /// What the typed objects were made from, without the tree.
    pub placed: Placed<'w>,
    /// Fields that this write does not set, whatever is in the object.
    pub unset: Vec<FieldPath>,
    /// What must still hold when the write commits.
    pub conditions: Vec<Condition>,
}

/// How a write comes by the managed fields of its object.
#[derive(Clone, Debug)]
pub enum Ownership {
    /// From what the write changes. What the client sent as managed fields has rules of its own.
    Tracked {
        /// What the client sent.
        sent: Option<Tree>,
    },
    /// They were settled when a configuration was merged.
    Applied {
        /// `metadata.managedFields`.
        entries: Vec<Tree>,
    },
}

/// An object that is complete.
pub struct Owned {
    /// Its structural form.
    pub tree: Tree,
    /// The managed fields of a new object as JSON text, where they are not in the tree.
    pub owners: Option<String>,
    /// What it replaces.
    pub current: Option<Current>,
    /// Whether it differs from what it replaces in more than the times of managed fields.
    pub differs: bool,
    /// Whether managed fields may be left out where the object is too large: data before bookkeeping.
    pub may_shrink: bool,
    /// See [`Placed`].
    pub base: String,
    /// See [`Placed`].
    pub is_generated: bool,
    /// See [`Placed`].
    pub sent_version: u64,
    /// See [`Draft`].
    pub conditions: Vec<Condition>,
}
