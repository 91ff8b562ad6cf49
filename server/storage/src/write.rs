//! A write: one change of one object, and the conditions on which it is made.

use std::sync::Arc;

use bytes::Bytes;

use crate::condition::Condition;
use crate::error::StoreError;
use crate::key::Key;
use crate::object::Object;
use crate::revision::Revision;

/// The bytes to store. The store inserts the revision, which only it knows, as decimal digits.
#[derive(Debug, Clone)]
pub struct Body {
    bytes: Vec<u8>,
    revision_at: usize,
}

/// A change, and conditions on other objects. The store checks all of it at one instant, in the order of
/// commits: first what the change itself demands, then the conditions in their order. If anything does not
/// hold, nothing is written and no revision is used.
///
/// `change.into()` is a write without conditions.
#[derive(Debug, Clone)]
pub struct Write {
    /// What is to be done.
    pub change: Change,
    /// What has to hold besides. [`StoreError::ConditionFailed`] names the first one that does not.
    pub conditions: Vec<Condition>,
}

/// A change of one object.
#[derive(Debug, Clone)]
pub enum Change {
    /// Stores an object that must not exist.
    Create {
        /// Its name.
        key: Key,
        /// Its state.
        body: Body,
    },
    /// Replaces the state of an object that must be at revision `expected`.
    Replace {
        /// Its name.
        key: Key,
        /// The revision of the state that this one was computed from.
        expected: Revision,
        /// Its new state.
        body: Body,
    },
    /// Replaces the state of an object that is being deleted. It differs from [`Change::Replace`] in one
    /// thing: a store whose disk is full accepts it, because it leads to a removal.
    Retire {
        /// Its name.
        key: Key,
        /// The revision of the state that this one was computed from.
        expected: Revision,
        /// Its new state.
        body: Body,
    },
    /// Removes an object that must be at revision `expected`.
    Remove {
        /// Its name.
        key: Key,
        /// The revision of the state that the decision was based on.
        expected: Revision,
        /// Its last state, which watchers receive; it gets the revision of the removal.
        body: Body,
    },
}

/// A write that is durable and that every later snapshot shows.
#[derive(Debug, Clone)]
pub struct Committed {
    /// Its revision.
    pub revision: Revision,
    /// The new state; of a removal, the last state.
    pub object: Arc<Object>,
    /// The state that was replaced or removed; none for a creation.
    pub previous: Option<Arc<Object>>,
}

impl Body {
    /// `bytes`, into which the revision goes before the byte at `revision_at`.
    ///
    /// # Panics
    /// If `revision_at` is beyond the end.
    pub fn new(bytes: Vec<u8>, revision_at: usize) -> Self {
        assert!(revision_at <= bytes.len(), "the position of the revision must be inside the bytes");
        Self { bytes, revision_at }
    }

    /// How many bytes it has before the revision is inserted.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes, before the revision is inserted.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where the revision goes.
    pub fn revision_at(&self) -> usize {
        self.revision_at
    }

    /// The bytes with the digits of `revision`, in an allocation of exactly their size.
    pub fn with_revision(&self, revision: Revision) -> Bytes {
        let digits = revision.to_string();
        let (head, tail) = self.bytes.split_at(self.revision_at);
        Bytes::from([head, digits.as_bytes(), tail].concat())
    }
}

impl Write {
    /// This write, on one more condition.
    pub fn when(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// The object that it changes.
    pub fn key(&self) -> &Key {
        self.change.key()
    }
}

impl From<Change> for Write {
    fn from(change: Change) -> Self {
        Self { change, conditions: Vec::new() }
    }
}

impl Change {
    /// The object that it changes.
    pub fn key(&self) -> &Key {
        match self {
            Self::Create { key, .. }
            | Self::Replace { key, .. }
            | Self::Retire { key, .. }
            | Self::Remove { key, .. } => key,
        }
    }

    /// The state that it writes; of a removal, the last state.
    pub fn body(&self) -> &Body {
        match self {
            Self::Create { body, .. }
            | Self::Replace { body, .. }
            | Self::Retire { body, .. }
            | Self::Remove { body, .. } => body,
        }
    }

    /// Whether it frees space, now or when the object that it retires is removed. A store whose disk is full
    /// accepts only such changes.
    pub fn frees_space(&self) -> bool {
        matches!(self, Self::Retire { .. } | Self::Remove { .. })
    }

    /// The write of this change on a condition.
    pub fn when(self, condition: Condition) -> Write {
        Write::from(self).when(condition)
    }

    /// Whether the change can be made when `current` is the state of the object.
    pub(crate) fn check(&self, current: Option<&Arc<Object>>) -> Result<(), StoreError> {
        match (self, current) {
            (Self::Create { .. }, None) => Ok(()),
            (Self::Create { .. }, Some(current)) => {
                Err(StoreError::AlreadyExists { current: Arc::clone(current) })
            }
            (_, None) => Err(StoreError::NotFound { key: self.key().clone() }),
            (
                Self::Replace { expected, .. }
                | Self::Retire { expected, .. }
                | Self::Remove { expected, .. },
                Some(current),
            ) => {
                if current.revision() == *expected {
                    Ok(())
                } else {
                    Err(StoreError::Conflict { expected: *expected, current: Arc::clone(current) })
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserts_the_revision_anywhere() {
        for (text, at, want) in
            [("ab", 0, "12ab"), ("ab", 1, "a12b"), ("ab", 2, "ab12"), ("", 0, "12"), ("\"\"", 1, "\"12\"")]
        {
            let bytes = Body::new(text.into(), at).with_revision(Revision::new(12));
            assert_eq!(bytes, want);
        }
    }
}
