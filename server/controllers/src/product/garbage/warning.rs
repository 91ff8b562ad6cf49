//! Warns of owner references that lead into another namespace: a dependent is deleted because of one, or
//! never, and its owner stands there alive.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use orch_api::core::v1::Namespace;
use orch_registry::catalog::ServedResource;
use orch_storage::Key;

use super::{
    node::{Found, Lookup, Node, Owner, StoredNodes},
    owners::is_gone,
};
use crate::{
    controller::Context,
    events::{About, Severity, report},
};

/// How many owners of an object are looked for: each that is found is an event, and an object may name
/// thousands. The reference tells of an object so often in a row.
const TOLD: usize = 25;
/// How many owners that are nowhere are remembered.
const REMEMBERED: usize = 512;

/// Who tells. It remembers owners that are nowhere, so that each is looked for once and not for each of its
/// dependents.
#[derive(Default)]
pub(super) struct Warned {
    nowhere: Mutex<HashSet<Arc<str>>>,
}

impl Warned {
    /// Reports an event for each reference of an object that leads into another namespace.
    pub(super) async fn tell(
        &self,
        key: &Key,
        node: &Node,
        resource: &ServedResource,
        lookup: &StoredNodes<'_>,
        cx: &Context,
    ) {
        if node.is_deleted {
            return;
        }
        for reference in node.owners.iter().take(TOLD) {
            let owner = match &reference.owner {
                Owner::OutOfReach(owner) => owner,
                Owner::At(owner)
                    if !owner.namespace.is_empty()
                        && is_gone(owner, &reference.uid, lookup)
                        && self.is_elsewhere(owner, &reference.uid, lookup, cx) =>
                {
                    owner
                }
                _ => continue,
            };
            let Some(kind) = lookup.kinds.of(owner) else { continue };
            let message = format!(
                "ownerRef [{}/{}, namespace: {namespace}, name: {}, uid: {}] does not exist in namespace \
                 \"{namespace}\"",
                kind.api_version,
                kind.def.kind,
                owner.name,
                reference.uid,
                namespace = owner.namespace,
            );
            let about = About { resource, namespace: &key.namespace, name: &key.name, uid: &node.uid };
            report(cx, &about, Severity::Warning, "OwnerRefInvalidNamespace", &message).await;
        }
    }

    /// Whether the owner is in another namespace, under the same name.
    fn is_elsewhere(&self, owner: &Key, uid: &Arc<str>, lookup: &StoredNodes<'_>, cx: &Context) -> bool {
        let Ok(namespaces) = cx.served::<Namespace>() else { return false };
        if self.lock().contains(uid) {
            return false;
        }
        let is_there = |namespace: &Arc<str>| {
            let key = Key { namespace: Arc::clone(namespace), ..owner.clone() };
            matches!(lookup.find(&key), Found::Node(found) if found.uid == *uid)
        };
        let found = cx.client().snapshot(namespaces).iter().any(|namespace| is_there(&namespace.key().name));
        if !found {
            let mut nowhere = self.lock();
            if nowhere.len() >= REMEMBERED {
                nowhere.clear();
            }
            nowhere.insert(Arc::clone(uid));
        }
        found
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Arc<str>>> {
        self.nowhere.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
