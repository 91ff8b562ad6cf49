//! Priority classes: which values are reserved, and what may not change.

use crate::ask::{defaulted, errors, update_errors, with};
use serde_json::json;

const KIND: &str = "PriorityClass";

pub fn pods_push_others_aside_unless_the_class_says_otherwise() {
    for (given, expected) in [
        (json!({}), json!({"value": 0, "preemptionPolicy": "PreemptLowerPriority"})),
        (
            json!({"value": 7, "globalDefault": true, "description": "d", "preemptionPolicy": "Never"}),
            json!({"value": 7, "globalDefault": true, "description": "d", "preemptionPolicy": "Never"}),
        ),
    ] {
        assert_eq!(defaulted(KIND, &given), expected);
    }
}

pub fn high_values_and_reserved_names_are_the_systems_own() {
    let reserved = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. \
                    error: ";
    for (name, value, default, expected) in [
        ("a", 1_000_000_000, true, vec![]),
        ("a", -2_147_483_648, false, vec![]),
        (
            "a",
            1_000_000_001,
            false,
            vec![
                "value: Forbidden: maximum allowed value of a user defined priority is 1000000000".to_owned(),
            ],
        ),
        // The two classes of the system as they should be are on every server, so nobody can create them.
        (
            "system-mine",
            1,
            false,
            vec![format!("{reserved}system-mine is not a known system priority class")],
        ),
        (
            "system-node-critical",
            1,
            false,
            vec![format!("{reserved}value of system-node-critical PriorityClass must be 2000001000")],
        ),
        (
            "system-cluster-critical",
            1,
            false,
            vec![format!("{reserved}value of system-cluster-critical PriorityClass must be 2000000000")],
        ),
        (
            "system-node-critical",
            2_000_001_000,
            true,
            vec![format!("{reserved}globalDefault of system-node-critical PriorityClass must be false")],
        ),
    ] {
        let tree = json!({"metadata": {"name": name}, "value": value, "globalDefault": default});
        assert_eq!(errors(KIND, &tree), expected, "{tree}");
    }
    let unknown = json!({"value": 1, "preemptionPolicy": "Always"});
    let expected = "preemptionPolicy: Unsupported value: \"Always\": supported values: \"PreemptLowerPriority\", \"Never\"";
    assert_eq!(errors(KIND, &unknown), [expected]);
}

pub fn value_and_policy_never_change() {
    let old = json!({"metadata": {"name": "a"}, "value": 1, "description": "d"});
    for (field, value, expected) in [
        ("/description", json!("other"), vec![]),
        ("/globalDefault", json!(true), vec![]),
        ("/value", json!(2), vec!["value: Forbidden: may not be changed in an update."]),
        (
            "/preemptionPolicy",
            json!("Never"),
            vec!["preemptionPolicy: Invalid value: \"Never\": field is immutable"],
        ),
    ] {
        assert_eq!(update_errors(KIND, &old, &with(&old, field, value)), expected, "{field}");
    }
}
