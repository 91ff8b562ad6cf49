//! `Binding`: its target is a node. The pod may be missing: the rules come first.

use serde_json::json;

use crate::ask::errors;

pub fn the_target_is_a_node() {
    for (tree, expected) in [
        (json!({}), vec!["target.name: Required value"]),
        (json!({"target": {"kind": "Node"}}), vec!["target.name: Required value"]),
        (
            json!({"target": {"kind": "Pod", "name": "n"}}),
            vec![r#"target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>""#],
        ),
    ] {
        assert_eq!(errors("Binding", &tree), expected, "{tree}");
    }
}
