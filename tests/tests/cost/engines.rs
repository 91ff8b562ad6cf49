//! Patches, applies and managed fields: cases that an object of one list does not show.

use std::time::Duration;

use orch_api::core::v1::{CONFIG_MAP_TYPE, POD_TYPE};
use orch_machinery::{
    apply::{Application, apply},
    json::Limits,
    managed_fields::{Write, track_update},
    patch::{
        PatchError,
        json::{JsonPatch, JsonPatchLimits},
        strategic,
    },
};
use orch_runtime::Tree;
use serde_json::json;

use crate::meter::{alone, growth, measured, memory_of};

const SIZE: usize = 2_000;

/// A name, and work of a size that returns the time that it took.
type Case = (&'static str, fn(usize) -> Duration);

/// Fails where a case grows faster than its size.
fn all_grow_slowly(cases: &[Case]) {
    let _turn = alone();
    let faults: Vec<String> =
        cases.iter().filter_map(|(name, case)| Some(format!("{name}: {}", growth(SIZE, case)?))).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

fn list(count: usize, item: impl Fn(usize) -> Tree) -> Tree {
    (0..count).map(item).collect()
}

fn pod(containers: Tree) -> Tree {
    json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"containers": containers}})
}

fn strategic_time(current: &Tree, patch: &Tree) -> Duration {
    measured(|| strategic::apply(current, patch, &POD_TYPE)).0
}

#[test]
fn strategic_patches_of_long_lists() {
    let named = |n: usize| json!({"name": format!("c{n}")});
    all_grow_slowly(&[
        ("the same items", |count| {
            let items = list(count, |n| json!({"name": format!("c{n}")}));
            strategic_time(&pod(items.clone()), &json!({"spec": {"containers": items}}))
        }),
        ("other items", |count| {
            let [old, new] =
                [0, count].map(|from| list(count, |n| json!({"name": format!("c{}", from + n)})));
            strategic_time(&pod(old), &json!({"spec": {"containers": new}}))
        }),
        ("deletions", |count| {
            let items = list(count, |n| json!({"name": format!("c{n}")}));
            let deletions = list(count, |n| json!({"name": format!("c{n}"), "$patch": "delete"}));
            strategic_time(&pod(items), &json!({"spec": {"containers": deletions}}))
        }),
        ("an order", |count| {
            let items = list(count, |n| json!({"name": format!("c{n}")}));
            let order = list(count, |n| json!({"name": format!("c{}", count - 1 - n)}));
            strategic_time(&pod(items), &json!({"spec": {"$setElementOrder/containers": order}}))
        }),
        ("finalizers", |count| {
            let items = |from: usize| list(count, |n| format!("x/{}", from + n).into());
            let with = |finalizers: Tree| json!({"metadata": {"finalizers": finalizers}});
            strategic_time(&with(items(0)), &with(items(count / 2)))
        }),
    ]);
    // One item that is named again and again is merged as often.
    let env = list(10_000, |n| json!({"name": format!("E{n}")}));
    let current = pod(json!([{"name": "c", "env": env}]));
    let again = list(10_000, |_| json!({"name": "c", "env": [{"name": "E"}]}));
    let refused = strategic::apply(&current, &json!({"spec": {"containers": again}}), &POD_TYPE);
    assert!(matches!(refused, Err(PatchError::TooLarge(_))), "{refused:?}");
    let twice = json!({"spec": {"containers": [named(1), named(1)]}});
    assert!(strategic::apply(&pod(list(9, named)), &twice, &POD_TYPE).is_ok());
}

/// Entries of this many managers, each with this set of fields.
fn entries(count: usize, operation: &str, fields: impl Fn(usize) -> Tree) -> Tree {
    list(count, |n| {
        json!({"manager": format!("m{n}"), "operation": operation, "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": fields(n)})
    })
}

/// A config map with this many values.
fn data(count: usize, value: &str) -> Tree {
    let data: Tree = (0..count).map(|n| (format!("k{n:06}"), Tree::from(value))).collect();
    json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}, "data": data})
}

const WRITE: Write<'static> = Write {
    manager: "me",
    api_version: "v1",
    subresource: "",
    time: "2024-01-02T03:04:05Z",
    reset: &[],
    lost_managers: false,
};

