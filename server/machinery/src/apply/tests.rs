//! Tests of apply. The cases follow recorded answers of the reference server.

use proptest::prelude::*;
use serde_json::json;

use super::{fields::fields_of, merge::merge, *};
use crate::{
    fieldset::FieldSet,
    fixture::{BAG, WORKLOAD},
    json::{Limits, decode::decode_tree},
    managed_fields::{Write, parse_entries, track_create, track_update},
    meta::{Meta, metadata_mut},
    tree::{arbitrary, arbitrary_of},
};
use orch_runtime::{Tree, type_def::TypeDef};

fn write<'a>(manager: &'a str, time: &'a str) -> Write<'a> {
    Write { manager, api_version: "v1", subresource: "", time, reset: &[], lost_managers: false }
}

fn empty() -> Tree {
    json!({"metadata": {}})
}

/// The result of an apply, with the merged tree read by its type as the server does.
fn applied(
    live: &Tree,
    manager: &str,
    force: bool,
    config: &Tree,
    def: &'static TypeDef,
) -> Result<Tree, ApplyError> {
    let application = Application { write: write(manager, "t"), force, config };
    let merged = apply(&application, &empty(), live, def)?;
    Ok(decode_tree(merged, def, &Limits::default()).unwrap().tree)
}

fn new(def: &TypeDef) -> Tree {
    json!({"kind": def.short_name, "apiVersion": "v1"})
}

fn bag(data: &Tree) -> Tree {
    json!({"kind": "Bag", "apiVersion": "v1", "metadata": {"name": "a"}, "data": data})
}

fn workload(spec: &Tree) -> Tree {
    json!({"kind": "Workload", "apiVersion": "v1", "metadata": {"name": "w"}, "spec": spec})
}

/// `(manager, fields)` of every entry.
fn owners(tree: &Tree) -> Vec<(&str, Tree)> {
    let entries = Meta::of(tree).managed_fields().iter();
    entries.map(|entry| (entry["manager"].as_str().unwrap(), entry["fieldsV1"].clone())).collect()
}

