//! Which pods and revisions belong to a daemon set. One whose controller is the set belongs to it while the
//! selector matches; one that has no controller and is matched is taken.

use orch_meta::meta::v1::{LabelSelector, OwnerReference};
use orch_runtime::Tree;
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

impl Owner<'_> {
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
    use serde_json::from_value;

    use super::*;

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
