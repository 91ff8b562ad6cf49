//! A condition of a write: what has to hold for other objects.

use std::fmt;

use crate::index::Term;
use crate::key::Key;
use crate::revision::Revision;

/// What else has to hold at the moment of the commit. Each is one look-up in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// This object exists and is at this revision.
    At {
        /// Its name.
        key: Key,
        /// The revision of its newest state.
        revision: Revision,
    },
    /// No object has this name.
    Absent {
        /// The name.
        key: Key,
    },
    /// No object of the same resource has this term, except the written object itself. It is for values that
    /// only one object may have: an address, a port.
    ///
    /// It needs an [`Indexer`](crate::Indexer) that covers the resource of the written object. Without one,
    /// objects have no terms, so the condition always holds. Objects whose stored value is damaged have no
    /// terms either.
    Unclaimed {
        /// The term. It need not be a term of the written object.
        term: Term,
    },
}

/// For people, as what has to be so.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At { key, revision } => write!(f, "{key} must be at revision {revision}"),
            Self::Absent { key } => write!(f, "{key} must not exist"),
            Self::Unclaimed { term: Term { index, value } } => {
                write!(f, "no other object may have {value:?} in index {index}")
            }
        }
    }
}