fn conflict_text(result: Result<Tree, ApplyError>) -> String {
    match result {
        Err(ApplyError::Conflicts(conflicts)) => conflicts.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn fields_are_shared_taken_over_and_given_up() {
    let one = applied(&new(&BAG), "one", false, &bag(&json!({"k": "1", "l": "1"})), &BAG).unwrap();
    assert_eq!(owners(&one), [("one", json!({"f:data": {"f:k": {}, "f:l": {}}}))]);
    let one = applied(&one, "one", false, &bag(&json!({"k": "2"})), &BAG).unwrap();
    assert_eq!(one["data"], json!({"k": "2"}));
    let two = applied(&one, "two", false, &bag(&json!({"m": "1", "k": "2"})), &BAG).unwrap();
    assert_eq!(
        owners(&two),
        [("one", json!({"f:data": {"f:k": {}}})), ("two", json!({"f:data": {"f:k": {}, "f:m": {}}}))]
    );
    let three = bag(&json!({"k": "3"}));
    assert_eq!(
        conflict_text(applied(&two, "three", false, &three, &BAG)),
        "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.k\n\
         conflicts with \"two\":\n- .data.k"
    );
    assert_eq!(
        conflict_text(applied(&two, "one", false, &three, &BAG)),
        "Apply failed with 1 conflict: conflict with \"two\": .data.k"
    );
    let forced = applied(&two, "three", true, &three, &BAG).unwrap();
    assert_eq!(
        owners(&forced),
        [("three", json!({"f:data": {"f:k": {}}})), ("two", json!({"f:data": {"f:m": {}}}))]
    );
    let gone = applied(&forced, "three", false, &new(&BAG), &BAG).unwrap();
    assert_eq!(gone["data"], json!({"m": "1"}));
    let nothing = applied(&gone, "two", false, &new(&BAG), &BAG).unwrap();
    assert_eq!(nothing.get("data"), None);
    assert_eq!(Meta::of(&nothing).managed_fields(), [] as [Tree; 0]);
}

#[test]
fn an_untracked_object_conflicts() {
    let live = bag(&json!({"u": "1"}));
    let config = bag(&json!({"u": "2"}));
    assert_eq!(
        conflict_text(applied(&live, "one", false, &config, &BAG)),
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.u"
    );
    let forced = applied(&live, "one", true, &config, &BAG).unwrap();
    assert_eq!(
        owners(&forced),
        [("one", json!({"f:data": {"f:u": {}}})), ("before-first-apply", json!({"f:data": {}}))]
    );
    // What managers of versions that are gone owned belongs to nobody.
    let write = Write { lost_managers: true, ..write("one", "2026-01-02T00:00:00Z") };
    let application = Application { write, force: false, config: &config };
    let taken = apply(&application, &empty(), &live, &BAG).unwrap();
    assert_eq!(owners(&taken), [("one", json!({"f:data": {"f:u": {}}}))]);
}

#[test]
fn lists_merge_by_their_semantics() {
    let config = |finalizers: Tree| {
        let metadata = json!({"name": "w", "finalizers": finalizers});
        json!({"kind": "Workload", "apiVersion": "v1", "metadata": metadata})
    };
    let one = applied(&new(&WORKLOAD), "one", false, &config(json!(["a"])), &WORKLOAD).unwrap();
    let two = applied(&one, "two", false, &config(json!(["b"])), &WORKLOAD).unwrap();
    assert_eq!(two["metadata"]["finalizers"], json!(["a", "b"]));
    let two = applied(&two, "two", false, &config(json!(["a", "c"])), &WORKLOAD).unwrap();
    assert_eq!(two["metadata"]["finalizers"], json!(["a", "c"]));
    let two = applied(&two, "one", false, &config(json!([])), &WORKLOAD).unwrap();
    assert_eq!(two["metadata"]["finalizers"], json!(["a", "c"]));
    assert_eq!(
        owners(&two),
        [("two", json!({"f:metadata": {"f:finalizers": {"v:\"a\"": {}, "v:\"c\"": {}}}}))]
    );

    let spec = |container: Tree| workload(&json!({"containers": [container]}));
    let first = spec(json!({"name": "c", "image": "i", "args": ["x"], "ports": [{"containerPort": 80}]}));
    let one = applied(&new(&WORKLOAD), "one", false, &first, &WORKLOAD).unwrap();
    assert_eq!(
        owners(&one)[0].1,
        json!({"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {
            ".": {}, "f:args": {}, "f:image": {}, "f:name": {},
            "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}},
        }}}})
    );
    for (config, field) in [
        (json!({"name": "c", "image": "other"}), ".spec.containers[name=\"c\"].image"),
        (json!({"name": "c", "args": ["x", "y"]}), ".spec.containers[name=\"c\"].args"),
    ] {
        assert_eq!(
            conflict_text(applied(&one, "two", false, &spec(config), &WORKLOAD)),
            format!("Apply failed with 1 conflict: conflict with \"one\": {field}")
        );
    }
    let defaulted = decode_tree(
        {
            let mut tree = one;
            tree["spec"]["containers"][0]["ports"][0]["protocol"] = json!("TCP");
            tree
        },
        &WORKLOAD,
        &Limits::default(),
    )
    .unwrap()
    .tree;
    let udp = spec(json!({"name": "c", "ports": [{"containerPort": 80, "protocol": "UDP"}]}));
    let two = applied(&defaulted, "two", false, &udp, &WORKLOAD).unwrap();
    assert_eq!(
        two["spec"]["containers"][0]["ports"],
        json!([{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "UDP"}])
    );
    let two = applied(&two, "two", false, &spec(json!({"name": "side"})), &WORKLOAD).unwrap();
    assert_eq!(two["spec"]["containers"][0]["ports"], json!([{"containerPort": 80, "protocol": "TCP"}]));
    assert_eq!(two["spec"]["containers"][1], json!({"name": "side"}));
}

