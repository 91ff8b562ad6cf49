//! `StorageClass` and `CSIStorageCapacity`: defaults, rules, and what stays.

use crate::ask::{defaulted, errors, update_errors, with};
use serde_json::json;

pub fn defaults() {
    assert_eq!(
        defaulted("StorageClass", &json!({"provisioner": "p"})),
        json!({"provisioner": "p", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"})
    );
    let given = json!({
        "provisioner": "example.com/p", "parameters": {"a": "b"}, "reclaimPolicy": "Retain",
        "mountOptions": ["ro"],
        "allowVolumeExpansion": false, "volumeBindingMode": "WaitForFirstConsumer",
        "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
    });
    assert_eq!(defaulted("StorageClass", &given), given);
}

pub fn rules() {
    let term = |expressions| json!({"matchLabelExpressions": expressions});
    for (field, value, expected) in [
        ("provisioner", json!("Example.com/P"), vec![]),
        ("provisioner", json!(""), vec!["provisioner: Required value".to_owned()]),
        (
            "reclaimPolicy",
            json!("Recycle"),
            vec![r#"reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain""#.to_owned()],
        ),
        (
            "volumeBindingMode",
            json!("Later"),
            vec![
                r#"volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer""#
                    .to_owned(),
            ],
        ),
        ("parameters", json!({"": "x"}), vec![r#"parameters: Invalid value: "": field can not be empty."#.to_owned()]),
        (
            "parameters",
            json!({"k": "x".repeat(256 * 1024)}),
            vec!["parameters: Too long: may not be more than 262144 bytes".to_owned()],
        ),
        (
            "allowedTopologies",
            json!([
                term(json!([{"key": "zone", "values": ["a", "b"]}])),
                term(json!([{"key": "zone", "values": ["b", "a"]}])),
            ]),
            vec![r#"allowedTopologies[1].matchLabelExpressions: Duplicate value: """#.to_owned()],
        ),
        (
            "allowedTopologies",
            json!([term(json!([
                {"key": "zone", "values": []}, {"key": "zone", "values": ["a", "a"]},
                {"key": "", "values": ["a"]},
            ]))]),
            vec![
                "allowedTopologies[0].matchLabelExpressions[0].values: Required value".to_owned(),
                r#"allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate value: "a""#.to_owned(),
                r#"allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "zone""#.to_owned(),
                r#"allowedTopologies[0].matchLabelExpressions[2].key: Invalid value: "": name part must be non-empty"#
                    .to_owned(),
                "allowedTopologies[0].matchLabelExpressions[2].key: Invalid value: \"\": name part must consist of \
                 alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
                 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                 '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
                    .to_owned(),
            ],
        ),
    ] {
        let class = with(&json!({"provisioner": "p"}), &format!("/{field}"), value);
        assert_eq!(errors("StorageClass", &class), expected, "{class}");
    }
    let many: serde_json::Map<String, _> = (0..513).map(|n| (format!("k{n}"), json!(""))).collect();
    assert_eq!(
        errors("StorageClass", &json!({"provisioner": "p", "parameters": many})),
        ["parameters: Too long: may not be more than 512 bytes"]
    );
}

pub fn errors_follow_the_order_of_the_reference() {
    let wrong = json!({
        "metadata": {"name": "c", "labels": {"a": "-"}}, "provisioner": "", "parameters": {"": ""},
        "reclaimPolicy": "Burn", "volumeBindingMode": "Never",
        "allowedTopologies": [{"matchLabelExpressions": [{"key": "a", "values": []}]}],
    });
    let told = errors("StorageClass", &wrong);
    let fields: Vec<&str> = told.iter().filter_map(|error| error.split(": ").next()).collect();
    assert_eq!(
        fields,
        [
            "metadata.labels",
            "provisioner",
            "parameters",
            "reclaimPolicy",
            "volumeBindingMode",
            "allowedTopologies[0].matchLabelExpressions[0].values",
        ]
    );
}

pub fn updates() {
    let old = json!({"provisioner": "p", "parameters": {"a": "b"}});
    let open = json!({
        "provisioner": "p", "parameters": {"a": "b"}, "allowVolumeExpansion": true, "mountOptions": ["ro"],
    });
    assert_eq!(update_errors("StorageClass", &old, &open), [""; 0]);
    let new =
        json!({"provisioner": "q", "reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer"});
    assert_eq!(
        update_errors("StorageClass", &old, &new),
        [
            "parameters: Forbidden: updates to parameters are forbidden.",
            "provisioner: Forbidden: updates to provisioner are forbidden.",
            "reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.",
            "volumeBindingMode: Invalid value: \"WaitForFirstConsumer\": field is immutable",
        ]
    );
}

pub fn capacities() {
    let good =
        json!({"storageClassName": "fast", "nodeTopology": {"matchLabels": {"zone": "a"}}, "capacity": "0"});
    assert_eq!(errors("CSIStorageCapacity", &good), [""; 0]);
    assert_eq!(defaulted("CSIStorageCapacity", &good), good);
    let bad = json!({
        "storageClassName": "Fast", "capacity": "-1", "maximumVolumeSize": "-1Gi",
        "nodeTopology": {"matchExpressions": [
            {"key": "a", "operator": "In"}, {"key": "a", "operator": "Exists", "values": ["b"]},
            {"key": "a", "operator": "Near", "values": ["b"]},
        ]},
    });
    assert_eq!(
        errors("CSIStorageCapacity", &bad),
        [
            "nodeTopology.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
            "nodeTopology.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or \
             'DoesNotExist'",
            "nodeTopology.matchExpressions[2].operator: Invalid value: \"Near\": not a valid selector operator",
            "storageClassName: Invalid value: \"Fast\": a lowercase RFC 1123 subdomain must consist of lower case \
             alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. \
             'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            "capacity: Invalid value: \"-1\": must be greater than or equal to 0",
        ]
    );
    assert_eq!(
        update_errors("CSIStorageCapacity", &good, &json!({"storageClassName": "slow", "capacity": "1Gi"})),
        [
            "nodeTopology: Invalid value: \"null\": field is immutable",
            "storageClassName: Invalid value: \"slow\": field is immutable",
        ]
    );
}
