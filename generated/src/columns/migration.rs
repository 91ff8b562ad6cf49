//! Storage version migrations: the resource and the state.

use orch_runtime::{Tree, resource_def::CellContext};

use super::{items, text};

const CONDITIONS: &[&str] = &["Running", "Succeeded", "Failed"];

/// The resource that is migrated: `leases.coordination.k8s.io`.
pub fn migration_resource(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    let resource = text(tree, "/spec/resource/resource");
    match text(tree, "/spec/resource/group") {
        "" => resource.into(),
        group => format!("{resource}.{group}").into(),
    }
}

/// The type of the condition that is `True`; `Unknown` if there is none.
pub fn migration_status(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    let mut holding = items(tree, "/status/conditions")
        .filter(|condition| text(condition, "/status") == "True")
        .map(|condition| text(condition, "/type"));
    holding.find(|kind| CONDITIONS.contains(kind)).unwrap_or("Unknown").into()
}
