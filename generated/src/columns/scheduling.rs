//! Priority classes: the default one.

use orch_runtime::{Tree, resource_def::CellContext};

/// Whether pods without a class have this one; classes that do not say so are not.
pub fn is_global_default(class: &Tree, _: &CellContext<'_>) -> Tree {
    class.get("globalDefault").and_then(Tree::as_bool).unwrap_or_default().into()
}
