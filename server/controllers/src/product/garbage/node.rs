//! What the collector knows of an object: who it is, who owns it, and how far its deletion is.

use std::{collections::HashMap, sync::Arc};

use orch_machinery::meta::Meta;
use orch_registry::{
    catalog::{Catalog, ServedResource},
    stored,
};
use orch_runtime::{Tree, resource_def::Scope};
use orch_storage::{Key, Object, ResourceName, Revision, Storage};
use serde_json::json;

/// By which a DELETE asks that dependents lose the reference before the object goes.
pub(in crate::product) const ORPHAN: &str = "orphan";
/// By which a DELETE asks that dependents go before the object.
pub(in crate::product) const FOREGROUND: &str = "foregroundDeletion";

/// One state of an object.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says one thing that is stored")]
pub(super) struct Node {
    pub(super) uid: Arc<str>,
    pub(super) revision: Revision,
    pub(super) owners: Box<[Reference]>,
    pub(super) is_deleted: bool,
    /// Its grace period is over and nothing holds it, so whoever deletes it is about to remove it.
    pub(super) is_over: bool,
    /// It has the finalizer [`ORPHAN`].
    pub(super) has_orphan: bool,
    /// It has the finalizer [`FOREGROUND`].
    pub(super) has_foreground: bool,
}

/// A reference to an owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reference {
    pub(super) owner: Owner,
    pub(super) uid: Arc<str>,
    /// Whether an owner that is deleted in the foreground waits for the dependent.
    pub(super) blocks: bool,
}

/// Where the owner is, if it is anywhere: in the namespace of the dependent, or in none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Owner {
    /// Under this key, where the uid fits too.
    At(Key),
    /// The kind is not served: nobody can tell whether it exists.
    OfUnknownKind,
    /// The dependent has no namespace, and owners of the kind have one.
    OutOfReach(Key),
}

/// What is stored under a key.
pub(super) enum Found {
    Absent,
    /// Something that cannot be read.
    Unreadable,
    Node(Arc<Node>),
}

/// Looks up objects as they are now.
pub(super) trait Lookup {
    fn find(&self, key: &Key) -> Found;
}

impl Node {
    /// It is being deleted, and its dependents go first.
    pub(super) fn waits(&self) -> bool {
        self.is_deleted && self.has_foreground
    }

    /// It is being deleted, and its dependents lose their references first.
    pub(super) fn orphans(&self) -> bool {
        self.is_deleted && self.has_orphan
    }

    /// Nothing can happen because of such an owner, but somebody should be told.
    pub(super) fn has_owner_out_of_reach(&self) -> bool {
        self.owners.iter().any(|reference| matches!(reference.owner, Owner::OutOfReach(_)))
    }
}

/// The kinds whose objects are collected, by the names that owner references have.
pub(super) struct Kinds {
    served: HashMap<ResourceName, Arc<ServedResource>>,
    catalog: Arc<Catalog>,
}

impl Kinds {
    /// All that are stored.
    pub(super) fn new(catalog: &Arc<Catalog>) -> Self {
        let stored = catalog.stored_resources().filter(|resource| resource.def.storage_version);
        let served = stored.map(|resource| (resource.storage_name.clone(), Arc::clone(resource)));
        Kinds { served: served.collect(), catalog: Arc::clone(catalog) }
    }

    /// Their names in the store.
    pub(super) fn names(&self) -> Vec<ResourceName> {
        self.served.keys().cloned().collect()
    }

    /// The kind of a key; `None` where it is not served.
    pub(super) fn of(&self, key: &Key) -> Option<&Arc<ServedResource>> {
        self.served.get(&key.resource)
    }

    /// The node of a state of an object, which is kept with it; `None` where it cannot be read.
    pub(super) fn node(&self, object: &Object) -> Option<Arc<Node>> {
        struct Kept(Option<Arc<Node>>);
        object.memo(|object| Kept(self.read(object).map(Arc::new))).0.clone()
    }

    /// The same, for a state that will hardly be looked at again.
    pub(super) fn read(&self, object: &Object) -> Option<Node> {
        const PATHS: &[&[&str]] = &[
            &["metadata", "uid"],
            &["metadata", "ownerReferences"],
            &["metadata", "finalizers"],
            &["metadata", "deletionTimestamp"],
            &["metadata", "deletionGracePeriodSeconds"],
        ];
        let values = stored::values_at(object.value().ok()?, PATHS).ok()?;
        let [uid, owners, finalizers, deletion, grace] = <[_; 5]>::try_from(values).ok()?;
        let tree = json!({"metadata": {
            "uid": uid, "ownerReferences": owners, "finalizers": finalizers, "deletionTimestamp": deletion,
        }});
        let meta = Meta::of(&tree);
        let is_deleted = meta.deletion_timestamp().is_some();
        let is_graceless = grace.as_ref().and_then(Tree::as_i64) == Some(0);
        let has = |name| meta.finalizers().any(|finalizer| finalizer == name);
        let namespace = &object.key().namespace;
        Some(Node {
            uid: meta.uid().into(),
            revision: object.revision(),
            owners: meta.owner_references().iter().map(|owner| self.reference(namespace, owner)).collect(),
            is_deleted,
            is_over: is_deleted && is_graceless && meta.finalizers().next().is_none(),
            has_orphan: has(ORPHAN),
            has_foreground: has(FOREGROUND),
        })
    }

    fn reference(&self, namespace: &Arc<str>, reference: &Tree) -> Reference {
        let text = |field| reference.get(field).and_then(Tree::as_str).unwrap_or_default();
        Reference {
            owner: self.owner(namespace, text("apiVersion"), text("kind"), text("name")),
            uid: text("uid").into(),
            blocks: reference.get("blockOwnerDeletion").and_then(Tree::as_bool).unwrap_or_default(),
        }
    }

    fn owner(&self, namespace: &Arc<str>, api_version: &str, kind: &str, name: &str) -> Owner {
        let own = self.catalog.spelling_of(api_version).and_then(|spelling| spelling.own_name(api_version));
        let api_version = own.unwrap_or(api_version);
        let mut kinds = self.catalog.resources();
        let found = kinds.find(|served| served.def.kind == kind && served.api_version == api_version);
        let Some(served) = found.and_then(|found| self.served.get(&found.storage_name)) else {
            return Owner::OfUnknownKind;
        };
        let is_namespaced = served.def.scope == Scope::Namespaced;
        let in_namespace = if is_namespaced { Arc::clone(namespace) } else { "".into() };
        let key = Key::new(served.storage_name.clone(), in_namespace, name);
        if is_namespaced && namespace.is_empty() { Owner::OutOfReach(key) } else { Owner::At(key) }
    }
}

/// The objects of a store.
pub(super) struct StoredNodes<'a> {
    pub(super) kinds: &'a Kinds,
    pub(super) storage: &'a Storage,
}

impl Lookup for StoredNodes<'_> {
    fn find(&self, key: &Key) -> Found {
        match self.storage.snapshot(&key.resource).get(&key.namespace, &key.name) {
            None => Found::Absent,
            Some(object) => self.kinds.node(object).map_or(Found::Unreadable, Found::Node),
        }
    }
}
