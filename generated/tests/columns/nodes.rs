//! Cells of nodes and of migrations.

use orch_api::{
    KUBERNETES,
    columns::{
        migration_resource, migration_status, node_external_ip, node_internal_ip, node_roles, node_status,
    },
};
use orch_runtime::{resource_def::CellContext, scalar::Time};
use serde_json::json;

#[test]
fn nodes() {
    let context = CellContext { vocabulary: &KUBERNETES, now: Time::from_unix_seconds(0) };
    for (conditions, unschedulable, expected) in [
        (json!(null), false, "Unknown"),
        (json!([{"type": "Ready", "status": "True"}]), true, "Ready,SchedulingDisabled"),
        (
            json!([{"type": "Other", "status": "True"}, {"type": "Ready", "status": "Unknown"}]),
            false,
            "NotReady",
        ),
    ] {
        let node = json!({"spec": {"unschedulable": unschedulable}, "status": {"conditions": conditions}});
        assert_eq!(node_status(&node, &context), expected);
    }
    let node = json!({
        "metadata": {"labels": {
            "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/": "",
            "kubernetes.io/role": "edge",
            "node-role.orch.io/other": "",
        }},
        "status": {"addresses": [
            {"type": "Hostname", "address": "h"}, {"type": "InternalIP", "address": "10.0.0.1"},
            {"type": "InternalIP", "address": "10.0.0.2"},
        ]},
    });
    assert_eq!(node_roles(&node, &context), "edge,worker");
    assert_eq!(node_roles(&json!({}), &context), "");
    assert_eq!(node_internal_ip(&node, &context), "10.0.0.1");
    assert_eq!(node_external_ip(&node, &context), "");
}

#[test]
fn migrations() {
    let context = CellContext { vocabulary: &KUBERNETES, now: Time::from_unix_seconds(0) };
    let conditions = json!([
        {"type": "Running", "status": "False"}, {"type": "Other", "status": "True"},
        {"type": "Failed", "status": "True"},
    ]);
    let mut migration =
        json!({"spec": {"resource": {"resource": "pods"}}, "status": {"conditions": conditions}});
    assert_eq!(migration_resource(&migration, &context), "pods");
    assert_eq!(migration_status(&migration, &context), "Failed");
    migration["spec"]["resource"]["group"] = json!("example.com");
    assert_eq!(migration_resource(&migration, &context), "pods.example.com");
    assert_eq!(migration_status(&json!({}), &context), "Unknown");
}
