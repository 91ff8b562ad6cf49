//! Which pods and revisions belong to a daemon set. One whose controller is the set belongs to it while the
//! selector matches; one that has no controller and is matched is taken.

use std::sync::Arc;

use orch_meta::meta::v1::{LabelSelector, OwnerReference};
use orch_registry::read::controlled::controlled_by;
use orch_runtime::Tree;
use orch_storage::{Object, Scope, Snapshot};
use serde_json::json;

use super::view::OwnedView;

/// A set, as far as it decides what belongs to it.
#[derive(Debug)]
pub(super) struct Owner<'s> {
    pub(super) uid: &'s str,
    pub(super) selector: &'s LabelSelector,
}

/// What a set has to do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// It belongs to the set.
    Owned,
    /// It belongs to nobody: the set takes it.
    Adopted,
    /// It belongs to the set, which does not select it any more.
    Released,
    /// It is another's.
    Other,
}

impl<'s> Owner<'s> {
    /// The only objects with which the set can have something to do: its own, and those of nobody.
    pub(super) fn candidates(
        &self,
        snapshot: &'s Snapshot,
        namespace: &'s Scope,
    ) -> impl Iterator<Item = &'s Arc<Object>> + use<'s> {
        let own = controlled_by(snapshot, self.uid, namespace);
        own.chain(controlled_by(snapshot, "", namespace))
    }

    pub(super) fn claim(&self, object: &OwnedView) -> Claim {
        let is_selected = || self.selector.selects(&object.labels);
        match &object.controller {
            Some(controller) if controller != self.uid => Claim::Other,
            Some(_) if is_selected() => Claim::Owned,
            Some(_) => Claim::Released,
            // What is on its way out is not worth a write.
            None if !object.is_terminating && is_selected() => Claim::Adopted,
            None => Claim::Other,
        }
    }

    /// The strategic merge patch that makes the object with that uid belong to the set, or no longer.
    pub(super) fn patch(&self, claim: Claim, reference: &OwnerReference, uid: &str) -> Tree {
        let entry = if claim == Claim::Released {
            json!({"$patch": "delete", "uid": self.uid})
        } else {
            json!(reference)
        };
        // The uid makes sure that it is still the object that was looked at.
        json!({"metadata": {"uid": uid, "ownerReferences": [entry]}})
    }
}

#[cfg(test)]
mod tests {
    use orch_api::{apps::v1::ControllerRevision, core::v1::Pod};
    use serde_json::from_value;

    use super::*;
    use crate::fixture::{Fixture, NAMESPACE};

    #[test]
    fn a_set_takes_what_it_selects_and_nobody_has() {
        let selector: LabelSelector = from_value(json!({"matchLabels": {"app": "a"}})).unwrap();
        let owner = Owner { uid: "u", selector: &selector };
        let controlled = |uid: &str| Some(uid.to_owned());
        for (controller, app, is_terminating, expected) in [
            (controlled("u"), "a", false, Claim::Owned),
            (controlled("u"), "a", true, Claim::Owned),
            (controlled("u"), "b", false, Claim::Released),
            (controlled("v"), "a", false, Claim::Other),
            (None, "a", false, Claim::Adopted),
            (None, "a", true, Claim::Other),
            (None, "b", false, Claim::Other),
        ] {
            let labels = [("app".to_owned(), app.to_owned())].into();
            let object = OwnedView { uid: "p".to_owned(), labels, controller, is_terminating };
            assert_eq!(owner.claim(&object), expected, "{object:?}");
        }
    }

    /// Many others have pods in the namespace, and revisions that nobody selects.
    #[tokio::test]
    async fn a_set_looks_at_its_own_and_at_those_of_nobody() {
        let fixture = Fixture::new().await;
        let spec = json!({"containers": [{"name": "c", "image": "i"}]});
        let metadata = |name: &str, kind: &str, uid: &str| {
            let owner =
                json!({"apiVersion": "apps/v1", "kind": kind, "name": "o", "uid": uid, "controller": true});
            let owners = if uid.is_empty() { json!([]) } else { json!([owner]) };
            json!({"name": name, "namespace": NAMESPACE, "ownerReferences": owners})
        };
        let mut number = 0;
        for (kind, uid, how_many) in
            [("ReplicaSet", "r", 300), ("DaemonSet", "u", 3), ("DaemonSet", "v", 100), ("", "", 2)]
        {
            for _ in 0..how_many {
                number += 1;
                let metadata = metadata(&format!("o{number}"), kind, uid);
                fixture.create::<Pod>(json!({"metadata": metadata, "spec": spec})).await;
                let revision = json!({"metadata": metadata, "revision": 1, "data": {}});
                fixture.create::<ControllerRevision>(revision).await;
            }
        }
        let (selector, scope) = (LabelSelector::default(), Scope::Namespace(NAMESPACE.into()));
        let owner = Owner { uid: "u", selector: &selector };
        for resource in [fixture.resource::<Pod>(), fixture.resource::<ControllerRevision>()] {
            let snapshot = fixture.client.snapshot(resource);
            assert_eq!((snapshot.len(), owner.candidates(&snapshot, &scope).count()), (405, 5));
        }
    }

    #[test]
    fn patches_name_the_object_that_was_looked_at() {
        let selector = LabelSelector::default();
        let owner = Owner { uid: "u", selector: &selector };
        let reference = OwnerReference { uid: "u".to_owned(), ..OwnerReference::default() };
        let released = owner.patch(Claim::Released, &reference, "p");
        let entry = json!({"$patch": "delete", "uid": "u"});
        assert_eq!(released, json!({"metadata": {"uid": "p", "ownerReferences": [entry]}}));
        let adopted = owner.patch(Claim::Adopted, &reference, "p");
        assert_eq!(adopted["metadata"]["ownerReferences"][0]["uid"], "u");
    }
}
