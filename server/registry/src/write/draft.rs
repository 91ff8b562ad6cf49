//! What one stage of a write passes to the next.

use orch_runtime::{Tree, field_error::Validation, object::ApiObject, resource_def::FieldPath};
use orch_storage::Condition;

use crate::{behaviour::Overruled, objects::Current};

/// The result of the stage **propose**: an object as a body, a patch or an apply wants it.
pub struct Proposed {
    /// Its structural form.
    pub tree: Tree,
    /// How its managed fields are determined.
    pub ownership: Ownership,
    /// The stored object that it replaces; absent for a new object.
    pub current: Option<Current>,
}

/// The result of the stage **place**: the same with the metadata that the server sets.
pub struct Placed<'w> {
    /// See [`Proposed`].
    pub proposed: Proposed,
    /// The name, also where it was generated.
    pub name: String,
    /// Its `generateName`; empty where it has none.
    pub generate_name: String,
    /// Whether the name was generated.
    pub is_generated: bool,
    /// The version that the client sent with a new object, 0 for none. A new object should have none.
    pub sent_version: u64,
    /// The violations found so far.
    pub violations: Validation<'w>,
}

/// The result of the stage **prepare**, which the stages up to **admit** change and check: a typed object.
pub struct Draft<'w> {
    /// The object as it will be stored.
    pub object: Box<dyn ApiObject>,
    /// The object as it is stored; absent for a new object.
    pub old: Option<Box<dyn ApiObject>>,
    /// What the typed object was made from. Its tree has moved into the object.
    pub placed: Placed<'w>,
    /// Fields that this write does not own, whatever values they have.
    pub unowned: Vec<FieldPath>,
    /// A copy of the object from before the server added items to lists or maps, or allocated values.
    /// Managers own the fields of this copy; none where the object itself will do.
    pub before_additions: Option<Tree>,
    /// Fields that count for ownership with other values than they have, see
    /// [`overruled`](crate::behaviour::Behaviour::overruled).
    pub overruled: Vec<Overruled>,
    /// What must still hold when the write commits.
    pub conditions: Vec<Condition>,
}

/// How the managed fields of a written object are determined.
#[derive(Clone, Debug)]
pub enum Ownership {
    /// From the fields that the write changes. The managed fields that a client sends are treated apart.
    Tracked {
        /// The managed fields that the client sent.
        sent: Option<Tree>,
    },
    /// By the merge of an apply.
    Applied {
        /// `metadata.managedFields`.
        entries: Vec<Tree>,
    },
}

/// The result of the stage **own**: a complete object.
pub struct Owned {
    /// Its structural form.
    pub tree: Tree,
    /// The managed fields of a new object as JSON text, where they are not in the tree.
    pub owners: Option<String>,
    /// The stored object that it replaces.
    pub current: Option<Current>,
    /// Whether it differs from what it replaces in more than the times of managed fields.
    pub differs: bool,
    /// Whether managed fields may be left out where the object is too large otherwise.
    pub may_shrink: bool,
    /// See [`Placed`].
    pub generate_name: String,
    /// See [`Placed`].
    pub is_generated: bool,
    /// See [`Placed`].
    pub sent_version: u64,
    /// See [`Draft`].
    pub conditions: Vec<Condition>,
}
