//! Indexes: finding objects by what is in them. The store keeps the indexes; an [`Indexer`], which can read
//! values, tells it the terms of each object.

use std::sync::Arc;

use crate::key::ResourceName;

/// A value of an index, by which objects are found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    /// Which of the resource's indexes.
    pub index: u16,
    /// The value in it.
    pub value: Arc<str>,
}

/// Reads terms from values.
pub trait Indexer: Send + Sync + 'static {
    /// Whether the resource has indexes.
    fn covers(&self, resource: &ResourceName) -> bool;

    /// The terms of a value; always the same for the same value. There may be several of one index: all
    /// addresses of an object, for example. `None` where the value cannot be read: the store then says that
    /// its indexes do not know every object.
    fn terms(&self, resource: &ResourceName, value: &[u8]) -> Option<Vec<Term>>;
}
