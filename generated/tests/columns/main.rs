//! Cells of hand-written columns, for objects in various states.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

mod events;
mod nodes;
mod volumes;

use orch_api::KUBERNETES;
use orch_runtime::{
    Tree,
    resource_def::{CellContext, ColumnValue},
    scalar::Time,
};
use serde_json::json;

#[test]
fn flow_schema_tables_show_a_missing_level() {
    let context = context();
    for (conditions, expected) in [
        (json!([]), "?"),
        (json!([{"type": "Other", "status": "True"}]), "?"),
        (json!([{"type": "Other", "status": "True"}, {"type": "Dangling", "status": "False"}]), "False"),
    ] {
        let tree = json!({"status": {"conditions": conditions}});
        assert_eq!(orch_api::columns::missing_priority_level(&tree, &context), expected);
    }
}

#[test]
fn tables_say_which_class_is_the_default() {
    let context = context();
    for (tree, expected) in [(json!({"globalDefault": true}), true), (json!({}), false)] {
        assert_eq!(orch_api::columns::is_global_default(&tree, &context), expected);
    }
}

#[test]
fn tables_show_whom_a_role_is_granted_to() {
    let context = context();
    let tree = json!({
        "subjects": [
            {"kind": "User", "name": "u"}, {"kind": "Group", "name": "g"},
            {"kind": "ServiceAccount", "name": "s", "namespace": "n"}, {"kind": "User", "name": "v"},
        ],
        "roleRef": {"kind": "ClusterRole", "name": "system:view"},
    });
    for (cell, expected) in [
        (orch_api::columns::bound_role(&tree, &context), "ClusterRole/system:view"),
        (orch_api::columns::bound_users(&tree, &context), "u, v"),
        (orch_api::columns::bound_groups(&tree, &context), "g"),
        (orch_api::columns::bound_service_accounts(&tree, &context), "n/s"),
        (orch_api::columns::bound_users(&json!({}), &context), ""),
    ] {
        assert_eq!(cell, expected);
    }
}

#[test]
fn tables_show_where_a_service_is_reached() {
    let cells = |service: &Tree| computed("Service", service);
    let spec = json!({"spec": {
        "type": "LoadBalancer", "selector": {"b": "2", "a": "1"}, "externalIPs": ["192.0.2.1"],
        "ports": [{"port": 80, "protocol": "TCP"}, {"port": 443, "nodePort": 30443, "protocol": "TCP"}],
    }, "status": {"loadBalancer": {"ingress": [{"hostname": "h"}, {"ip": "192.0.2.9"}]}}});
    assert_eq!(cells(&spec), ["h,192.0.2.9,192.0.2.1", "80/TCP,443:30443/TCP", "a=1,b=2"]);
    assert_eq!(cells(&json!({"spec": {"type": "LoadBalancer"}})), ["<pending>", "", ""]);
    assert_eq!(cells(&json!({"spec": {"type": "ClusterIP"}})), ["<none>", "", ""]);
    assert_eq!(cells(&json!({"spec": {"type": "ExternalName", "externalName": "x"}})), ["x", "", ""]);
}

#[test]
fn pod_lists_show_the_reason() {
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {
            "containers": [{"name": "c"}, {"name": "d"}],
            "initContainers": [{"name": "i"}, {"name": "j", "restartPolicy": "Always"}],
        },
        "status": {"phase": "Pending"},
    });
    let set = |field: &str, value: Tree| {
        let mut pod = pod.clone();
        pod[field] = value;
        pod
    };
    let status = |value: Tree| set("status", value);
    let running = json!({"running": {}});
    let ended = json!({"terminated": {"exitCode": 1, "finishedAt": "2026-11-20T15:15:18Z"}});
    let ready = json!({"name": "c", "ready": true, "restartCount": 2, "state": running, "lastState": ended});
    for (tree, expected) in [
        (pod.clone(), json!(["0/3", "Pending", "0", "", null])),
        (
            status(json!({"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": [
                ready,
                {"name": "d", "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
            ]})),
            json!(["1/3", "CrashLoopBackOff", "2 (5m ago)", "10.0.0.1", null]),
        ),
        (
            status(json!({"phase": "Pending", "initContainerStatuses": [
                {"name": "i", "state": {"waiting": {"reason": "PodInitializing"}}},
            ]})),
            json!(["0/3", "Init:0/2", "0", "", null]),
        ),
        (
            status(json!({"phase": "Pending", "initContainerStatuses": [
                {"name": "i", "restartCount": 1, "state": ended},
            ]})),
            json!(["0/3", "Init:ExitCode:1", "1", "", null]),
        ),
        (
            status(json!({"phase": "Failed", "containerStatuses": [
                {"name": "c", "state": {"terminated": {"exitCode": 0, "signal": 9}}},
            ]})),
            json!(["0/3", "Signal:9", "0", "", null]),
        ),
        (
            set("metadata", json!({"deletionTimestamp": "2026-11-20T15:15:18Z"})),
            json!(["0/3", "Terminating", "0", "", null]),
        ),
        (
            json!({
                "spec": {
                    "containers": [{"name": "c"}, {"name": "d"}],
                    "readinessGates": [{"conditionType": "g"}, {"conditionType": "h"}],
                },
                "status": {"phase": "Running", "conditions": [{"type": "g", "status": "True"}]},
            }),
            json!(["0/2", "Running", "0", "", "1/2"]),
        ),
    ] {
        assert_eq!(Tree::from(computed("Pod", &tree)), expected, "{tree}");
    }
}

/// The cells of the computed columns.
fn computed(kind: &str, tree: &Tree) -> Vec<Tree> {
    let kinds = orch_api::registry().iter().flat_map(|group_version| group_version.resources);
    let resource = kinds.copied().find(|resource| resource.kind == kind).unwrap();
    let functions = resource.columns.iter().filter_map(|column| match column.value {
        ColumnValue::Computed(function) => Some(function),
        _ => None,
    });
    functions.map(|function| function(tree, &context())).collect()
}

fn context() -> CellContext<'static> {
    let now = "2026-11-20T15:20:18Z".parse::<Time>().unwrap();
    CellContext { vocabulary: &KUBERNETES, now }
}
