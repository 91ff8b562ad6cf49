//! Tests of JSON patches: the examples of the RFC, what the reference server accepts besides, the limits.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tree::arbitrary;

fn apply(current: &Tree, patch: &Tree) -> Result<Tree, PatchError> {
    let limits = JsonPatchLimits::default();
    JsonPatch::parse(patch.to_string().as_bytes(), &Limits::default(), &limits)?.apply(current, &limits)
}

#[test]
fn operations_do_what_the_rfc_says() {
    let cases = [
        (json!({"a": 1}), json!([{"op": "add", "path": "/b", "value": [2]}]), json!({"a": 1, "b": [2]})),
        (
            json!({"l": ["x", "y"]}),
            json!([{"op": "add", "path": "/l/1", "value": "z"}]),
            json!({"l": ["x", "z", "y"]}),
        ),
        (json!({"l": ["x"]}), json!([{"op": "add", "path": "/l/-", "value": "y"}]), json!({"l": ["x", "y"]})),
        (json!({"l": ["x"]}), json!([{"op": "add", "path": "/l/1", "value": "y"}]), json!({"l": ["x", "y"]})),
        (
            json!({"l": ["x"]}),
            json!([{"op": "add", "path": "/l/-1", "value": "y"}]),
            json!({"l": ["x", "y"]}),
        ),
        (json!({"l": ["x", "y"]}), json!([{"op": "remove", "path": "/l/-1"}]), json!({"l": ["x"]})),
        (
            json!({"l": [{"k": 1}]}),
            json!([{"op": "replace", "path": "/l/-1/k", "value": 2}]),
            json!({"l": [{"k": 2}]}),
        ),
        (json!({"a": 1, "b": 2}), json!([{"op": "remove", "path": "/b"}]), json!({"a": 1})),
        (json!({"a": 1}), json!([{"op": "replace", "path": "/a", "value": null}]), json!({"a": null})),
        (
            json!({"a": 1}),
            json!([{"op": "replace", "path": "/none", "value": 2}]),
            json!({"a": 1, "none": 2}),
        ),
        (json!({"a": 1}), json!([{"op": "move", "from": "/a", "path": "/b"}]), json!({"b": 1})),
        (
            json!({"l": ["x", "y"]}),
            json!([{"op": "move", "from": "/l/1", "path": "/l/0"}]),
            json!({"l": ["y", "x"]}),
        ),
        (
            json!({"a": {"x": 1}}),
            json!([{"op": "copy", "from": "/a", "path": "/b"}]),
            json!({"a": {"x": 1}, "b": {"x": 1}}),
        ),
        (
            json!({"a": {"x": 1}}),
            json!([{"op": "copy", "from": "/a/none", "path": "/b"}]),
            json!({"a": {"x": 1}, "b": null}),
        ),
        (json!({"a": 1}), json!([{"op": "test", "path": "/a", "value": 1}]), json!({"a": 1})),
        (json!({"a": 1}), json!([{"op": "test", "path": "/none", "value": null}]), json!({"a": 1})),
        (json!({"a": 1}), json!(null), json!({"a": 1})),
        // What is a number with a fraction is read, and may be expected, as a whole one.
        (
            json!({"a": [{"b": 300.0}]}),
            json!([{"op": "test", "path": "/a", "value": [{"b": 300}]}]),
            json!({"a": [{"b": 300.0}]}),
        ),
        (json!({"a": 1}), json!([{"op": "add", "path": "/b"}]), json!({"a": 1, "b": null})),
        (json!({"a": 1}), json!([{"op": "test", "path": "", "value": {"a": 1}}]), json!({"a": 1})),
        (json!({"a": 1}), json!([{"op": "replace", "path": "", "value": {"b": 1}}]), json!({"b": 1})),
        (json!({"a": 1}), json!([{"op": "replace", "path": "", "value": 5}]), json!({"a": 1})),
        (json!({"a": 1}), json!([{"op": "add", "path": "x/b", "value": 2}]), json!({"a": 1, "b": 2})),
        (
            json!({"m": {}}),
            json!([{"op": "add", "path": "/m/example.com~1k", "value": "v"},
                {"op": "add", "path": "/m/t~0x", "value": 1}]),
            json!({"m": {"example.com/k": "v", "t~x": 1}}),
        ),
        (json!({"a": 1}), json!([]), json!({"a": 1})),
    ];
    for (current, patch, expected) in cases {
        assert_eq!(apply(&current, &patch), Ok(expected), "{current} + {patch}");
    }
}

