//! `Namespace`: the names of finalizers, and what is always written.

use crate::ask::{defaulted, deleted_status_errors, errors, status_errors, stored, update_errors, with};
use serde_json::json;

pub fn finalizers_are_standard_or_qualified() {
    for (finalizers, expected) in [
        (json!(["kubernetes", "example.com/own"]), vec![]),
        (
            json!(["kubernetes", "nodomain"]),
            vec![
                "spec.finalizers[1]: Invalid value: \"nodomain\": name is neither a standard finalizer name nor is \
                 it fully qualified",
            ],
        ),
    ] {
        assert_eq!(errors("Namespace", &json!({"spec": {"finalizers": finalizers}})), expected);
    }
    let told = errors("Namespace", &json!({"spec": {"finalizers": ["a b/c"]}}));
    assert!(told.len() == 1 && told[0].starts_with("spec.finalizers: Invalid value: \"a b/c\": prefix part"), "{told:?}");
}

pub fn spec_and_status_are_always_written() {
    let new = json!({"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
    assert_eq!(defaulted("Namespace", &json!({})), new);
    let condition = json!({"type": "T", "status": "True"});
    let told = with(&new, "/status/conditions", json!([condition]));
    let expected = json!([{"type": "T", "status": "True", "lastTransitionTime": null}]);
    assert_eq!(stored("Namespace", &told), with(&new, "/status/conditions", expected));
}

pub fn phases_are_known_and_anything_may_change() {
    let new = json!({"spec": {"finalizers": []}, "status": {"phase": "Terminating"}});
    assert_eq!(update_errors("Namespace", &json!({}), &new), [""; 0]);
    assert_eq!(
        status_errors("Namespace", &json!({}), &new),
        ["status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"]
    );
    assert_eq!(status_errors("Namespace", &json!({}), &json!({"status": {}})), [""; 0]);
    assert_eq!(
        status_errors("Namespace", &json!({}), &json!({"status": {"phase": "Gone"}})),
        ["status.Phase: Invalid value: \"Gone\": may only be 'Active' if `deletionTimestamp` is empty"]
    );
}

pub fn the_phase_of_a_deleted_one_stays() {
    for (phase, expected) in [
        ("Terminating", vec![]),
        (
            "Active",
            vec!["status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty"],
        ),
    ] {
        let new = json!({"status": {"phase": phase}});
        assert_eq!(deleted_status_errors("Namespace", &new), expected, "{phase}");
    }
}
