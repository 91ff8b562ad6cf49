//! Cells of tables that no path leads to; schema files call them by name (`fn: bound_role`).
//!
//! A function gets the stored object and returns one cell.

mod flowcontrol;
mod rbac;
mod scheduling;
mod storage;

pub use self::{
    flowcontrol::missing_priority_level,
    rbac::{bound_groups, bound_role, bound_service_accounts, bound_users},
    scheduling::is_global_default,
    storage::{
        claim_access_modes, claim_capacity, csi_driver_token_requests, phase_or_terminating,
        storage_class_expansion, storage_class_name, storage_class_of, volume_access_modes, volume_capacity,
        volume_claim,
    },
};

use orch_runtime::Tree;

/// The text at a pointer; empty where there is none.
fn text<'t>(tree: &'t Tree, pointer: &str) -> &'t str {
    tree.pointer(pointer).and_then(Tree::as_str).unwrap_or_default()
}

/// The items of the list at a pointer; none where there is none.
fn items<'t>(tree: &'t Tree, pointer: &str) -> impl Iterator<Item = &'t Tree> {
    tree.pointer(pointer).and_then(Tree::as_array).into_iter().flatten()
}
