//! `Node`: what is always written, each rule broken once, and what stays.

use crate::ask::{defaulted, errors, status_errors, update_errors, with};
use serde_json::json;

const KIND: &str = "Node";

pub fn what_is_always_written() {
    let unready = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let info = json!({
        "machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "", "osImage": "",
        "containerRuntimeVersion": "", "kubeletVersion": "", "kubeProxyVersion": "", "operatingSystem": "",
        "architecture": "",
    });
    assert_eq!(
        defaulted(KIND, &json!({})),
        json!({
            "spec": {"taints": [unready]},
            "status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": 0}}, "nodeInfo": info},
        })
    );
    let status = json!({"conditions": [{"type": "Ready", "status": "True"}], "images": [{"sizeBytes": 1}]});
    let complete = defaulted(KIND, &json!({"status": status}));
    assert_eq!(
        complete["status"]["conditions"],
        json!([{"type": "Ready", "status": "True", "lastHeartbeatTime": null, "lastTransitionTime": null}])
    );
    assert_eq!(complete["status"]["images"], json!([{"names": null, "sizeBytes": 1}]));
    // Where a node does not say what is available for pods, everything is.
    for (status, available) in [
        (json!({"capacity": {"cpu": "4", "pods": "110"}}), json!({"cpu": "4", "pods": "110"})),
        (json!({"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3"}}), json!({"cpu": "3"})),
    ] {
        assert_eq!(defaulted(KIND, &json!({"status": status}))["status"]["allocatable"], available);
    }
}

pub fn rules() {
    for (pointer, value, expected) in [
        (
            "/spec/taints",
            json!([
                {"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"},
                {"key": "a", "effect": "NoSchedule"}, {"key": "b"},
                {"key": "c", "effect": "Never", "value": "x y"},
            ]),
            vec![
                r#"metadata.taints[2]: Duplicate value: {"effect":"NoSchedule","key":"a"}: taints must be unique by key and effect pair"#,
                "metadata.taints[3].effect: Required value",
                "metadata.taints[4].value: Invalid value: \"x y\": a valid label must be an empty string or consist of \
                 alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
                 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
                r#"metadata.taints[4].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute""#,
            ],
        ),
        ("/spec/podCIDRs", json!(["10.0.0.0/24", "fd00::/64"]), vec![]),
        (
            "/spec/podCIDRs",
            json!(["10.0.0.0/24", "10.0.1.0/24"]),
            vec![
                r#"spec.podCIDRs: Invalid value: []string{"10.0.0.0/24", "10.0.1.0/24"}: may specify no more than one CIDR for each IP family"#,
            ],
        ),
        (
            "/status/addresses",
            json!([{"type": "InternalIP", "address": "a"}, {"type": "InternalIP", "address": "a"}]),
            vec![],
        ),
        (
            "/status/capacity",
            json!({"cpu": "-1"}),
            // What is available is the same, because it is not given.
            vec![
                r#"status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0"#,
                r#"status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0"#,
            ],
        ),
        (
            "/status/allocatable",
            json!({"cpu": "1500m", "pods": "1500m", "example.com/gpu": "1", "example.com/tpu": "-1500m"}),
            vec![
                r#"status.allocatable.example.com/tpu: Invalid value: "-1500m": must be greater than or equal to 0"#,
                r#"status.allocatable.example.com/tpu: Invalid value: "-1500m": must be an integer"#,
                r#"status.allocatable.pods: Invalid value: "1500m": must be an integer"#,
            ],
        ),
    ] {
        assert_eq!(errors(KIND, &with(&json!({}), pointer, value.clone())), expected, "{pointer} {value}");
    }
    let range = errors(KIND, &json!({"spec": {"podCIDRs": ["nope"]}}));
    assert!(
        range.len() == 1 && range[0].starts_with("spec.podCIDRs[0]: Invalid value: \"nope\": "),
        "{range:?}"
    );
}

pub fn updates() {
    let old = json!({"spec": {"podCIDRs": ["10.0.0.0/24"], "providerID": "p://x", "externalID": "e"}});
    for (pointer, value, expected) in [
        ("/spec/unschedulable", json!(true), vec![]),
        (
            "/spec/podCIDRs",
            json!(["10.0.1.0/24"]),
            vec![r#"spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid"#],
        ),
        (
            "/spec/providerID",
            json!(null),
            vec![
                r#"spec.providerID: Forbidden: node updates may not change providerID except from "" to valid"#,
            ],
        ),
        (
            "/spec/externalID",
            json!("f"),
            vec!["spec.externalID: Forbidden: may not be updated"],
        ),
        (
            "/spec/taints",
            json!([{"key": "a"}]),
            vec!["metadata.taints[0].effect: Required value"; 2],
        ),
    ] {
        assert_eq!(update_errors(KIND, &old, &with(&old, pointer, value)), expected, "{pointer}");
    }
    assert_eq!(update_errors(KIND, &json!({}), &with(&old, "/spec/externalID", json!(null))), [""; 0]);
    let told = json!({"status": {"addresses": [
        {"type": "InternalIP", "address": "a"}, {"type": "InternalIP", "address": "b"},
        {"type": "InternalIP", "address": "a"},
    ]}});
    assert_eq!(
        status_errors(KIND, &json!({}), &told),
        [r#"status.addresses[2]: Duplicate value: {"address":"a","type":"InternalIP"}"#]
    );
}
