//! Which objects of a controller's kind a change of another kind concerns.
//!
//! A trigger is called for every event of its kind, so it has to be cheap. What it reads from an object it
//! should keep with that state of the object ([`Object::memo`]): a state is seen twice, when it comes and
//! when it goes.

use std::sync::Arc;

use orch_machinery::meta::Meta;
use orch_registry::{catalog::ServedResource, stored};
use orch_runtime::{
    Tree,
    object::Kind,
    resource_def::{ResourceDef, Scope},
};
use orch_storage::{Event, EventKind, Object};

use crate::key::ObjectKey;

/// A kind whose changes concern a controller of another kind, and which of its objects they concern.
pub struct Trigger {
    resource: &'static ResourceDef,
    keys: Box<Keys>,
}

/// A change of an object.
#[derive(Clone, Copy)]
pub struct Changed<'a> {
    /// Its kind.
    pub resource: &'a ServedResource,
    /// The state before; absent for a new object.
    pub before: Option<&'a Arc<Object>>,
    /// The state now; absent for an object that was removed.
    pub after: Option<&'a Arc<Object>>,
}

/// The objects that a change concerns.
type Keys = dyn Fn(&Changed<'_>) -> Vec<ObjectKey> + Send + Sync;

impl Trigger {
    /// Changes of `resource` concern the objects that `keys` names. Where the kind is not served, nothing
    /// does.
    pub fn new(
        resource: &'static ResourceDef,
        keys: impl Fn(&Changed<'_>) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        Trigger { resource, keys: Box::new(keys) }
    }

    /// A change of an `Owned` concerns every `Owner` that its owner references name, before or after the
    /// change.
    pub fn owner<Owner: Kind, Owned: Kind>() -> Self {
        Trigger::new(Owned::RESOURCE, |change| {
            let mut keys = Vec::new();
            for object in [change.before, change.after].into_iter().flatten() {
                for key in owners_of(change.resource, object, Owner::RESOURCE) {
                    if !keys.contains(&key) {
                        keys.push(key);
                    }
                }
            }
            keys
        })
    }

    /// The kind.
    pub fn resource(&self) -> &'static ResourceDef {
        self.resource
    }

    /// The objects that an event of the kind concerns.
    pub(crate) fn keys(&self, resource: &ServedResource, event: &Event) -> Vec<ObjectKey> {
        let after = (event.kind() == EventKind::Put).then(|| event.object());
        (self.keys)(&Changed { resource, before: event.previous(), after })
    }
}

/// The owner references of one state of an object.
struct Owners(Box<[Owner]>);

struct Owner {
    /// In the vocabulary's spelling.
    group: Box<str>,
    kind: Box<str>,
    name: Arc<str>,
}

/// The owners of an object that are of one kind.
fn owners_of(
    resource: &ServedResource,
    object: &Object,
    owner: &'static ResourceDef,
) -> impl Iterator<Item = ObjectKey> {
    let owners = object.memo(|object| Owners(read_owners(resource, object)));
    let group = resource.vocabulary.group(owner.group);
    let namespace: Arc<str> = match owner.scope {
        Scope::Namespaced => Arc::clone(&object.key().namespace),
        Scope::Cluster => "".into(),
    };
    let named = owners.0.iter().filter(move |found| *found.kind == *owner.kind && *found.group == *group);
    named.map(move |found| ObjectKey { namespace: Arc::clone(&namespace), name: Arc::clone(&found.name) })
}

/// An object that cannot be read has no owners.
fn read_owners(resource: &ServedResource, object: &Object) -> Box<[Owner]> {
    if !stored::may_have_field(object, "ownerReferences") {
        return Box::default();
    }
    let Ok(tree) = stored::tree_of(resource, object) else { return Box::default() };
    Meta::of(&tree).owner_references().iter().filter_map(owner).collect()
}

fn owner(reference: &Tree) -> Option<Owner> {
    let text = |field| reference.get(field).and_then(Tree::as_str);
    let group = text("apiVersion")?.split_once('/').map_or("", |(group, _)| group);
    Some(Owner { group: group.into(), kind: text("kind")?.into(), name: text("name")?.into() })
}
