//! `PersistentVolumeClaim`: defaults, each rule broken once, and how little may change.

use crate::ask::{defaulted, errors, status_errors, stored, update_errors, with};
use orch_runtime::Tree;
use serde_json::json;

const KIND: &str = "PersistentVolumeClaim";
const FIXED: &str = "spec: Forbidden: spec is immutable after creation except resources.requests and \
     volumeAttributesClassName for bound claims";

fn claim() -> Tree {
    json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
}

pub fn defaults() {
    assert_eq!(
        defaulted(KIND, &claim()),
        json!({
            "spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
                "volumeMode": "Filesystem",
            },
            "status": {"phase": "Pending"},
        })
    );
    let no_class = with(&claim(), "/spec/storageClassName", json!(""));
    assert_eq!(defaulted(KIND, &no_class)["spec"]["storageClassName"], "");
    let source = json!({"kind": "PersistentVolumeClaim", "name": "o"});
    assert_eq!(
        defaulted(KIND, &with(&claim(), "/spec/dataSource", source))["spec"]["dataSource"],
        json!({"apiGroup": null, "kind": "PersistentVolumeClaim", "name": "o"})
    );
    let condition =
        with(&claim(), "/status", json!({"conditions": [{"type": "Resizing", "status": "True"}]}));
    assert_eq!(
        stored(KIND, &condition)["status"]["conditions"],
        json!([{"type": "Resizing", "status": "True", "lastProbeTime": null, "lastTransitionTime": null}])
    );
}

pub fn rules() {
    for (pointer, value, expected) in [
        ("/spec/storageClassName", json!(""), vec![]),
        ("/spec/volumeName", json!("v"), vec![]),
        (
            "/spec/accessModes",
            json!([]),
            vec!["spec.accessModes: Required value: at least 1 access mode is required"],
        ),
        (
            "/spec/accessModes",
            json!(["ReadWriteOncePod", "ReadWriteOnce"]),
            vec!["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
        ),
        (
            "/spec/accessModes",
            json!(["X"]),
            vec![
                r#"spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod""#,
            ],
        ),
        ("/spec/resources", json!({}), vec!["spec.resources[storage]: Required value"]),
        (
            "/spec/resources/requests/storage",
            json!("0"),
            vec![r#"spec.resources[storage]: Invalid value: "0": must be greater than zero"#],
        ),
        (
            "/spec/volumeMode",
            json!("Tape"),
            vec![r#"spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem""#],
        ),
        (
            "/spec/selector",
            json!({"matchExpressions": [{"key": "a", "operator": "Near"}]}),
            vec![
                r#"spec.selector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator"#,
            ],
        ),
        (
            "/spec/volumeAttributesClassName",
            json!("A_"),
            vec![
                r#"spec.volumeAttributesClassName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#,
            ],
        ),
        // It is dropped.
        ("/spec/dataSource", json!({"kind": "Pod", "name": "o"}), vec![]),
        (
            "/spec/dataSourceRef",
            json!({"apiGroup": "example.com"}),
            vec![
                "spec.dataSource.name: Required value",
                "spec.dataSource.kind: Required value",
                "spec.dataSourceRef.name: Required value",
                "spec.dataSourceRef.kind: Required value",
            ],
        ),
    ] {
        assert_eq!(errors(KIND, &with(&claim(), pointer, value.clone())), expected, "{pointer} {value}");
    }
    let source = json!({"kind": "PersistentVolumeClaim", "name": "o"});
    let both = with(&claim(), "/spec/dataSource", source.clone());
    for (name, namespace, expected) in [
        ("o", json!(null), vec![]),
        ("p", json!(null), vec![r#"spec: Invalid value: "spec.dataSource": must match dataSourceRef"#]),
        (
            "o",
            json!("n"),
            vec![
                r#"spec: Invalid value: "spec.dataSource": may not be specified when dataSourceRef.namespace is specified"#,
            ],
        ),
    ] {
        let reference = with(&with(&source, "/name", json!(name)), "/namespace", namespace);
        assert_eq!(errors(KIND, &with(&both, "/spec/dataSourceRef", reference)), expected, "{name}");
    }
    // A group that is not given is not the same as an empty one.
    let of_core = with(&source, "/apiGroup", json!(""));
    assert_eq!(errors(KIND, &with(&both, "/spec/dataSourceRef", of_core.clone())), [
        r#"spec: Invalid value: "spec.dataSource": must match dataSourceRef"#,
    ]);
    let both = with(&both, "/spec/dataSource", of_core.clone());
    assert_eq!(errors(KIND, &with(&both, "/spec/dataSourceRef", of_core)), [""; 0]);
}

pub fn updates() {
    let pending = claim();
    assert_eq!(status_errors(KIND, &pending, &with(&pending, "/status/phase", json!("Gone"))), [""; 0]);
    let mut bound = with(&pending, "/status", json!({"phase": "Bound", "capacity": {"storage": "512Mi"}}));
    bound = with(&with(&bound, "/spec/volumeName", json!("v")), "/spec/storageClassName", json!("c"));
    let size = "/spec/resources/requests/storage";
    for (old, pointer, value, expected) in [
        (&pending, "/spec/volumeName", json!("v"), vec![]),
        (&pending, "/spec/storageClassName", json!("c"), vec![]),
        (&pending, size, json!("2Gi"), vec![FIXED]),
        // What is not given counts as nothing.
        (
            &pending,
            "/spec/resources",
            json!({}),
            vec![
                "spec.resources[storage]: Required value",
                "spec.resources[storage]: Required value",
                FIXED,
                "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
            ],
        ),
        (&bound, size, json!("2Gi"), vec![]),
        (&bound, size, json!("768Mi"), vec![]),
        (
            &bound,
            size,
            json!("512Mi"),
            vec!["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"],
        ),
        (&bound, "/spec/volumeName", json!("w"), vec![FIXED]),
        (&bound, "/spec/storageClassName", json!("d"), vec![FIXED]),
        (&bound, "/spec/volumeAttributesClassName", json!("gold"), vec![]),
        (
            &bound,
            "/spec/volumeMode",
            json!("Block"),
            vec![FIXED, r#"volumeMode: Invalid value: "Block": field is immutable"#],
        ),
    ] {
        let new = with(old, pointer, value.clone());
        assert_eq!(update_errors(KIND, old, &new), expected, "{pointer} {value}");
    }
}
