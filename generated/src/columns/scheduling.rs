//! Priority classes: the default one.

use orch_runtime::{Tree, resource_def::CellContext};

/// Whether the class is the default for pods that name no class.
pub fn is_global_default(class: &Tree, _: &CellContext<'_>) -> Tree {
    class.get("globalDefault").and_then(Tree::as_bool).unwrap_or_default().into()
}
