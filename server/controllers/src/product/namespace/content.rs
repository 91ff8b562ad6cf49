//! The content of a namespace that is being deleted: deletes it, and counts what is left.

use std::{
    collections::{BTreeMap, HashSet},
    pin::pin,
    sync::Arc,
};

use futures_util::{StreamExt, stream};
use orch_api::core::v1::Namespace;
use orch_auth::authorizer::ResourceTarget;
use orch_machinery::meta::{Meta, field};
use orch_registry::{
    catalog::ServedResource,
    error::{ApiError, ResourceName},
    options::{DeletionOptions, Propagation},
    stored,
};
use orch_runtime::{
    Tree,
    resource_def::{Scope, Verb},
};
use orch_storage::{Body, Key, Object};
use serde_json::json;

use super::super::garbage::{FOREGROUND, ORPHAN};
use crate::{controller::Context, key::ObjectKey};

/// How many objects are deleted at a time.
const AT_A_TIME: usize = 32;

/// A namespace that is being deleted. Somebody else may let it go, and make another one of its name.
pub(super) struct Doomed<'n> {
    pub(super) name: &'n str,
    pub(super) uid: &'n str,
}

/// What is left of the content.
#[derive(Default)]
pub(super) struct Left {
    /// How many objects, by resource. The names are as the message has them: `configmaps.`,
    /// `leases.coordination.orch.io`.
    pub(super) resources: BTreeMap<String, usize>,
    /// How many objects have a finalizer, by finalizer.
    pub(super) finalizers: BTreeMap<String, usize>,
    /// Why objects could not be deleted.
    pub(super) failures: Vec<ApiError>,
}

impl Left {
    pub(super) fn is_nothing(&self) -> bool {
        self.resources.is_empty() && self.failures.is_empty()
    }
}

/// How far the deletion of an object is; remembered with each state of it.
#[derive(Default)]
struct Standing {
    is_deleted: bool,
    finalizers: Vec<String>,
}

/// Deletes everything in a namespace, and what it owns after it. An object that cannot be deleted holds up no
/// other.
pub(super) async fn empty(cx: &Context, namespace: &Doomed<'_>) -> Left {
    let client = cx.client();
    let mut left = Left::default();
    remove_unserved(cx, namespace, &mut left).await;
    let resources = client.core().catalog().stored_resources();
    let stored = resources.filter(|resource| resource.def.scope == Scope::Namespaced);
    for resource in stored {
        let snapshot = client.snapshot(resource);
        let content = snapshot.in_namespace(namespace.name);
        let doomed = content.filter(|object| standing(object).is_to_be_deleted());
        let doomed: Vec<_> = doomed.map(|object| (Arc::clone(&object.key().name), uid(object))).collect();
        drop(snapshot);
        if !doomed.is_empty() && !namespace.is_there(cx) {
            return left;
        }
        let deletion = |(name, uid): (Arc<str>, Option<String>)| async move {
            let propagation = Some(Propagation::Background);
            let options = DeletionOptions { uid, propagation, ..DeletionOptions::default() };
            client.delete(resource, namespace.name, &name, options).await
        };
        let mut ended = pin!(stream::iter(doomed).map(deletion).buffer_unordered(AT_A_TIME));
        while let Some(deleted) = ended.next().await {
            match deleted {
                // In the last case another one has its name.
                Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => {}
                Err(error) => left.failures.push(error),
            }
        }
        left.count(resource, client.snapshot(resource).in_namespace(namespace.name));
    }
    left
}

impl Doomed<'_> {
    /// Whether it is still this one. What was found in it before belongs to it then, and not to another one
    /// that came after it.
    fn is_there(&self, cx: &Context) -> bool {
        let Ok(namespaces) = cx.served::<Namespace>() else { return false };
        let found = cx.lookup(namespaces, &ObjectKey::new("", self.name)).ok().flatten();
        found.is_some_and(|found| Meta::of(&found.tree).uid() == self.uid)
    }
}

/// `None` for an object that cannot be read.
fn uid(object: &Object) -> Option<String> {
    let uid = stored::values_at(object.value().ok()?, &[&["metadata", "uid"]]).ok()?.pop()??;
    uid.as_str().map(str::to_owned)
}

impl Left {
    fn count<'o>(&mut self, resource: &ServedResource, objects: impl Iterator<Item = &'o Arc<Object>>) {
        let mut count = 0;
        for object in objects {
            count += 1;
            for finalizer in &standing(object).finalizers {
                match self.finalizers.get_mut(finalizer) {
                    Some(count) => *count += 1,
                    None => drop(self.finalizers.insert(finalizer.clone(), 1)),
                }
            }
        }
        if count > 0 {
            let ResourceName { group, resource } = ResourceName::of(resource);
            self.resources.insert(format!("{resource}.{group}"), count);
        }
    }
}