#[test]
fn what_does_not_fit_is_not_applicable() {
    let current = json!({"a": {"b": 1}, "l": ["x"], "s": "text"});
    let cases = [
        json!({"op": "test", "path": "/a/b", "value": 2}),
        json!({"op": "test", "path": "/a/b", "value": 1.0}),
        json!({"op": "test", "path": "/none/x", "value": null}),
        json!({"op": "test", "path": "/l/5", "value": null}),
        json!({"op": "remove", "path": "/none"}),
        json!({"op": "remove", "path": ""}),
        json!({"op": "remove", "path": "/l/1"}),
        json!({"op": "remove", "path": "/l/-2"}),
        json!({"op": "remove", "path": "/l/x"}),
        json!({"op": "add", "path": "/none/k", "value": 1}),
        json!({"op": "add", "path": "/l/9", "value": 1}),
        json!({"op": "add", "path": "/s/k", "value": 1}),
        json!({"op": "add", "path": "", "value": {}}),
        json!({"op": "add", "path": "a", "value": 1}),
        json!({"op": "add", "value": 1}),
        json!({"op": "replace", "path": "/l/1", "value": 1}),
        json!({"op": "replace", "path": "/none/k", "value": 1}),
        json!({"op": "move", "from": "/none", "path": "/b"}),
        json!({"op": "move", "from": "/a", "path": "/a/c"}),
        json!({"op": "move", "path": "/b"}),
        json!({"op": "copy", "from": "/none/below", "path": "/b"}),
        json!({"op": "copy", "from": "/l/5", "path": "/b"}),
        json!({"op": "merge", "path": "/a", "value": 1}),
        json!({"path": "/a"}),
        json!({"op": null, "path": "/a"}),
        json!(null),
    ];
    for operation in cases {
        let result = apply(&current, &json!([{"op": "add", "path": "/z", "value": 1}, operation]));
        assert!(matches!(result, Err(PatchError::NotApplicable(_))), "{operation}: {result:?}");
    }
    let error = apply(&current, &json!([{"op": "add", "path": "/none/k", "value": 1}])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "add operation does not apply: doc is missing path: \"/none/k\": missing value"
    );
    let error = apply(&current, &json!([{"op": "test", "path": "/a/b", "value": 2}])).unwrap_err();
    assert_eq!(error.to_string(), "testing value /a/b failed: test failed");
}

#[test]
fn malformed_documents_are_told_apart() {
    let prefix = "error decoding patch: json: cannot unmarshal";
    for (patch, expected) in [
        (json!({"op": "add"}), "object into Go value of type []handlers.jsonPatchOp"),
        (json!("x"), "string into Go value of type []handlers.jsonPatchOp"),
        (json!([1]), "number into Go value of type handlers.jsonPatchOp"),
        (json!([{"op": 1, "path": "/a"}]), "number into Go struct field jsonPatchOp.op of type string"),
        (
            json!([{"op": "move", "path": "/a", "from": []}]),
            "array into Go struct field jsonPatchOp.from of type string",
        ),
    ] {
        let expected = PatchError::Malformed(format!("{prefix} {expected}"));
        assert_eq!(apply(&json!({}), &patch), Err(expected), "{patch}");
    }
    let limits = JsonPatchLimits::default();
    assert!(matches!(JsonPatch::parse(b"[", &Limits::default(), &limits), Err(PatchError::Malformed(_))));
}

