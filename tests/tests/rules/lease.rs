//! `Lease`: its numbers, and strategies.

use crate::ask::{defaulted, errors, update_errors};
use serde_json::json;

pub fn numbers_and_strategies() {
    for (spec, expected) in [
        (json!({}), vec![]),
        (json!({"leaseDurationSeconds": 1, "leaseTransitions": 0, "holderIdentity": ""}), vec![]),
        (
            json!({"leaseDurationSeconds": 0}),
            vec!["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
        ),
        (
            json!({"leaseTransitions": -1}),
            vec!["spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (json!({"strategy": "OldestEmulationVersion", "preferredHolder": "b"}), vec![]),
        (json!({"strategy": "example.com/own"}), vec![]),
        (
            json!({"strategy": "Own"}),
            vec![r#"spec.strategy: Unsupported value: "Own": supported values: "OldestEmulationVersion""#],
        ),
        (
            json!({"preferredHolder": "b"}),
            vec!["spec.preferredHolder: Forbidden: may only be specified when `strategy` is defined"],
        ),
    ] {
        assert_eq!(errors("Lease", &json!({"spec": spec})), expected, "{spec}");
    }
}

pub fn nothing_is_added_and_anything_may_change() {
    assert_eq!(defaulted("Lease", &json!({})), json!({"spec": {}}));
    let held = json!({"spec": {
        "holderIdentity": "", "leaseDurationSeconds": 15, "acquireTime": "2024-01-02T03:04:05.000001Z",
        "renewTime": "2024-01-02T03:04:06.000000Z", "leaseTransitions": 2_147_483_647,
        "strategy": "example.com/own",
        "preferredHolder": "b",
    }});
    assert_eq!(defaulted("Lease", &held), held);
    assert_eq!(update_errors("Lease", &held, &json!({"spec": {"leaseTransitions": 0}})), [""; 0]);
}
