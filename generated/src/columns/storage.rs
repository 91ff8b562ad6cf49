//! Storage drivers and classes.

use orch_runtime::{Tree, resource_def::CellContext};

use super::{items, text};

/// The audiences of the tokens that a driver is given: `a,b`.
pub fn csi_driver_token_requests(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    let audiences: Vec<&str> =
        items(tree, "/spec/tokenRequests").map(|request| text(request, "/audience")).collect();
    audiences.join(",").into()
}

/// The class's name, and whether it is the one of claims that name none: `fast (default)`.
pub fn storage_class_name(tree: &Tree, context: &CellContext<'_>) -> Tree {
    let name = text(tree, "/metadata/name");
    let annotations = tree.pointer("/metadata/annotations").and_then(Tree::as_object);
    let is_default = ["", "beta."].into_iter().any(|stage| {
        let key = format!("storageclass.{stage}{}/is-default-class", context.vocabulary.label_domain);
        annotations.and_then(|annotations| annotations.get(&key)).and_then(Tree::as_str) == Some("true")
    });
    if is_default { format!("{name} (default)").into() } else { name.into() }
}

/// Whether volumes of the class may grow.
pub fn storage_class_expansion(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    tree.get("allowVolumeExpansion").and_then(Tree::as_bool).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use orch_runtime::scalar::Time;
    use serde_json::json;

    use super::*;
    use crate::KUBERNETES;

    fn context() -> CellContext<'static> {
        CellContext { vocabulary: &KUBERNETES, now: Time::from_unix_seconds(0) }
    }

    #[test]
    fn audiences_are_listed() {
        for (requests, expected) in
            [(json!([]), ""), (json!([{"audience": "a"}, {"audience": ""}, {"audience": "b"}]), "a,,b")]
        {
            let tree = json!({"spec": {"tokenRequests": requests}});
            assert_eq!(csi_driver_token_requests(&tree, &context()), expected);
        }
    }

    #[test]
    fn classes_tell_whether_they_are_the_default() {
        for (annotations, expected) in [
            (json!(null), "fast"),
            (json!({"storageclass.kubernetes.io/is-default-class": "true"}), "fast (default)"),
            (json!({"storageclass.beta.kubernetes.io/is-default-class": "true"}), "fast (default)"),
            (json!({"storageclass.kubernetes.io/is-default-class": "yes"}), "fast"),
            (json!({"storageclass.orch.io/is-default-class": "true"}), "fast"),
        ] {
            let tree = json!({"metadata": {"name": "fast", "annotations": annotations}});
            assert_eq!(storage_class_name(&tree, &context()), expected);
        }
        assert_eq!(storage_class_expansion(&json!({}), &context()), json!(false));
        assert_eq!(storage_class_expansion(&json!({"allowVolumeExpansion": true}), &context()), json!(true));
    }
}