#[test]
fn merged_lists_keep_the_order_of_both() {
    let order = |live: &[&str], config: &[&str]| {
        let list = |names: &[&str]| {
            workload(
                &json!({"containers": names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>()}),
            )
        };
        let merged = merge(list(live), &list(config), &WORKLOAD);
        let items = merged["spec"]["containers"].as_array().unwrap();
        items.iter().map(|item| item["name"].as_str().unwrap()).collect::<String>()
    };
    for (live, config, expected) in [
        (&["a", "b", "c"][..], &["b"][..], "abc"),
        (&["a", "b", "c"], &["c", "a"], "bca"),
        (&["a"], &["x", "y"], "axy"),
        (&["a", "b"], &["x", "b"], "axb"),
        (&["a", "b"], &["b", "x"], "abx"),
        (&["s", "a", "t"], &["x", "a", "y"], "sxaty"),
        (&["a", "b", "c", "d"], &["d", "b", "x"], "acdbx"),
        (&["a", "a", "b"], &["a"], "ab"),
    ] {
        assert_eq!(order(live, config), expected, "{live:?} {config:?}");
    }
}

#[test]
fn items_that_the_live_list_has_twice_are_not_merged() {
    let live = workload(&json!({"containers": [
        {"name": "a", "image": "i"}, {"name": "a", "image": "j"}, {"name": "b", "image": "k"}]}));
    let config = workload(&json!({"containers": [{"name": "a"}, {"name": "b"}]}));
    assert_eq!(
        merge(live, &config, &WORKLOAD)["spec"]["containers"],
        json!([{"name": "a"}, {"name": "b", "image": "k"}])
    );
}

#[test]
fn conflicts_are_told_in_order() {
    let data = bag(&json!({"k": "1"}));
    let one = applied(&new(&BAG), "m", false, &data, &BAG).unwrap();
    let two = applied(&one, "m x", false, &data, &BAG).unwrap();
    assert_eq!(
        conflict_text(applied(&two, "other", false, &bag(&json!({"k": "2"})), &BAG)),
        "Apply failed with 2 conflicts: conflicts with \"m x\":\n- .data.k\nconflicts with \"m\":\n- .data.k"
    );

    let ports = |name: &str| {
        let ports = [80, 443].map(|port| json!({"containerPort": port, "name": format!("{name}{port}")}));
        workload(&json!({"containers": [{"name": "c", "ports": ports}]}))
    };
    let one = applied(&new(&WORKLOAD), "one", false, &ports("a"), &WORKLOAD).unwrap();
    let port =
        |port| format!(".spec.containers[name=\"c\"].ports[containerPort={port},protocol=\"TCP\"].name");
    assert_eq!(
        conflict_text(applied(&one, "two", false, &ports("b"), &WORKLOAD)),
        format!("Apply failed with 2 conflicts: conflicts with \"one\":\n- {}\n- {}", port(80), port(443))
    );
}

#[test]
fn what_does_not_fit_the_type_is_reported() {
    let cases = [
        (json!({"foo": 1}), ".foo: field not declared in schema"),
        (json!({"data": {"k": 5}}), ".data.k: expected string, got &value.valueUnstructured{Value:5}"),
        (json!({"data": []}), ".data: expected map, got &{[]}"),
        (json!({"immutable": "x"}), ".immutable: expected boolean, got &{x}"),
        (
            json!({"metadata": {"finalizers": [[], {}]}}),
            ".metadata.finalizers: element 0: not supported: associative list with lists as elements",
        ),
        (
            json!({"metadata": {"finalizers": ["d", "d"]}}),
            ".metadata.finalizers: duplicate entries for key [=\"d\"]",
        ),
        (
            json!({"a": 1, "b": 2}),
            "errors:\n  .a: field not declared in schema\n  .b: field not declared in schema",
        ),
    ];
    for (config, expected) in cases {
        assert_eq!(
            applied(&new(&BAG), "m", false, &config, &BAG),
            Err(ApplyError::Schema(expected.to_owned())),
            "{config}"
        );
    }
    let duplicate = workload(&json!({"containers": [{"name": "c"}, {"name": "c"}]}));
    assert_eq!(
        applied(&new(&WORKLOAD), "m", false, &duplicate, &WORKLOAD),
        Err(ApplyError::Schema(".spec.containers: duplicate entries for key [name=\"c\"]".to_owned()))
    );
}

