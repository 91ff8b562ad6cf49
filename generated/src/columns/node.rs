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
