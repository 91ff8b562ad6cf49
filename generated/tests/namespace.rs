//! `Namespace`: the names of finalizers, and what is always written.

#[path = "support/objects.rs"]
mod objects;

use objects::{defaulted, errors, update_errors};
use serde_json::json;

#[test]
fn finalizers_are_standard_or_qualified() {
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
}

#[test]
fn spec_and_status_are_always_written() {
    assert_eq!(defaulted("Namespace", &json!({})), json!({"spec": {}, "status": {}}));
    let condition = json!({"type": "T", "status": "True"});
    let written = defaulted("Namespace", &json!({"status": {"conditions": [condition]}}));
    let expected = json!([{"type": "T", "status": "True", "lastTransitionTime": null}]);
    assert_eq!(written["status"]["conditions"], expected);
}

#[test]
fn phases_are_known_and_anything_may_change() {
    assert_eq!(
        errors("Namespace", &json!({"status": {"phase": "Gone"}})),
        [r#"status.phase: Unsupported value: "Gone": supported values: "Active", "Terminating""#]
    );
    let old = json!({"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
    let new = json!({"spec": {"finalizers": []}, "status": {"phase": "Terminating"}});
    assert_eq!(update_errors("Namespace", &old, &new), [""; 0]);
}
