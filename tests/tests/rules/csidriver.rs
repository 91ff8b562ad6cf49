//! `CSIDriver`: defaults, rules, and what stays.

use crate::ask::{defaulted, errors, update_errors};
use serde_json::{Value, json};

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
     and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

fn driver(spec: &Value) -> Value {
    json!({"metadata": {"name": "d.example.com"}, "spec": spec})
}

pub fn defaults() {
    let defaults = json!({"spec": {
        "attachRequired": true, "podInfoOnMount": false, "volumeLifecycleModes": ["Persistent"],
        "storageCapacity": false, "fsGroupPolicy": "ReadWriteOnceWithFSType", "requiresRepublish": false,
        "seLinuxMount": false,
    }});
    assert_eq!(defaulted("CSIDriver", &json!({})), defaults);
    let given = json!({"spec": {
        "attachRequired": false, "podInfoOnMount": true, "volumeLifecycleModes": ["Ephemeral", "Persistent"],
        "storageCapacity": true, "fsGroupPolicy": "File", "tokenRequests": [{"audience": ""}],
        "requiresRepublish": true, "seLinuxMount": true,
    }});
    assert_eq!(defaulted("CSIDriver", &given), given);
}

pub fn names() {
    for (name, expected) in [
        ("A.Example.com".to_owned(), vec![]),
        ("-bad-".to_owned(), vec![format!("metadata.name: Invalid value: \"-bad-\": {SUBDOMAIN}")]),
        ("a".repeat(63), vec![]),
        ("a".repeat(64), vec!["metadata.name: Too long: may not be more than 63 bytes".to_owned()]),
    ] {
        assert_eq!(errors("CSIDriver", &json!({"metadata": {"name": name}})), expected);
    }
    let wrong = json!({
        "metadata": {"name": "a".repeat(64), "labels": {"a": "-"}},
        "spec": {"fsGroupPolicy": "Group", "volumeLifecycleModes": ["Sometimes"]},
    });
    let fields = errors("CSIDriver", &wrong);
    let fields: Vec<&str> = fields.iter().filter_map(|error| error.split(": ").next()).collect();
    assert_eq!(
        fields,
        ["metadata.name", "metadata.labels", "spec.fsGroupPolicy", "spec.volumeLifecycleModes"]
    );
}

pub fn rules() {
    for (spec, expected) in [
        (json!({"volumeLifecycleModes": ["Ephemeral", "Persistent"]}), vec![]),
        (
            json!({"volumeLifecycleModes": ["Ephemeral", "Ephemeral"]}),
            vec![],
        ),
        (json!({"tokenRequests": [{"audience": "a", "expirationSeconds": 600}, {"audience": ""}]}), vec![]),
        (
            json!({"fsGroupPolicy": "Group"}),
            vec![
                r#"spec.fsGroupPolicy: Unsupported value: "Group": supported values: "File", "None", "ReadWriteOnceWithFSType""#,
            ],
        ),
        (
            json!({"volumeLifecycleModes": ["Sometimes"]}),
            vec![
                r#"spec.volumeLifecycleModes: Unsupported value: "Sometimes": supported values: "Persistent", "Ephemeral""#,
            ],
        ),
        (
            json!({"tokenRequests": [{"audience": ""}, {"audience": "", "expirationSeconds": 1}]}),
            vec![r#"spec.tokenRequests[1].audience: Duplicate value: """#],
        ),
        (
            json!({"tokenRequests": [
                {"audience": "a", "expirationSeconds": 599},
                {"audience": "b", "expirationSeconds": 4_294_967_297_i64},
            ]}),
            vec![
                "spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 \
                 minutes",
                "spec.tokenRequests[1].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger \
                 than 2^32 seconds",
            ],
        ),
    ] {
        assert_eq!(errors("CSIDriver", &driver(&spec)), expected, "{spec}");
    }
}

pub fn updates() {
    let old = driver(&json!({}));
    for (spec, expected) in [
        (json!({"podInfoOnMount": true, "fsGroupPolicy": "None", "storageCapacity": true}), vec![]),
        (
            json!({"attachRequired": false, "volumeLifecycleModes": ["Ephemeral"]}),
            vec![
                "spec.attachedRequired: Invalid value: false: field is immutable",
                r#"spec.volumeLifecycleModes: Invalid value: []string{"Ephemeral"}: field is immutable"#,
            ],
        ),
    ] {
        assert_eq!(update_errors("CSIDriver", &old, &driver(&spec)), expected, "{spec}");
    }
}
