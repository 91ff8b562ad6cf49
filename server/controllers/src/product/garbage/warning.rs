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
    graph::Graph,
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
/// dependents. Those that the graph saw removed are not looked for at all.
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
        graph: &Mutex<Graph>,
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
                        && self.is_elsewhere(owner, &reference.uid, graph, lookup, cx) =>
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
    fn is_elsewhere(
        &self,
        owner: &Key,
        uid: &Arc<str>,
        graph: &Mutex<Graph>,
        lookup: &impl Lookup,
        cx: &Context,
    ) -> bool {
        let Ok(namespaces) = cx.served::<Namespace>() else { return false };
        let saw_removed = || graph.lock().unwrap_or_else(PoisonError::into_inner).saw_removed(uid);
        if self.lock().contains(uid) || saw_removed() {
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use orch_storage::{ResourceName, Revision};
    use serde_json::json;

    use super::{
        super::{graph::Change, node::Reference},
        *,
    };
    use crate::fixture::Fixture;

    struct Counted(AtomicUsize);

    impl Lookup for Counted {
        fn find(&self, _: &Key) -> Found {
            self.0.fetch_add(1, Relaxed);
            Found::Absent
        }
    }

    fn node(uid: &str, owners: &[(&Key, &str)]) -> Node {
        let reference = |(key, uid): &(&Key, &str)| Reference {
            owner: Owner::At((*key).clone()),
            uid: (*uid).into(),
            blocks: false,
        };
        Node {
            uid: uid.into(),
            revision: Revision::new(1),
            owners: owners.iter().map(reference).collect(),
            is_deleted: false,
            is_over: false,
            has_orphan: false,
            has_foreground: false,
        }
    }

    #[tokio::test]
    async fn owners_that_were_seen_to_go_are_looked_for_nowhere() {
        let fixture = Fixture::new().await;
        for number in 1..10 {
            fixture.create::<Namespace>(json!({"metadata": {"name": format!("n{number}")}})).await;
        }
        let cx = Context::new(fixture.client.clone());
        let key = |name: &str| Key::new(ResourceName::new("configmaps"), "n1", name);
        let (owner, dependent) = (key("owner"), key("dependent"));
        let (lookup, graph) = (Counted(AtomicUsize::new(0)), Mutex::new(Graph::default()));
        let (of_owner, of_dependent) = (node("u", &[]), node("d", &[(&owner, "u")]));
        for (key, before, after) in [(&dependent, None, Some(&of_dependent)), (&owner, Some(&of_owner), None)]
        {
            graph.lock().unwrap().apply(Change { key, before, after }, &lookup);
        }
        lookup.0.store(0, Relaxed);
        let warned = Warned::default();
        for (uid, expected) in [("u", 0), ("never", 10), ("never", 10)] {
            assert!(!warned.is_elsewhere(&owner, &uid.into(), &graph, &lookup, &cx));
            assert_eq!(lookup.0.load(Relaxed), expected, "{uid}");
        }
    }
}