/// The time of an update that changes all values of an object with these owners.
fn update_time(values: usize, owners: Tree, given: Option<Tree>) -> Duration {
    let (mut old, mut new) = (data(values, "old"), data(values, "new"));
    old["metadata"]["managedFields"] = owners;
    measured(|| track_update(&WRITE, &mut old, given.as_ref(), &mut new, &CONFIG_MAP_TYPE)).0
}

#[test]
fn managed_fields_of_many_managers_and_fields() {
    all_grow_slowly(&[
        ("keys in another order", |count| {
            // Brought into one form, they stand in the opposite order.
            let keys = (0..count)
                .map(|n| (format!("k:{{ {:n$}\"name\":\"{:09}\"}}", "", count - n, n = n % 7), json!({})));
            let mut fields: Tree = keys.collect();
            fields["."] = json!({});
            update_time(1, json!([]), Some(entries(1, "Update", |_| json!({"f:data": fields}))))
        }),
        ("many managers, as sent", |count| {
            update_time(
                count,
                json!([]),
                Some(entries(count, "Apply", |n| json!({"f:data": {format!("f:z{n}"): {}}}))),
            )
        }),
        ("many managers that update, as sent", |count| {
            update_time(
                1,
                json!([]),
                Some(entries(count, "Update", |n| json!({"f:data": {format!("f:z{n}"): {}}}))),
            )
        }),
        ("many managers, as stored", |count| {
            update_time(count, entries(count, "Apply", |n| json!({"f:data": {format!("f:z{n}"): {}}})), None)
        }),
        ("many managers of the same field", |count| {
            update_time(count, entries(count, "Apply", |_| json!({"f:data": {"f:z": {}}})), None)
        }),
    ]);
}

#[test]
fn applies_beside_many_managers() {
    fn apply_time(values: usize, config: &Tree, owners: Tree) -> Duration {
        let mut live = data(values, "old");
        live["metadata"]["managedFields"] = owners;
        let empty = json!({"metadata": {}});
        let application = Application { write: WRITE, force: false, config };
        measured(|| apply(&application, &empty, &live, &CONFIG_MAP_TYPE)).0
    }
    all_grow_slowly(&[
        ("new values", |count| {
            let owners = entries(count, "Apply", |n| json!({"f:data": {format!("f:z{n}"): {}}}));
            apply_time(count, &data(count * 2, "new"), owners)
        }),
        ("values that are given up", |count| {
            let all: Tree = (0..count).map(|n| (format!("f:k{n:06}"), json!({}))).collect();
            let mut owners = entries(count, "Apply", |n| json!({"f:data": {format!("f:z{n}"): {}}}));
            owners[0]["manager"] = "me".into();
            owners[0]["fieldsV1"]["f:data"] = all;
            apply_time(count, &data(1, "old"), owners)
        }),
        ("conflicts", |count| {
            let all: Tree = (0..count).map(|n| (format!("f:k{n:06}"), json!({}))).collect();
            apply_time(count, &data(count, "new"), entries(1, "Apply", |_| json!({"f:data": all})))
        }),
    ]);
}

#[test]
fn json_patches_of_many_operations() {
    all_grow_slowly(&[("tests and additions", |count| {
        let operations =
            list(count / 2, |n| json!({"op": "add", "path": format!("/data/k{n}"), "value": "v"}));
        let patch = JsonPatch::parse(
            operations.to_string().as_bytes(),
            &Limits::default(),
            &JsonPatchLimits::default(),
        );
        let current = data(count, "v");
        measured(|| patch.unwrap().apply(&current, &JsonPatchLimits::default())).0
    })]);
    let _turn = alone();
    // A pointer takes no more than its text, a few times over.
    let pointer = "/a".repeat(1_400_000);
    let text = json!([{"op": "add", "path": pointer, "value": 1}]).to_string();
    let read = || JsonPatch::parse(text.as_bytes(), &Limits::default(), &JsonPatchLimits::default());
    let memory = memory_of(read);
    assert!(read().is_ok() && memory < 5 * text.len(), "{memory} bytes");
}