#[test]
fn updates_and_applies_of_one_manager_have_separate_entries() {
    let mut live = bag(&json!({"k": "1", "l": "1"}));
    track_create(&write("tool", "1"), &empty(), &mut live, &BAG);
    let live = applied(&live, "tool", false, &bag(&json!({"k": "1"})), &BAG).unwrap();
    let live = applied(&live, "tool", false, &bag(&json!({})), &BAG).unwrap();
    assert_eq!(live["data"], json!({"k": "1", "l": "1"}));
    assert_eq!(
        owners(&live),
        [("tool", json!({"f:data": {}})), ("tool", json!({"f:data": {".": {}, "f:k": {}, "f:l": {}}}))]
    );
    let mut updated = live.clone();
    updated["data"]["k"] = json!("2");
    track_update(&write("editor", "2"), &mut live.clone(), None, &mut updated, &BAG);
    assert_eq!(
        conflict_text(applied(&updated, "tool", false, &bag(&json!({"k": "1"})), &BAG)),
        "Apply failed with 1 conflict: conflict with \"editor\" using v1: .data.k"
    );
}

#[test]
fn times_change_only_with_their_entry() {
    let at = |live: &Tree, manager: &str, time: &str, data: Tree| {
        let config = bag(&data);
        let application = Application { write: write(manager, time), force: true, config: &config };
        apply(&application, &empty(), live, &BAG).unwrap()
    };
    let one = at(&new(&BAG), "one", "1", json!({"k": "1"}));
    let times = |tree: &Tree| -> Vec<String> {
        let entries = Meta::of(tree).managed_fields().iter();
        entries.map(|entry| entry.get("time").and_then(Tree::as_str).unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(times(&at(&one, "one", "2", json!({"k": "1"}))), ["1"]);
    assert_eq!(times(&at(&one, "one", "2", json!({"k": "2"}))), ["2"]);
    assert_eq!(times(&at(&one, "two", "2", json!({"l": "2"}))), ["1", "2"]);
    assert_eq!(times(&at(&one, "two", "2", json!({"k": "1"}))), ["", "1"]);
}

#[test]
fn client_side_apply_migrates() {
    let last =
        json!({"kind": "Bag", "apiVersion": "v1", "metadata": {"name": "a"}, "data": {"k": "1", "l": "1"}});
    let mut live = bag(&json!({"k": "1", "l": "edited"}));
    live["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": last.to_string()});
    track_create(&write("kubectl-client-side-apply", "1"), &empty(), &mut live, &BAG);
    let config = bag(&json!({"k": "2"}));
    let migrated = applied(&live, "kubectl", false, &config, &BAG).unwrap();
    assert_eq!(migrated["data"], json!({"k": "2", "l": "edited"}));
    assert_eq!(
        migrated["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"],
        format!("{config}\n")
    );
    let contested = bag(&json!({"k": "2", "l": "2"}));
    assert_eq!(
        conflict_text(applied(&live, "kubectl", false, &contested, &BAG)),
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.l"
    );
    assert!(matches!(applied(&live, "other", false, &config, &BAG), Err(ApplyError::Conflicts(_))));
}

#[test]
fn each_endpoint_owns_its_fields() {
    let config = json!({
        "kind": "Workload", "apiVersion": "v1", "metadata": {"name": "w", "labels": {"a": "b"}},
        "spec": {"replicas": 1}, "status": {"phase": "x"}});
    let status = Write { subresource: "status", reset: &[&["spec"]], ..write("node", "1") };
    let application = Application { write: status, force: false, config: &config };
    let new = apply(&application, &empty(), &new(&WORKLOAD), &WORKLOAD).unwrap();
    assert_eq!(
        owners(&new)[0].1,
        json!({"f:metadata": {"f:labels": {"f:a": {}}}, "f:status": {"f:phase": {}}})
    );
    let other = json!({"kind": "Workload", "apiVersion": "v1", "status": {"phase": "y"}});
    let status = Write { manager: "other", ..status };
    let application = Application { write: status, force: false, config: &other };
    assert_eq!(
        conflict_text(apply(&application, &empty(), &new, &WORKLOAD)),
        "Apply failed with 1 conflict: conflict with \"node\" with subresource \"status\": .status.phase"
    );
}

/// A configuration that fits the type, without fields that no manager may own.
fn configuration() -> impl Strategy<Value = Tree> {
    arbitrary_of(&WORKLOAD).prop_filter_map("it fits the type", |tree| {
        let mut tree = decode_tree(tree, &WORKLOAD, &Limits::default()).ok()?.tree;
        for field in [
            "managedFields",
            "name",
            "namespace",
            "uid",
            "generation",
            "creationTimestamp",
            "resourceVersion",
        ] {
            metadata_mut(&mut tree).remove(field);
        }
        check::check(&tree, &WORKLOAD).is_ok().then_some(tree)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn applying_again_changes_nothing(live in configuration(), config in configuration()) {
        let once = applied(&live, "m", true, &config, &WORKLOAD).unwrap();
        prop_assume!(!Meta::of(&once).managed_fields().is_empty());
        let again = applied(&once, "m", false, &config, &WORKLOAD).unwrap();
        prop_assert_eq!(once, again);
    }

    #[test]
    fn everything_that_was_applied_is_there(live in configuration(), config in configuration()) {
        let new = applied(&live, "m", true, &config, &WORKLOAD).unwrap();
        let again = merge(new.clone(), &config, &WORKLOAD);
        let again = decode_tree(again, &WORKLOAD, &Limits::default()).unwrap().tree;
        prop_assert_eq!(again, new);
    }

    #[test]
    fn letting_go_undoes_an_apply_to_nothing(config in configuration()) {
        let live = new(&WORKLOAD);
        let there = applied(&live, "m", false, &config, &WORKLOAD).unwrap();
        let mut gone = applied(&there, "m", false, &new(&WORKLOAD), &WORKLOAD).unwrap();
        prop_assert!(owners(&gone).iter().all(|(manager, _)| *manager != "m"));
        metadata_mut(&mut gone).remove("managedFields");
        let left = crate::managed_fields::without_never_owned(fields_of(&gone, &WORKLOAD));
        let applied = fields_of(&config, &WORKLOAD);
        prop_assert_eq!(left.intersection(&applied), FieldSet::new());
    }

    #[test]
    fn two_managers_keep_out_of_each_others_way(first in configuration(), second in configuration()) {
        let one = applied(&new(&WORKLOAD), "one", false, &first, &WORKLOAD).unwrap();
        let both = applied(&one, "two", false, &second, &WORKLOAD);
        // If no manager owns a field, the next apply begins to track the object.
        if let Some(both) = both.ok().filter(|both| !Meta::of(both).managed_fields().is_empty()) {
            let again = applied(&both, "one", false, &first, &WORKLOAD).unwrap();
            prop_assert_eq!(&again, &both);
            let entries = parse_entries(Meta::of(&both).managed_fields()).unwrap();
            prop_assert!(entries.len() <= 2);
        }
    }

    #[test]
    fn arbitrary_trees_never_panic(live in arbitrary(), config in arbitrary()) {
        let application = Application { write: write("kubectl", "t"), force: true, config: &config };
        let _ = apply(&application, &empty(), &live, &WORKLOAD);
        let _ = merge(live, &config, &WORKLOAD);
        let _ = fields_of(&config, &WORKLOAD);
    }
}
