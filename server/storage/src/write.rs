//! A write: what it does, to which object, and on what condition.

use std::sync::Arc;

use bytes::Bytes;

use crate::error::StoreError;
use crate::key::Key;
use crate::object::Object;
use crate::revision::Revision;

/// The bytes to store. The revision, which only the store knows, is spliced in as decimal digits.
#[derive(Debug, Clone)]
pub struct Body {
    bytes: Vec<u8>,
    revision_at: usize,
}

/// One change of one object. Nothing is written unless its condition holds at the moment of the commit.
#[derive(Debug, Clone)]
pub enum Write {
    /// Stores an object that must not exist.
    Create {
        /// Its name.
        key: Key,
        /// Its state.
        body: Body,
    },
    /// Replaces an object that must be at `expected`.
    Replace {
        /// Its name.
        key: Key,
        /// The revision of the state that this one was computed from.
        expected: Revision,
        /// Its new state.
        body: Body,
    },
    /// Replaces an object that is on its way out. It differs from [`Write::Replace`] where there is no room: it is taken
    /// all the same, because it leads to a removal.
    Retire {
        /// Its name.
        key: Key,
        /// The revision of the state that this one was computed from.
        expected: Revision,
        /// Its new state.
        body: Body,
    },
    /// Removes an object that must be at `expected`.
    Remove {
        /// Its name.
        key: Key,
        /// The revision of the state that the decision was taken on.
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
    /// The state that it took the place of.
    pub previous: Option<Arc<Object>>,
}

impl Body {
    /// `bytes`, into which the revision goes before the byte at `revision_at`.
    ///
    /// # Panics
    /// If `revision_at` is beyond the end.
    pub fn new(bytes: Vec<u8>, revision_at: usize) -> Self {
        assert!(revision_at <= bytes.len(), "the place of the revision must be inside the bytes");
        Self { bytes, revision_at }
    }

    /// Length before the revision is in it.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes with the digits of `revision`, in an allocation of exactly their size.
    pub(crate) fn stamp(&self, revision: Revision) -> Bytes {
        let digits = revision.to_string();
        let (head, tail) = self.bytes.split_at(self.revision_at);
        Bytes::from([head, digits.as_bytes(), tail].concat())
    }
}

impl Write {
    /// The object that it changes.
    pub fn key(&self) -> &Key {
        match self {
            Self::Create { key, .. }
            | Self::Replace { key, .. }
            | Self::Retire { key, .. }
            | Self::Remove { key, .. } => key,
        }
    }

    pub(crate) fn body(&self) -> &Body {
        match self {
            Self::Create { body, .. }
            | Self::Replace { body, .. }
            | Self::Retire { body, .. }
            | Self::Remove { body, .. } => body,
        }
    }

    /// Whether it makes room, sooner or later.
    pub(crate) fn makes_room(&self) -> bool {
        matches!(self, Self::Retire { .. } | Self::Remove { .. })
    }

    /// Whether the condition holds when `current` is the state of the object.
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
    fn stamps_the_revision_anywhere() {
        for (text, at, want) in
            [("ab", 0, "12ab"), ("ab", 1, "a12b"), ("ab", 2, "ab12"), ("", 0, "12"), ("\"\"", 1, "\"12\"")]
        {
            let stamped = Body::new(text.into(), at).stamp(Revision::new(12));
            assert_eq!(stamped, want);
        }
    }
}
