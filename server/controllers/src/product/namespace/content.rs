//! The content of a namespace that is being deleted: deletes it, and counts what is left.

use std::{
    collections::{BTreeMap, HashSet},
    pin::pin,
    sync::Arc,
};

use futures_util::{StreamExt, stream};
use orch_auth::authorizer::ResourceTarget;
use orch_machinery::meta::field;
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
use crate::controller::Context;

/// How many objects are deleted at a time.
const AT_A_TIME: usize = 32;

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
pub(super) async fn empty(cx: &Context, namespace: &str) -> Left {
    let client = cx.client();
    let mut left = Left::default();
    remove_unserved(cx, namespace, &mut left).await;
    let resources = client.core().catalog().stored_resources();
    let stored = resources.filter(|resource| resource.def.scope == Scope::Namespaced);
    for resource in stored {
        let names: Vec<_> = client
            .snapshot(resource)
            .in_namespace(namespace)
            .filter(|object| standing(object).is_to_be_deleted())
            .map(|object| object.key().name.clone())
            .collect();
        let deletion = |name: Arc<str>| async move {
            let propagation = Some(Propagation::Background);
            let options = DeletionOptions { propagation, ..DeletionOptions::default() };
            client.delete(resource, namespace, &name, options).await
        };
        let mut ended = pin!(stream::iter(names).map(deletion).buffer_unordered(AT_A_TIME));
        while let Some(deleted) = ended.next().await {
            match deleted {
                Ok(_) | Err(ApiError::NotFound { .. }) => {}
                Err(error) => left.failures.push(error),
            }
        }
        left.count(resource, client.snapshot(resource).in_namespace(namespace));
    }
    left
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
async fn remove_unserved(cx: &Context, namespace: &str, left: &mut Left) {
    let core = cx.client().core();
    let served: HashSet<_> =
        core.catalog().stored_resources().map(|resource| &resource.storage_name).collect();
    for name in core.storage().resources().into_iter().filter(|name| !served.contains(name)) {
        let snapshot = core.storage().snapshot(&name);
        for object in snapshot.in_namespace(namespace) {
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
