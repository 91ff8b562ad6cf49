//! Tests of strategic merge patches. Cases that follow recorded answers of the reference server use the same
//! values.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    fixture::{BAG, WORKLOAD},
    json::{Limits, decode::decode_tree},
    tree::{arbitrary, arbitrary_of, at},
};

/// A workload with two containers and two volumes.
fn current() -> Tree {
    json!({"spec": {
        "nodeSelector": {"pub": "none"},
        "containers": [
            {"name": "one", "image": "i:1", "args": ["x", "y"],
             "ports": [{"containerPort": 80}, {"containerPort": 81, "name": "web"}],
             "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
            {"name": "two", "image": "i:2"},
        ],
        "volumes": [{"name": "v", "emptyDir": {}},
            {"name": "w", "configMap": {"name": "cfg", "defaultMode": 420}}],
        "strategy": {"type": "RollingUpdate", "maxUnavailable": 1},
    }})
}

/// Applies a patch of the spec and returns one part of the result's spec.
fn patched(patch: &Tree, part: &[&str]) -> Tree {
    let result = apply(&current(), &json!({"spec": patch}), &WORKLOAD).unwrap();
    at(&result["spec"], part).cloned().unwrap_or_default()
}

fn names(list: &Tree) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[test]
fn lists_of_objects_merge_by_key() {
    let by_name = patched(&json!({"containers": [{"name": "two", "image": "j:2"}]}), &["containers"]);
    assert_eq!(names(&by_name), ["one", "two"]);
    assert_eq!((&by_name[1]["image"], &by_name[0]["image"]), (&json!("j:2"), &json!("i:1")));

    let new = patched(&json!({"containers": [{"name": "three", "image": "i:3"}]}), &["containers"]);
    assert_eq!(names(&new), ["three", "one", "two"]);

    let one = |patch: Tree| {
        let mut patch = patch;
        patch["name"] = json!("one");
        patched(&json!({"containers": [patch]}), &["containers"])[0].clone()
    };
    assert_eq!(
        one(json!({"env": [{"name": "B", "value": "two"}, {"name": "C", "value": "3"}]}))["env"],
        json!([{"name": "A", "value": "1"}, {"name": "B", "value": "two"}, {"name": "C", "value": "3"}])
    );
    assert_eq!(
        one(json!({"ports": [{"containerPort": 80, "name": "http"}]}))["ports"],
        json!([{"containerPort": 80, "name": "http"}, {"containerPort": 81, "name": "web"}])
    );
    assert_eq!(
        one(json!({"ports": [{"containerPort": 82, "protocol": "UDP"}]}))["ports"],
        json!([{"containerPort": 82, "protocol": "UDP"}, {"containerPort": 80},
            {"containerPort": 81, "name": "web"}])
    );
    assert_eq!(one(json!({"args": ["z"]}))["args"], json!(["z"]));
    assert_eq!(one(json!({"args": null})).get("args"), None);
}

#[test]
fn items_are_deleted_and_lists_replaced_by_directive() {
    let containers = |patch: Tree| patched(&json!({"containers": patch}), &["containers"]);
    assert_eq!(names(&containers(json!([{"name": "two", "$patch": "delete"}]))), ["one"]);
    assert_eq!(names(&containers(json!([{"name": "zzz", "$patch": "delete"}]))), ["one", "two"]);
    let replaced = containers(json!([{"$patch": "replace"}, {"name": "only", "image": "k"}]));
    assert_eq!(replaced, json!([{"name": "only", "image": "k"}]));
    let nested = containers(json!([{"name": "one", "env": [{"$patch": "replace"}, {"name": "Z"}]}]));
    assert_eq!(nested[0]["env"], json!([{"name": "Z"}]));
    let moved = containers(json!([{"name": "one", "$patch": "delete"}, {"name": "one", "image": "new"}]));
    assert_eq!(moved, json!([{"name": "one", "image": "new"}, {"name": "two", "image": "i:2"}]));
}

#[test]
fn maps_are_merged_replaced_or_deleted() {
    let selector = |patch: Tree| patched(&json!({"nodeSelector": patch}), &["nodeSelector"]);
    assert_eq!(selector(json!({"q": "r"})), json!({"pub": "none", "q": "r"}));
    assert_eq!(selector(json!({"pub": null, "q": "r"})), json!({"q": "r"}));
    assert_eq!(selector(json!({"$patch": "replace", "b": "c"})), json!({"b": "c"}));
    assert_eq!(selector(json!({"$patch": "delete"})), json!({}));
    assert_eq!(patched(&json!({"tolerations": [{"name": "t"}]}), &["tolerations"]), json!([{"name": "t"}]));
}

#[test]
fn an_object_is_replaced_where_its_field_says_so() {
    let before = json!({"spec": {"podSelector": {"a": "b"}}});
    for (patch, expected) in [
        (json!({"q": "r", "n": null}), json!({"q": "r"})),
        (json!({}), json!({})),
        (json!({"$patch": "replace", "q": "r"}), json!({"q": "r"})),
    ] {
        let result = apply(&before, &json!({"spec": {"podSelector": patch}}), &WORKLOAD).unwrap();
        assert_eq!(result, json!({"spec": {"podSelector": expected}}));
    }
}

#[test]
fn what_was_absent_is_taken_without_directives_and_nulls() {
    let patch = json!({
        "nodeSelector": {"a": "b", "n": null},
        "containers": [{"name": "c", "env": [{"name": "E", "value": null}]},
            {"name": "d", "$patch": "delete"}],
        "strategy": {"$patch": "replace", "type": "T"},
        "reference": {"$patch": "delete"},
    });
    let result = apply(&json!({}), &json!({"spec": patch}), &WORKLOAD).unwrap();
    let expected = json!({"nodeSelector": {"a": "b"}, "containers": [{"name": "c", "env": [{"name": "E"}]}]});
    assert_eq!(result, json!({"spec": expected}));
}

#[test]
fn retained_keys_replace_a_union() {
    let patch = json!([{"name": "w", "$retainKeys": ["name", "emptyDir"], "emptyDir": {"medium": "Memory"}}]);
    assert_eq!(
        patched(&json!({"volumes": patch}), &["volumes"]),
        json!([{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {"medium": "Memory"}}])
    );
    assert_eq!(
        patched(&json!({"strategy": {"$retainKeys": ["type"], "type": "OnDelete"}}), &["strategy"]),
        json!({"type": "OnDelete"})
    );
    assert_eq!(
        patched(&json!({"strategy": {"type": "OnDelete"}}), &["strategy"]),
        json!({"type": "OnDelete", "maxUnavailable": 1})
    );
}

#[test]
fn lists_of_values_are_united_ordered_and_emptied() {
    // The finalizers of one secret, patch after patch, as recorded.
    let mut object = json!({"metadata": {"finalizers": ["a", "b"]}});
    let steps = [
        (json!({"finalizers": ["c", "a"]}), json!(["c", "a", "b"])),
        (
            json!({"$setElementOrder/finalizers": ["b", "a", "d"], "finalizers": ["d"]}),
            json!(["c", "b", "a", "d"]),
        ),
        (json!({"$deleteFromPrimitiveList/finalizers": ["a", "none"]}), json!(["c", "b", "d"])),
        (json!({"$deleteFromPrimitiveList/finalizers": ["b"], "finalizers": ["e"]}), json!(["e", "c", "d"])),
        (json!({"finalizers": []}), json!(["e", "c", "d"])),
        (json!({"finalizers": null}), Tree::Null),
        (json!({"$deleteFromPrimitiveList/finalizers": ["b"]}), Tree::Null),
        (json!({"finalizers": ["x", "x"]}), json!(["x", "x"])),
    ];
    for (patch, expected) in steps {
        object = apply(&object, &json!({"metadata": patch}), &BAG).unwrap();
        assert_eq!(object["metadata"].get("finalizers").cloned().unwrap_or_default(), expected, "{patch}");
    }
}

#[test]
fn an_order_is_set_for_lists_of_objects() {
    let order = |patch: Tree| {
        let containers = patched(&patch, &["containers"]);
        names(&containers).join(" ")
    };
    let wanted = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>();
    assert_eq!(
        order(
            json!({"$setElementOrder/containers": wanted(&["two", "one"]), "containers": [{"name": "one"}]})
        ),
        "two one"
    );
    assert_eq!(
        order(json!({
            "$setElementOrder/containers": wanted(&["three", "one", "two"]),
            "containers": [{"name": "three"}],
        })),
        "three one two"
    );
    assert_eq!(order(json!({"$setElementOrder/containers": wanted(&["two", "one"])})), "two one");
    assert_eq!(
        order(json!({
            "$setElementOrder/containers": wanted(&["two"]),
            "containers": [{"name": "two", "image": "x"}, {"name": "one", "$patch": "delete"}],
        })),
        "two"
    );
}

/// The names after a patch of the containers `c1 c2 c3`. `-c1` deletes; `wanted` is the order that is set.
fn reordered(change: &str, wanted: &str) -> String {
    let items = |names: &str| {
        let item = |name: &str| match name.strip_prefix('-') {
            Some(name) => json!({"name": name, "$patch": "delete"}),
            None => json!({"name": name}),
        };
        names.split(' ').map(item).collect::<Vec<_>>()
    };
    let current = json!({"spec": {"containers": items("c1 c2 c3")}});
    let patch = json!({"containers": items(change), "$setElementOrder/containers": items(wanted)});
    let result = apply(&current, &json!({"spec": patch}), &WORKLOAD).unwrap();
    names(&result["spec"]["containers"]).join(" ")
}

#[test]
fn an_item_that_takes_the_place_of_a_deleted_one_counts_as_the_servers() {
    // The answers are those of the reference server.
    for (change, wanted, expected) in [
        ("c4 c3 -c1", "c4 c3", "c2 c4 c3"),
        ("c4 -c1", "c4 c3", "c2 c4 c3"),
        ("c4 -c1", "c4", "c2 c3 c4"),
        ("-c2 c4", "c4 c3", "c1 c4 c3"),
        ("c4 -c2", "c3 c4", "c1 c3 c4"),
        ("c4 c5 -c1", "c4 c5", "c2 c3 c4 c5"),
        ("c5 c4 -c1", "c5 c4", "c2 c3 c5 c4"),
        ("c1 -c1", "c1", "c2 c3 c1"),
        ("c4 -c9", "c4", "c4 c1 c2 c3"),
        ("c4 -c1 -c2", "c4", "c3 c4"),
        ("c4", "c4 c3", "c4 c1 c2 c3"),
    ] {
        assert_eq!(reordered(change, wanted), expected, "{change}, in the order {wanted}");
    }
}

#[test]
fn errors_are_of_the_right_class() {
    use PatchError as E;
    let apply = |patch: Tree| apply(&current(), &json!({"spec": patch}), &WORKLOAD).unwrap_err();
    let malformed = [
        json!({"volumes": [{"name": "w", "$retainKeys": ["name"], "emptyDir": {}}]}),
        json!({"strategy": {"$retainKeys": "type"}}),
        json!({"$setElementOrder": []}),
        json!({"$deleteFromPrimitiveList": []}),
    ];
    for patch in malformed {
        assert!(matches!(apply(patch.clone()), E::Malformed(_)), "{patch}");
    }
    assert!(matches!(super::apply(&current(), &json!([]), &WORKLOAD), Err(E::Malformed(_))));
    let contradictions = [
        json!({"containers": ["x"]}),
        json!({"containers": [{"image": "x"}]}),
        json!({"containers": [{"$patch": "delete"}]}),
        json!({"$setElementOrder/containers": [{"name": "two"}], "containers": [{"name": "three"}]}),
        json!({
            "$setElementOrder/containers": [{"name": "a"}, {"name": "b"}],
            "containers": [{"name": "b"}, {"name": "a"}],
        }),
        json!({"$setElementOrder/containers": [{"image": "x"}]}),
        json!({"$setElementOrder/containers": ["x"]}),
        json!({"$setElementOrder/containers": "x"}),
        json!({"$patch": "other"}),
        json!({"$patch": 1}),
        json!({"$patch": "merge"}),
        json!({"containers": [{"name": "one", "$patch": "merge"}]}),
        json!({"containers": [{"name": "one", "$patch": "x"}]}),
    ];
    for patch in contradictions {
        assert!(matches!(apply(patch.clone()), E::Contradiction(_)), "{patch}");
    }
    assert_eq!(
        apply(json!({"containers": [{"image": "x"}]})).to_string(),
        "map: map[image:x] does not contain declared merge key: name"
    );
    assert_eq!(
        apply(json!({"$setElementOrder/containers": ["x"]})).to_string(),
        "value for key 0 is not a map"
    );
    let nested = super::apply(
        &json!({"metadata": {"finalizers": []}}),
        &json!({"metadata": {"finalizers": [["a"]]}}),
        &BAG,
    );
    assert_eq!(nested, Err(E::NotApplicable("lists of lists are not supported".to_owned())));
}

#[test]
fn what_the_type_does_not_know_is_merged_like_plain_json() {
    let current = json!({"any": {"a": {"b": 1}, "l": [1]}});
    let patch = json!({"any": {"a": {"c": 2}, "l": [2]}, "foo": {"x": 1}});
    assert_eq!(
        apply(&current, &patch, &BAG).unwrap(),
        json!({"any": {"a": {"b": 1, "c": 2}, "l": [2]}, "foo": {"x": 1}})
    );
    // A value of a wrong type is copied; reading the result against the type refuses it.
    let result = apply(&current, &json!({"data": "text"}), &BAG).unwrap();
    assert!(decode_tree(result, &BAG, &Limits::default()).is_err());
}

proptest! {
    #[test]
    fn arbitrary_patches_never_panic(current in arbitrary(), patch in arbitrary()) {
        for def in [&BAG, &WORKLOAD] {
            let _ = apply(&current, &patch, def);
        }
    }

    #[test]
    fn the_empty_patch_changes_nothing(current in arbitrary_of(&WORKLOAD)) {
        prop_assert_eq!(apply(&current, &json!({}), &WORKLOAD).unwrap(), current);
    }

    #[test]
    fn arranging_keeps_every_item_and_both_orders(
        server in prop::collection::hash_set(0_u8..12, 0..8),
        wanted in prop::collection::hash_set(0_u8..12, 0..8),
    ) {
        let server: Vec<u8> = server.into_iter().collect();
        let wanted: Vec<u8> = wanted.into_iter().collect();
        let finalizers: Vec<_> = server.iter().map(u8::to_string).collect();
        let current = json!({"metadata": {"finalizers": finalizers}});
        let patch = json!({"metadata": {"finalizers": wanted.iter().map(u8::to_string).collect::<Vec<_>>()}});
        let result = apply(&current, &patch, &BAG).unwrap();
        let result: Vec<u8> = at(&result, &["metadata", "finalizers"])
            .and_then(Tree::as_array)
            .into_iter()
            .flatten()
            .map(|name| name.as_str().unwrap().parse().unwrap())
            .collect();
        let of = |keep: &dyn Fn(&u8) -> bool| result.iter().copied().filter(keep).collect::<Vec<_>>();
        prop_assert_eq!(of(&|name| wanted.contains(name)), wanted.clone());
        let only_server: Vec<u8> = server.iter().copied().filter(|name| !wanted.contains(name)).collect();
        prop_assert_eq!(of(&|name| !wanted.contains(name)), only_server);
    }
}
