//! Controller revisions: the object that owns each of them.

use orch_runtime::{Tree, resource_def::CellContext};

use super::text;

/// The workload that controls the revision: `daemonset.apps/logs`.
pub fn controller_revision_controller(revision: &Tree, _: &CellContext<'_>) -> Tree {
    let owners = revision.pointer("/metadata/ownerReferences").and_then(Tree::as_array);
    let controls = |owner: &&Tree| owner.get("controller").and_then(Tree::as_bool) == Some(true);
    let Some(owner) = owners.and_then(|owners| owners.iter().find(controls)) else { return Tree::Null };
    let kind = text(owner, "/kind").to_lowercase();
    let group = text(owner, "/apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    let dot = if group.is_empty() { "" } else { "." };
    format!("{kind}{dot}{group}/{}", text(owner, "/name")).into()
}
