//! Rules in the expression language.

use super::walk;
use crate::{diagnostic::Diagnostics, lower::Lowered};

/// Rules are read and refused: a rule that is not enforced would be a promise that is not kept.
pub(super) fn unsupported(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let fields = walk::fields(lowered);
    let rules = lowered.model.types.iter().flat_map(|ty| &ty.validations);
    for rule in rules.chain(fields.iter().flat_map(|written| &written.field.validations)) {
        let help = "write the rule in Rust, and name the function: `x-orch-validator: check_widget`";
        diagnostics.error(&rule.span, "rules in the expression language are not supported yet", help);
    }
}
