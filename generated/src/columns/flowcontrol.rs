//! Flow schemas: whether their priority level exists.

use orch_runtime::{Tree, resource_def::CellContext};

use super::text;

/// The status of the condition that reports a missing priority level.
pub fn missing_priority_level(schema: &Tree, _: &CellContext<'_>) -> Tree {
    let conditions = schema.pointer("/status/conditions").and_then(Tree::as_array);
    let mut dangling = conditions.into_iter().flatten().filter(|item| text(item, "/type") == "Dangling");
    dangling.next().map_or("?", |condition| text(condition, "/status")).into()
}
