//! Tests of field ownership. The cases follow recorded answers of the reference server.

use proptest::{collection, prelude::*};
use serde_json::json;

use super::*;
use crate::{
    fixture::{BAG, WORKLOAD},
    json::{Limits, decode::decode_tree},
    meta::metadata_mut,
    tree::{arbitrary, arbitrary_of},
};

fn write<'a>(manager: &'a str, time: &'a str) -> Write<'a> {
    Write { manager, api_version: "v1", subresource: "", time, reset: &[], lost_managers: false }
}

/// The managers of an object with their fields, in the order of the list.
fn owners(tree: &Tree) -> Vec<(String, Tree)> {
    let entries = Meta::of(tree).managed_fields().iter();
    entries.map(|entry| (entry["manager"].as_str().unwrap().to_owned(), entry["fieldsV1"].clone())).collect()
}

fn bag(data: &Tree) -> Tree {
    json!({"kind": "Bag", "apiVersion": "v1", "metadata": {"name": "a", "labels": {"x": "y"}}, "data": data})
}

fn created() -> Tree {
    let mut new = bag(&json!({"a": "1", "b": "2"}));
    track_create(&write("first", "2026-01-01T00:00:00Z"), &json!({"metadata": {}}), &mut new, &BAG);
    new
}

/// An update that does not send `managedFields`.
fn updated(old: &Tree, manager: &str, time: &str, mut new: Tree) -> Tree {
    track_update(&write(manager, time), &mut old.clone(), None, &mut new, &BAG);
    new
}

