//! Stored objects, as the stages of a write, admission and behaviour look them up.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use orch_runtime::Tree;
use orch_storage::{Key, Object, Revision, Scope, Snapshot, Storage};

use crate::{
    catalog::{Catalog, ServedResource},
    conversion::LostManagers,
    error::{ApiError, Result},
    store_states::StoreStates,
    stored,
};

/// How long a read waits for a version that the store has not reached yet.
const VERSION_WAIT: Duration = Duration::from_secs(3);

/// The served kinds, and the store with their objects.
#[derive(Clone)]
pub struct Objects {
    catalog: Arc<Catalog>,
    storage: Storage,
    states: Arc<StoreStates>,
}

/// A stored object with its tree.
#[derive(Debug)]
pub struct Current {
    /// As stored.
    pub object: Arc<Object>,
    /// Decoded.
    pub tree: Tree,
    /// Which of its managers were dropped from the tree.
    pub lost_managers: LostManagers,
}

impl Current {
    /// The version of the object.
    pub fn revision(&self) -> Revision {
        self.object.revision()
    }
}

/// What is stored under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Nothing.
    Absent,
    /// An object of the kind.
    Readable,
    /// Bytes that are damaged, or no object of the kind, under this revision.
    Unreadable(Revision),
}

impl Objects {
    /// The objects of the catalog's kinds in this store.
    pub fn new(catalog: Arc<Catalog>, storage: Storage) -> Self {
        Objects { catalog, storage, states: Arc::default() }
    }

    /// What is served.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The store.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// What the log was told of the state of the store.
    pub(crate) fn store_states(&self) -> &StoreStates {
        &self.states
    }

    /// The newest state of a resource.
    pub fn snapshot(&self, resource: &ServedResource) -> Snapshot {
        self.storage.snapshot(&resource.storage_name)
    }

    /// The object of that name.
    ///
    /// # Errors
    /// 404 where there is none, 500 where its stored form cannot be read.
    pub fn find(&self, resource: &ServedResource, namespace: &str, name: &str) -> Result<Current> {
        self.lookup(resource, namespace, name)?.ok_or_else(|| ApiError::not_found(resource, name))
    }

    /// Like [`find`](Objects::find), but `None` where there is none.
    ///
    /// # Errors
    /// 500 where the stored form cannot be read.
    pub fn lookup(&self, resource: &ServedResource, namespace: &str, name: &str) -> Result<Option<Current>> {
        let snapshot = self.snapshot(resource);
        let Some(object) = snapshot.get(namespace, name) else { return Ok(None) };
        let tree = stored::tree_of(resource, object)?;
        Ok(Some(Current { object: Arc::clone(object), tree, lost_managers: LostManagers::None }))
    }

    /// The bytes of the object of that name as it is stored; 0 where there is none.
    pub fn size(&self, resource: &ServedResource, namespace: &str, name: &str) -> usize {
        self.snapshot(resource).get(namespace, name).map_or(0, |object| object.value().map_or(0, Bytes::len))
    }

    /// Whether an object of that namespace, or of all where it is empty, has more bytes than that.
    pub fn has_larger(&self, resource: &ServedResource, namespace: &str, bytes: usize) -> bool {
        let snapshot = self.snapshot(resource);
        let scope = if namespace.is_empty() { Scope::All } else { Scope::Namespace(namespace.into()) };
        snapshot.in_scope(&scope, None).any(|object| object.size() > bytes)
    }

    /// Whether there is nothing under the name.
    pub fn is_absent(&self, resource: &ServedResource, namespace: &str, name: &str) -> bool {
        self.snapshot(resource).get(namespace, name).is_none()
    }

    /// Whether there is an object, and whether it can be read.
    pub fn stored(&self, resource: &ServedResource, namespace: &str, name: &str) -> Stored {
        match self.snapshot(resource).get(namespace, name) {
            None => Stored::Absent,
            Some(object) if stored::tree_of(resource, object).is_ok() => Stored::Readable,
            Some(object) => Stored::Unreadable(object.revision()),
        }
    }

    /// Waits until reads include `version`.
    ///
    /// # Errors
    /// 504 where the version is not reached within a few seconds.
    pub async fn wait_for(&self, version: Revision) -> Result<()> {
        self.storage.wait_for(version, VERSION_WAIT).await.map_err(|_| ApiError::TooLargeResourceVersion {
            asked: version.get(),
            current: self.storage.current_revision().get(),
        })
    }
}

/// The store's key of an object.
pub fn key(resource: &ServedResource, namespace: &str, name: &str) -> Key {
    Key::new(resource.storage_name.clone(), namespace, name)
}

#[cfg(test)]
mod tests {
    use orch_storage::{Body, Change};

    use super::*;
    use crate::{behaviour::Behaviours, test_core};

    #[tokio::test]
    async fn objects_that_cannot_be_read_are_told_from_missing_ones() {
        let core = test_core::core(&Behaviours::default());
        let objects = core.objects();
        let config_maps = core.catalog().resource("", "v1", "configmaps").unwrap();
        for (name, text) in
            [("good", r#"{"kind":"ConfigMap","metadata":{"resourceVersion":""}}"#), ("bad", "no JSON")]
        {
            let revision_at = text.find("\"}}").unwrap_or(0);
            let body = Body::new(text.into(), revision_at);
            let key = key(config_maps, "n", name);
            core.storage().commit(Change::Create { key, body }).await.unwrap();
        }
        assert_eq!(objects.stored(config_maps, "n", "good"), Stored::Readable);
        assert_eq!(objects.stored(config_maps, "n", "none"), Stored::Absent);
        let Stored::Unreadable(revision) = objects.stored(config_maps, "n", "bad") else {
            panic!("readable")
        };
        assert_eq!(revision, core.storage().current_revision());
        assert!(objects.is_absent(config_maps, "n", "none") && !objects.is_absent(config_maps, "n", "bad"));
        assert!(objects.lookup(config_maps, "n", "none").unwrap().is_none());
        let missing = objects.find(config_maps, "n", "none").unwrap_err();
        assert_eq!(missing, ApiError::not_found(config_maps, "none"));
        let damaged = objects.find(config_maps, "n", "bad").unwrap_err();
        assert!(matches!(damaged, ApiError::Internal { .. }), "{damaged:?}");
    }
}