impl Standing {
    /// A second deletion changes nothing, unless the first one left something to the garbage collector.
    fn is_to_be_deleted(&self) -> bool {
        !self.is_deleted || self.finalizers.iter().any(|name| *name == ORPHAN || *name == FOREGROUND)
    }
}

fn standing(object: &Object) -> &Standing {
    object.memo(|object| read(object).unwrap_or_default())
}

/// `None` for an object that cannot be read. That shows when it is to be deleted.
fn read(object: &Object) -> Option<Standing> {
    const PATHS: &[&[&str]] = &[&["metadata", field::DELETION_TIMESTAMP], &["metadata", field::FINALIZERS]];
    if ![field::FINALIZERS, field::DELETION_TIMESTAMP].iter().any(|name| stored::may_have_field(object, name))
    {
        return None;
    }
    let values = stored::values_at(object.value().ok()?, PATHS).ok()?;
    let [deletion, finalizers] = <[_; 2]>::try_from(values).ok()?;
    let names = finalizers.as_ref().and_then(Tree::as_array).into_iter().flatten();
    let finalizers = names.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    Some(Standing { is_deleted: deletion.is_some(), finalizers })
}

/// Removes objects of kinds that are not served now (`--runtime-config`). No client can take away their
/// finalizers, so these count for nothing; and no stage of a deletion knows the kinds, so the store is told
/// directly.
async fn remove_unserved(cx: &Context, namespace: &Doomed<'_>, left: &mut Left) {
    let core = cx.client().core();
    let served: HashSet<_> =
        core.catalog().stored_resources().map(|resource| &resource.storage_name).collect();
    for name in core.storage().resources().into_iter().filter(|name| !served.contains(name)) {
        let snapshot = core.storage().snapshot(&name);
        for object in snapshot.in_namespace(namespace.name) {
            if !namespace.is_there(cx) {
                return;
            }
            if let Err(refused) = may_remove(cx, object).await {
                left.failures.push(refused);
                continue;
            }
            let (key, expected) = (object.key().clone(), object.revision());
            let body = last_state(object);
            if let Err(error) = cx.client().remove_stored(key, expected, body).await {
                left.failures.push(error);
            }
        }
    }
}

/// Asks whether an object may be deleted whose kind is not served. Its version is not known.
async fn may_remove(cx: &Context, object: &Object) -> Result<(), ApiError> {
    let Key { resource, namespace, name } = object.key();
    let (resource, group) = resource.as_str().split_once('.').unwrap_or((resource.as_str(), ""));
    let target = ResourceTarget { group, resource, namespace, name, ..ResourceTarget::default() };
    cx.client().check(Verb::Delete, target).await
}

/// What is known of an object without its kind.
fn last_state(object: &Object) -> Body {
    let key = object.key();
    let metadata = json!({"name": &*key.name, "namespace": &*key.namespace});
    let mut text = json!({"metadata": metadata}).to_string();
    let end = "}}";
    text.truncate(text.len() - end.len());
    text.push_str(",\"resourceVersion\":\"");
    let revision_at = text.len();
    text.push_str("\"}}\n");
    Body::new(text.into_bytes(), revision_at)
}

#[cfg(test)]
mod tests {
    use orch_api::core::v1::ConfigMap;
    use orch_storage::Change;

    use super::*;
    use crate::fixture::{Fixture, NAMESPACE};

    /// Somebody takes the finalizer away while the content is being deleted, and makes the namespace anew.
    #[tokio::test]
    async fn what_a_later_namespace_of_the_name_has_stays() {
        let fixture = Fixture::new().await;
        let cx = Context::new(fixture.client.clone());
        let map = json!({"metadata": {"name": "c", "namespace": NAMESPACE}});
        fixture.create::<ConfigMap>(map).await;
        let key = Key::new("gizmos.factory.orch.io".into(), NAMESPACE, "g");
        let gizmo = Change::Create { key, body: Body::new(b"{}".to_vec(), 1) };
        fixture.client.core().storage().commit(gizmo).await.unwrap();
        let current = fixture.client.get(fixture.resource::<Namespace>(), "", NAMESPACE).unwrap();
        let own = Meta::of(&current.tree).uid().to_owned();
        for (uid, stays) in [("of-an-earlier-one", true), (own.as_str(), false)] {
            empty(&cx, &Doomed { name: NAMESPACE, uid }).await;
            let gizmos = fixture.client.core().storage().snapshot(&"gizmos.factory.orch.io".into());
            assert_eq!((fixture.exists::<ConfigMap>((NAMESPACE, "c")), !gizmos.is_empty()), (stays, stays));
        }
    }
}