#[test]
fn a_create_owns_what_it_gives() {
    let new = created();
    assert_eq!(
        new["metadata"]["managedFields"],
        json!([{
            "manager": "first", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {".": {}, "f:a": {}, "f:b": {}},
                "f:metadata": {"f:labels": {".": {}, "f:x": {}}}},
        }])
    );
    let text = owners_of_new(&write("first", "2026-01-01T00:00:00Z"), &json!({"metadata": {}}), &new, &BAG);
    assert!(
        text.starts_with(r#"[{"manager":"first","operation":"Update","apiVersion":"v1","time":"#),
        "{text}"
    );
    assert_eq!(text.parse::<Tree>().unwrap(), new["metadata"]["managedFields"]);
    // Objects and lists that are always written have no owner; one that is added belongs to the manager that
    // adds it.
    let mut workload = json!({
        "metadata": {"name": "w", "finalizers": ["f"], "ownerReferences": [{"uid": "u", "name": "o"}]},
        "spec": {
            "replicas": 1, "strategy": {}, "tolerations": [{"name": "t"}], "reference": {"kind": "K"},
            "containers": [{"name": "c", "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "resources": {}}],
        },
    });
    let empty = json!({"metadata": {}, "spec": {"containers": []}});
    track_create(&write("", "t"), &empty, &mut workload, &WORKLOAD);
    assert_eq!(
        owners(&workload),
        [(
            "unknown".to_owned(),
            json!({
                "f:metadata": {"f:finalizers": {".": {}, "v:\"f\"": {}},
                    "f:ownerReferences": {".": {}, "k:{\"uid\":\"u\"}": {}}},
                "f:spec": {
                    "f:replicas": {}, "f:strategy": {}, "f:tolerations": {}, "f:reference": {},
                    "f:containers": {"k:{\"name\":\"c\"}": {
                        ".": {}, "f:name": {}, "f:resources": {},
                        "f:ports": {".": {}, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {
                            ".": {}, "f:containerPort": {}, "f:protocol": {},
                        }},
                    }},
                },
            })
        )]
    );
}

#[test]
fn an_object_without_managers_is_tracked_if_it_had_some() {
    let old = bag(&json!({"a": "1", "b": "2"}));
    let mut new = bag(&json!({"a": "1", "b": "3"}));
    track_update(&write("one", "t"), &mut old.clone(), None, &mut new, &BAG);
    assert_eq!(owners(&new), []);
    let write = Write { lost_managers: true, ..write("one", "t") };
    assert!(track_update(&write, &mut old.clone(), None, &mut new, &BAG));
    assert_eq!(owners(&new), [("one".to_owned(), json!({"f:data": {"f:b": {}}}))]);
    let mut same = old.clone();
    assert!(!track_update(&write, &mut old.clone(), None, &mut same, &BAG));
    assert_eq!(owners(&same), []);
}

#[test]
fn items_of_one_key_are_owned_together() {
    let workload = |env: Tree| json!({"metadata": {}, "spec": {"containers": [{"name": "c", "env": env}]}});
    let [one, two] = ["1", "2"].map(|value| json!({"name": "A", "value": value}));
    let container = "k:{\"name\":\"c\"}";
    let variable = "k:{\"name\":\"A\"}";
    let env =
        |set: &FieldSet<'_>| set.to_tree()["f:spec"]["f:containers"][container]["f:env"][variable].clone();
    let [single, twice, swapped] = [json!([one]), json!([one, two]), json!([two, one])].map(workload);
    let empty = workload(json!([]));
    assert_eq!(
        env(&compare(&empty, &single, &WORKLOAD).added),
        json!({".": {}, "f:name": {}, "f:value": {}})
    );
    assert_eq!(env(&compare(&empty, &twice, &WORKLOAD).added), json!({}));
    assert_eq!(env(&compare(&twice, &empty, &WORKLOAD).removed), json!({}));
    assert_eq!(env(&compare(&single, &twice, &WORKLOAD).modified), json!({}));
    assert_eq!(env(&compare(&single, &twice, &WORKLOAD).removed), json!({"f:name": {}, "f:value": {}}));
    assert_eq!(env(&compare(&twice, &single, &WORKLOAD).added), json!({"f:name": {}, "f:value": {}}));
    assert_eq!(env(&compare(&twice, &swapped, &WORKLOAD).modified), json!({}));
    assert_eq!(compare(&twice, &twice, &WORKLOAD), Comparison::default());
}

#[test]
fn an_item_without_parts_is_taken_as_a_whole() {
    let owned_by =
        |kind: &str| json!({"metadata": {"ownerReferences": [{"uid": "u", "name": "o", "kind": kind}]}});
    let item = json!({"f:metadata": {"f:ownerReferences": {"k:{\"uid\":\"u\"}": {}}}});
    let mut old = owned_by("A");
    track_create(&write("first", "t"), &json!({"metadata": {}}), &mut old, &BAG);
    let new = updated(&old, "second", "u", owned_by("B"));
    let list_alone = json!({"f:metadata": {"f:ownerReferences": {}}});
    assert_eq!(owners(&new), [("first".to_owned(), list_alone), ("second".to_owned(), item)]);
}

#[test]
fn updates_take_what_they_change() {
    let labels = json!({"f:labels": {".": {}, "f:x": {}}});
    let object = created();
    let object = updated(&object, "second", "2026-01-02T00:00:00Z", bag(&json!({"a": "1", "b": "3"})));
    assert_eq!(
        owners(&object),
        [
            ("first".to_owned(), json!({"f:data": {".": {}, "f:a": {}}, "f:metadata": labels})),
            ("second".to_owned(), json!({"f:data": {"f:b": {}}})),
        ]
    );
    let object =
        updated(&object, "third", "2026-01-03T00:00:00Z", bag(&json!({"a": "2", "b": "3", "c": "1"})));
    assert_eq!(
        owners(&object),
        [
            ("first".to_owned(), json!({"f:data": {}, "f:metadata": labels})),
            ("second".to_owned(), json!({"f:data": {"f:b": {}}})),
            ("third".to_owned(), json!({"f:data": {"f:a": {}, "f:c": {}}})),
        ]
    );
    let object = updated(&object, "third", "2026-01-04T00:00:00Z", bag(&json!({"a": "2", "c": "1"})));
    assert_eq!(
        owners(&object),
        [
            ("first".to_owned(), json!({"f:data": {}, "f:metadata": labels})),
            ("third".to_owned(), json!({"f:data": {"f:a": {}, "f:c": {}}})),
        ]
    );
    let mut without_data = bag(&json!({}));
    without_data.as_object_mut().unwrap().remove("data");
    let object = updated(&object, "first", "2026-01-05T00:00:00Z", without_data);
    assert_eq!(owners(&object), [("first".to_owned(), json!({"f:metadata": labels}))]);
    assert_eq!(object["metadata"]["managedFields"][0]["time"], "2026-01-01T00:00:00Z");
}

#[test]
fn a_changed_value_moves_its_owner_to_the_end() {
    let object = created();
    let object =
        updated(&object, "alpha", "2026-01-02T00:00:00Z", bag(&json!({"a": "1", "b": "2", "c": "1"})));
    let same = updated(&object, "first", "2026-01-03T00:00:00Z", bag(&json!({"a": "1", "b": "2", "c": "1"})));
    assert_eq!(same["metadata"]["managedFields"], object["metadata"]["managedFields"]);
    let object =
        updated(&object, "first", "2026-01-03T00:00:00Z", bag(&json!({"a": "9", "b": "2", "c": "1"})));
    let managers: Vec<String> = owners(&object).into_iter().map(|(manager, _)| manager).collect();
    assert_eq!(managers, ["alpha", "first"]);
    assert_eq!(object["metadata"]["managedFields"][1]["time"], "2026-01-03T00:00:00Z");
}

#[test]
fn tracking_can_be_ended_and_replaced() {
    let old = created();
    let track = |given: Tree, subresource: &str| {
        let mut new = bag(&json!({"a": "1", "b": "3"}));
        let write = Write { subresource, ..write("second", "t") };
        track_update(&write, &mut old.clone(), Some(&given), &mut new, &BAG);
        owners(&new).into_iter().map(|(manager, _)| manager).collect::<Vec<_>>()
    };
    assert_eq!(track(json!([]), ""), [""; 0]);
    assert_eq!(track(json!([{}]), ""), [""; 0]);
    assert_eq!(track(json!(null), ""), ["first", "second"]);
    assert_eq!(track(json!([]), "status"), ["first", "second"]);
    assert_eq!(track(json!([{"manager": "m", "operation": "Sometimes"}]), ""), ["first", "second"]);
    let given = json!([{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:a": {}}}}]);
    assert_eq!(track(given.clone(), ""), ["m", "second"]);
    for needed in ["apiVersion", "fieldsType"] {
        let mut without = given.clone();
        without[0].as_object_mut().unwrap().remove(needed);
        assert_eq!(track(without, ""), ["first", "second"], "{needed}");
    }
    // The object is not tracked, and an update does not begin to track it.
    let untracked = updated(&bag(&json!({"a": "1"})), "second", "t", bag(&json!({"a": "2"})));
    assert_eq!(untracked["metadata"].get("managedFields"), None);
}

#[test]
fn each_subresource_has_its_entry() {
    let old = json!({"metadata": {}, "spec": {"replicas": 1}, "status": {"phase": "a"}});
    let mut old_tracked = old.clone();
    track_create(&write("m", "1"), &json!({}), &mut old_tracked, &WORKLOAD);
    let mut new = json!({"metadata": {}, "spec": {"replicas": 2}, "status": {"phase": "b"}});
    let status = Write { subresource: "status", reset: &[&["spec"], &["metadata"]], ..write("m", "2") };
    track_update(&status, &mut old_tracked.clone(), None, &mut new, &WORKLOAD);
    assert_eq!(new["metadata"]["managedFields"][1]["subresource"], "status");
    assert_eq!(owners(&new)[1].1, json!({"f:status": {"f:phase": {}}}));
    assert_eq!(owners(&new)[0].1["f:spec"], json!({".": {}, "f:replicas": {}}));
}

#[test]
fn the_oldest_entries_are_merged() {
    let mut object = created();
    for n in 1..=12 {
        let mut new = object.clone();
        new["data"][format!("k{n}")] = json!("v");
        object = updated(&object, &format!("m{n:02}"), &format!("2026-02-{n:02}T00:00:00Z"), new);
    }
    let managers: Vec<String> = owners(&object).into_iter().map(|(manager, _)| manager).collect();
    assert_eq!(managers.len(), 10);
    assert_eq!(managers[0], "ancient-changes");
    assert_eq!(managers[9], "m12");
    let merged = &object["metadata"]["managedFields"][0];
    assert_eq!(merged["time"], "2026-02-03T00:00:00Z");
    for key in ["f:a", "f:b", "f:k1", "f:k2", "f:k3"] {
        assert!(merged["fieldsV1"]["f:data"].get(key).is_some(), "{key}");
    }
}

#[test]
fn times_alone_are_no_change() {
    let old = created();
    let mut new = old.clone();
    new["metadata"]["managedFields"][0]["time"] = json!("2030-01-01T00:00:00Z");
    let differ = |old: &Tree, new: &Tree| {
        owners_differ(Meta::of(old).managed_fields(), Meta::of(new).managed_fields())
    };
    assert!(!differ(&old, &new) && same_but_owners(&old, &new));
    new["data"]["a"] = json!("other");
    assert!(!differ(&old, &new) && !same_but_owners(&old, &new));
    new["metadata"]["managedFields"][0]["manager"] = json!("other");
    assert!(differ(&old, &new));
}

/// The entries after an update of an object with these entries, found by reading all of them.
fn read_through(write: &Write<'_>, old: &Tree, new: &Tree) -> Vec<Tree> {
    let change = Change::of(write, compare(old, new, &WORKLOAD));
    let entries = parse_entries(Meta::of(old).managed_fields()).unwrap();
    let mut entries = if entries.is_empty() { entries } else { take_over(entries, change, write) };
    entry::sort(&mut entries);
    write_entries(entries)
}

proptest! {
    #[test]
    fn entries_that_are_not_read_are_as_if_they_were(
        states in collection::vec(arbitrary_of(&WORKLOAD), 2..16), managers in collection::vec(0..12_u8, 16),
    ) {
        let mut states = states.into_iter().map(|mut tree| {
            metadata_mut(&mut tree).remove("managedFields");
            decode_tree(tree, &WORKLOAD, &Limits::default()).unwrap().tree
        });
        let mut object = states.next().unwrap();
        track_create(&write("m", "0"), &json!({}), &mut object, &WORKLOAD);
        for ((step, mut next), manager) in states.enumerate().zip(managers) {
            let (manager, time) = (format!("m{manager}"), format!("{step:02}"));
            let write = write(&manager, &time);
            let expected = read_through(&write, &object, &next);
            let before = Meta::of(&object).managed_fields().to_vec();
            let differ = track_update(&write, &mut object, None, &mut next, &WORKLOAD);
            prop_assert_eq!(Meta::of(&next).managed_fields(), &expected);
            prop_assert_eq!(differ, owners_differ(&before, &expected));
            object = next;
        }
    }

    #[test]
    fn every_field_has_one_owner_and_exists(
        first in arbitrary_of(&WORKLOAD), second in arbitrary_of(&WORKLOAD), third in arbitrary_of(&WORKLOAD),
    ) {
        let clean = |mut tree: Tree| {
            metadata_mut(&mut tree).remove("managedFields");
            decode_tree(tree, &WORKLOAD, &Limits::default()).unwrap().tree
        };
        let mut object = clean(first);
        track_create(&write("m0", "0"), &json!({}), &mut object, &WORKLOAD);
        for (step, next) in [clean(second), clean(third)].into_iter().enumerate() {
            let mut old = object.clone();
            object = next;
            track_update(&write(&format!("m{}", step + 1), "1"), &mut old, None, &mut object, &WORKLOAD);
        }
        let entries = parse_entries(Meta::of(&object).managed_fields()).unwrap();
        let nothing = json!({});
        let everything = compare(&nothing, &object, &WORKLOAD).added;
        for (index, entry) in entries.iter().enumerate() {
            prop_assert!(entry.fields.clone().difference(&everything).is_empty(), "{:?}", entry);
            for other in &entries[index + 1..] {
                prop_assert!(entry.fields.intersection(&other.fields).is_empty());
            }
        }
    }

    #[test]
    fn equal_states_compare_equal(tree in arbitrary_of(&WORKLOAD)) {
        prop_assert_eq!(compare(&tree, &tree, &WORKLOAD), Comparison::default());
    }

    #[test]
    fn arbitrary_trees_never_panic(mut old in arbitrary(), mut new in arbitrary()) {
        let given = new.get("metadata").cloned();
        track_update(&write("m", "t"), &mut old, given.as_ref(), &mut new, &WORKLOAD);
        track_create(&write("m", "t"), &old, &mut new, &WORKLOAD);
    }
}
