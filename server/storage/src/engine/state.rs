//! Everything that is stored, at one revision.

use std::sync::Arc;

use super::table::Table;
use crate::event::EventKind;
use crate::index::Indexer;
use crate::key::{Key, ResourceName};
use crate::object::Object;
use crate::revision::Revision;

/// The objects of all resources. Cloning it copies no objects.
#[derive(Clone)]
pub(super) struct State {
    pub(super) revision: Revision,
    pub(super) resources: imbl::OrdMap<ResourceName, Table>,
    pub(super) indexer: Option<Arc<dyn Indexer>>,
}

impl State {
    /// Without objects and indexes.
    pub(super) fn empty_at(revision: Revision) -> Self {
        Self { revision, resources: imbl::OrdMap::new(), indexer: None }
    }

    /// The newest state of an object.
    pub(super) fn get(&self, key: &Key) -> Option<&Arc<Object>> {
        self.resources.get(&key.resource)?.get(&key.name_ref())
    }

    /// An object of the resource of `key` that has this term; not the one that `key` names.
    pub(super) fn other_with_term(&self, key: &Key, index: u16, value: &str) -> Option<&Arc<Object>> {
        let table = self.resources.get(&key.resource)?;
        table.with_term(index, value).find(|object| object.key() != key)
    }

    /// Puts or removes an object; `previous` is what was there before.
    pub(super) fn apply(&mut self, kind: EventKind, object: &Arc<Object>, previous: Option<&Arc<Object>>) {
        let Key { resource, .. } = object.key();
        let table = match self.resources.get_mut(resource) {
            Some(table) => table,
            None => self.resources.entry(resource.clone()).or_default(),
        };
        table.apply(self.indexer.as_deref(), kind, object, previous);
    }
}
