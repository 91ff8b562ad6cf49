//! Finding objects by their controller: the owner that an object names as the one that manages it. What has
//! no controller is found too, so that a controller can take it.
//!
//! This is a term of the store's index, for kinds whose behaviour asks for it
//! ([`Behaviour::is_found_by_controller`](crate::behaviour::Behaviour::is_found_by_controller)).

use std::sync::Arc;

use orch_runtime::Tree;
use orch_storage::{Object, Scope, Snapshot, Term};

use crate::{claims::FIRST_INDEX, stored};

/// The last number before those of claims.
const INDEX: u16 = FIRST_INDEX - 1;

/// The objects in a scope whose controller has this uid; those without a controller where it is empty. None
/// of a kind that is not found in this way.
pub fn controlled_by<'s>(
    snapshot: &'s Snapshot,
    uid: &'s str,
    scope: &'s Scope,
) -> impl Iterator<Item = &'s Arc<Object>> {
    snapshot.with_term(INDEX, uid, scope, None)
}

/// The term of a stored object; `None` where it cannot be read.
pub(super) fn term(value: &[u8]) -> Option<Term> {
    let mut uid = String::new();
    // Most objects that people make have no owners, and to see that costs a small part of reading them.
    if stored::mentions(value, "ownerReferences") {
        let owners = stored::values_at(value, &[&["metadata", "ownerReferences"]]).ok()?.pop().flatten();
        let owners = owners.as_ref().and_then(Tree::as_array).into_iter().flatten();
        let controller = owners.filter(|owner| owner["controller"] == true).find_map(|it| it["uid"].as_str());
        controller.unwrap_or_default().clone_into(&mut uid);
    }
    Some(Term { index: INDEX, value: uid.into() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_term_of_an_object_is_its_controller() {
        let (owner, controller) = (json!({"uid": "a"}), json!({"uid": "b", "controller": true}));
        for (object, expected) in [
            (json!({"metadata": {}}), ""),
            (json!({"metadata": {"ownerReferences": []}}), ""),
            (json!({"metadata": {"ownerReferences": [owner]}}), ""),
            (json!({"metadata": {"ownerReferences": [owner, controller]}}), "b"),
            (json!({"metadata": {}, "spec": {"ownerReferences": [controller]}}), ""),
        ] {
            let found = term(object.to_string().as_bytes()).unwrap();
            assert_eq!((found.index, &*found.value), (INDEX, expected), "{object}");
        }
        assert_eq!(term(br#"{"ownerReferences":"#), None);
    }
}
