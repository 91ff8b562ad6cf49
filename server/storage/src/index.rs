//! Finding objects by what is in them: the store keeps the order, somebody who can read values tells the terms.

use std::sync::Arc;

use crate::key::ResourceName;

/// Something that objects are found by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// Which of the resource's indexes.
    pub index: u16,
    /// The value in it.
    pub value: Arc<str>,
}

/// Reads terms from values.
pub trait Indexer: Send + Sync + 'static {
    /// Whether the resource has indexes at all.
    fn covers(&self, resource: &ResourceName) -> bool;

    /// The terms of a value, at most one for each index; always the same for the same value.
    fn terms(&self, resource: &ResourceName, value: &[u8]) -> Vec<Term>;
}