#[test]
fn an_unchecked_patch_is_read_operation_by_operation() {
    let limits = JsonPatchLimits::default();
    let read = |text: &str| JsonPatch::parse_unchecked(text.as_bytes(), &Limits::default(), &limits);
    for (text, expected) in [
        ("{}", "object into Go value of type jsonpatch.Patch"),
        ("[5]", "number into Go value of type jsonpatch.Operation"),
    ] {
        let expected = PatchError::Malformed(format!("json: cannot unmarshal {expected}"));
        assert_eq!(read(text), Err(expected), "{text}");
    }
    let unused = read(r#"[{"op":"add","path":"/a","from":5,"value":1}]"#).unwrap();
    assert_eq!(unused.apply(&json!({}), &limits), Ok(json!({"a": 1})));
    let wrong = read(r#"[{"op":5,"path":"/a","value":1}]"#).unwrap();
    assert!(matches!(wrong.apply(&json!({}), &limits), Err(PatchError::NotApplicable(_))));
}

#[test]
fn strict_reports_name_the_operation() {
    let patch = br#"[{"op":"add","op":"add","path":"/a","value":{"x":{"y":1,"y":2}}},
        {"op":"remove","path":"/a","foo":1},{"op":"remove","path":"/a","path":"/a"}]"#;
    let patch = JsonPatch::parse(patch, &Limits::default(), &JsonPatchLimits::default()).unwrap();
    assert_eq!(
        patch.strict().collect::<Vec<_>>(),
        [
            r#"json patch duplicate field "[0].op""#,
            r#"json patch unknown field "[1].foo""#,
            r#"json patch duplicate field "[2].path""#
        ]
    );
}

#[test]
fn operations_and_copies_are_bounded() {
    let many: Vec<Tree> = (0..10_001).map(|_| json!({"op": "test", "path": "/a"})).collect();
    let error = apply(&json!({}), &Tree::Array(many)).unwrap_err();
    assert_eq!(error, PatchError::TooManyOperations { max: 10_000, got: 10_001 });
    assert_eq!(error.to_string(), "The allowed maximum operations in a JSON patch is 10000, got 10001");

    // Each copy doubles the document.
    let bomb: Vec<Tree> =
        (0..64).map(|n| json!({"op": "copy", "from": "/a", "path": format!("/a/{n}")})).collect();
    let result = apply(&json!({"a": {"x": "0123456789"}}), &Tree::Array(bomb));
    assert!(matches!(result, Err(PatchError::TooLarge(_))), "{result:?}");

    let limits = JsonPatchLimits { max_moved: 100, ..JsonPatchLimits::default() };
    let shift = json!([{"op": "add", "path": "/l/0", "value": 0}, {"op": "remove", "path": "/l/0"}]);
    let shift = JsonPatch::parse(shift.to_string().as_bytes(), &Limits::default(), &limits).unwrap();
    assert!(shift.apply(&json!({"l": vec![0; 40]}), &limits).is_ok());
    assert!(matches!(shift.apply(&json!({"l": vec![0; 60]}), &limits), Err(PatchError::TooLarge(_))));
}

#[test]
fn depth_is_bounded_across_operations() {
    let nest = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"a": inner}));
    let deep_path = "/a".repeat(100);
    // Adds a deep value at a deep level, step by step.
    let patch = json!([{"op": "add", "path": format!("{deep_path}/b"), "value": nest(100)}]);
    assert!(matches!(apply(&nest(100), &patch), Err(PatchError::NotApplicable(_))));
    let patch = json!([{"op": "move", "from": "/b", "path": format!("{deep_path}/b")}]);
    let mut current = nest(100);
    current["b"] = nest(100);
    assert!(matches!(apply(&current, &patch), Err(PatchError::NotApplicable(_))));
    current["b"] = nest(20);
    assert!(apply(&current, &patch).is_ok());
}

proptest! {
    #[test]
    fn a_value_that_was_added_is_there(value in arbitrary(), name in "[a-c/~]{1,3}") {
        let path = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        let patch = json!([{"op": "add", "path": path, "value": value},
            {"op": "test", "path": path, "value": value}]);
        prop_assert_eq!(apply(&json!({}), &patch).unwrap(), json!({name: value}));
    }

    #[test]
    fn adding_and_removing_is_nothing(items in prop::collection::vec(any::<u8>(), 0..6), at in 0_usize..6) {
        let current = json!({"l": items});
        let path = format!("/l/{}", at.min(items.len()));
        let patch = json!([{"op": "add", "path": path, "value": "x"}, {"op": "remove", "path": path}]);
        prop_assert_eq!(apply(&current, &patch).unwrap(), current);
    }

    #[test]
    fn arbitrary_patches_never_panic(
        current in arbitrary(),
        operations in prop::collection::vec(
            ("(add|remove|replace|move|copy|test|x)", "(/[ab0-9-]{0,2}){0,3}", "(/[ab0-9-]{0,2}){0,3}",
                arbitrary()),
            0..6,
        ),
    ) {
        let patch: Vec<Tree> = operations
            .into_iter()
            .map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}))
            .collect();
        let _ = apply(&current, &Tree::Array(patch));
    }
}
