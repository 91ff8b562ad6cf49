//! Feature gates that schema files describe.

use super::{
    codes,
    comparison::{Comparison, Named},
};
use crate::source::Node;

/// A gate that was on stays on, and a feature does not go back to alpha.
pub(super) fn compare(cx: &mut Comparison<'_>) {
    for (name, old) in cx.old_gates.clone() {
        let Some(new) = cx.new_gates.get(name).copied() else { continue };
        let turned_off = is_on(old) && !is_on(new);
        if !(turned_off || is_alpha(new) && !is_alpha(old)) {
            continue;
        }
        let (Some(new), Some(old)) = (side(new), side(old.or(new))) else { continue };
        let message = format!("the gate `{name}` was on or of a beta feature, and is not any more");
        let help = "what clients write behind it would be dropped: leave it as it was";
        cx.keyword(codes::GATED, name, "stage", (old, new), (message, help));
    }
}

fn side(described: Option<&Node>) -> Option<Named<'_>> {
    described.map(|node| Named { node, span: &node.span })
}

/// Whether a gate is on by default: by its stage, unless it says so itself. One that nobody describes is on.
pub(super) fn is_on(described: Option<&Node>) -> bool {
    let stated = described.and_then(|gate| gate.get("default")?.to_json().as_bool());
    stated.unwrap_or_else(|| !is_alpha(described))
}

/// Whether a gate is of an alpha feature.
pub(super) fn is_alpha(described: Option<&Node>) -> bool {
    described.and_then(|gate| gate.get("stage")?.text()) == Some("alpha")
}
