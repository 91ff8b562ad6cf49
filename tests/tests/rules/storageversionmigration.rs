//! `StorageVersionMigration`: its rules, and what stays.

use crate::ask::{defaulted, errors, status_errors, update_errors, with};
use orch_runtime::Tree;
use serde_json::json;

const KIND: &str = "StorageVersionMigration";

fn migration() -> Tree {
    json!({"spec": {"resource": {"group": "apps", "version": "v1", "resource": "daemonsets"}}})
}

pub fn rules() {
    assert_eq!(defaulted(KIND, &migration()), with(&migration(), "/status", json!({})));
    let conditions =
        |kinds: &[&str]| kinds.iter().map(|kind| json!({"type": kind, "status": "True"})).collect::<Vec<_>>();
    for (pointer, value, expected) in [
        (
            "/spec/resource/resource",
            json!(null),
            vec!["spec.resource.resource: Required value: resource is required"],
        ),
        ("/spec/resource/resource", json!("daemonsets/status"), vec![]),
        (
            "/spec/resource/version",
            json!(null),
            vec!["spec.resource.version: Required value: version is required"],
        ),
        ("/spec/resource/version", json!("V1"), vec![]),
        ("/spec/resource/group", json!("A_b"), vec![]),
        ("/spec/resource/group", json!(null), vec![]),
    ] {
        assert_eq!(errors(KIND, &with(&migration(), pointer, value.clone())), expected, "{pointer} {value}");
    }
    for (pointer, value, expected) in [
        ("/status/conditions", json!(conditions(&["Running"])), vec![]),
        (
            "/status/conditions",
            json!(conditions(&["Succeeded", "Failed"])),
            vec![
                "status.conditions: Invalid value: \
                 [{\"lastUpdateTime\":null,\"status\":\"True\",\"type\":\"Succeeded\"},\
                 {\"lastUpdateTime\":null,\"status\":\"True\",\"type\":\"Failed\"}]: Both success and failed conditions \
                 cannot be true at the same time"
                    .to_owned(),
            ],
        ),
        (
            "/status/conditions",
            json!(conditions(&["Running", "Failed"])),
            vec![
                "status.conditions: Invalid value: \
                 [{\"lastUpdateTime\":null,\"status\":\"True\",\"type\":\"Running\"},\
                 {\"lastUpdateTime\":null,\"status\":\"True\",\"type\":\"Failed\"}]: Running condition cannot be true \
                 when success condition is true or failed condition is true"
                    .to_owned(),
            ],
        ),
    ] {
        let told = with(&migration(), pointer, value);
        assert_eq!(status_errors(KIND, &migration(), &told), expected, "{told}");
    }
}

pub fn updates() {
    let begun = with(&migration(), "/status/resourceVersion", json!("7"));
    assert_eq!(status_errors(KIND, &migration(), &begun), [""; 0]);
    let moved = with(&with(&begun, "/status/resourceVersion", json!("8")), "/spec/continueToken", json!("t"));
    assert_eq!(
        update_errors(KIND, &begun, &moved),
        [
            r#"spec: Invalid value: {"continueToken":"t","resource":{"group":"apps","resource":"daemonsets","version":"v1"}}: field is immutable"#,
        ]
    );
    assert_eq!(
        status_errors(KIND, &begun, &moved),
        ["status.resourceVersion: Invalid value: \"8\": field is immutable once set"]
    );
}
