//! Table cells that no column path can give; schema files call these functions by name (`fn: bound_role`).
//!
//! A function gets the stored object and returns one cell.

mod controller_revision;
mod daemon_set;
mod event;
mod flowcontrol;
mod migration;
mod node;
mod pod;
mod policy;
mod rbac;
mod scheduling;
mod service;
mod storage;

pub use self::{
    controller_revision::controller_revision_controller,
    daemon_set::{
        daemon_set_available, daemon_set_containers, daemon_set_images, daemon_set_selector,
        daemon_set_updated,
    },
    event::{
        event_count, event_first_seen, event_last_seen, event_message, event_object, event_source,
        reported_event_count, reported_event_first_seen, reported_event_last_seen, reported_event_message,
        reported_event_object, reported_event_source,
    },
    flowcontrol::missing_priority_level,
    migration::{migration_resource, migration_status},
    node::{node_external_ip, node_internal_ip, node_roles, node_status},
    pod::{pod_ip, pod_readiness_gates, pod_ready, pod_restarts, pod_status},
    policy::{budget_max_unavailable, budget_min_available},
    rbac::{bound_groups, bound_role, bound_service_accounts, bound_users},
    scheduling::is_global_default,
    service::{service_external_ip, service_ports, service_selector},
    storage::{
        claim_access_modes, claim_capacity, csi_driver_token_requests, phase_or_terminating,
        storage_class_expansion, storage_class_name, storage_class_of, volume_access_modes, volume_capacity,
        volume_claim,
    },
};

use orch_runtime::Tree;

/// The text at a JSON pointer; empty if there is none.
fn text<'t>(tree: &'t Tree, pointer: &str) -> &'t str {
    tree.pointer(pointer).and_then(Tree::as_str).unwrap_or_default()
}

/// The items of the list at a JSON pointer; none if there is no list.
fn items<'t>(tree: &'t Tree, pointer: &str) -> impl Iterator<Item = &'t Tree> {
    tree.pointer(pointer).and_then(Tree::as_array).into_iter().flatten()
}
