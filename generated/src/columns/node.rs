//! Nodes: status, roles and addresses.

use std::collections::BTreeSet;

use orch_runtime::{Tree, resource_def::CellContext};

use super::{items, text};

/// `Ready`, `NotReady` or `Unknown`, with `,SchedulingDisabled` if the node is unschedulable.
pub fn node_status(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    let ready = items(tree, "/status/conditions").find(|condition| text(condition, "/type") == "Ready");
    let status = match ready {
        None => "Unknown",
        Some(condition) if text(condition, "/status") == "True" => "Ready",
        Some(_) => "NotReady",
    };
    let is_unschedulable = tree.pointer("/spec/unschedulable").and_then(Tree::as_bool).unwrap_or_default();
    if is_unschedulable { format!("{status},SchedulingDisabled").into() } else { status.into() }
}

/// The roles, which are read from labels: `control-plane,worker`.
pub fn node_roles(tree: &Tree, context: &CellContext<'_>) -> Tree {
    let domain = context.vocabulary.label_domain;
    let (prefix, role) = (format!("node-role.{domain}/"), format!("{domain}/role"));
    let labels = tree.pointer("/metadata/labels").and_then(Tree::as_object);
    let roles: BTreeSet<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| match key.strip_prefix(&prefix) {
            None if *key == role => value.as_str(),
            named => named,
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.into_iter().collect::<Vec<_>>().join(",").into()
}

/// The first internal address.
pub fn node_internal_ip(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    address(tree, "InternalIP")
}

/// The first external address.
pub fn node_external_ip(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    address(tree, "ExternalIP")
}

fn address(tree: &Tree, kind: &str) -> Tree {
    let address = items(tree, "/status/addresses").find(|address| text(address, "/type") == kind);
    address.map_or_else(|| "".into(), |address| text(address, "/address").into())
}

#[cfg(test)]
mod tests {
    use orch_runtime::scalar::Time;
    use serde_json::json;

    use super::*;
    use crate::KUBERNETES;

    #[test]
    fn cells() {
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
            let node =
                json!({"spec": {"unschedulable": unschedulable}, "status": {"conditions": conditions}});
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
}
