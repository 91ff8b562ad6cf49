//! Every type and field says what it means.

use super::walk;
use crate::{diagnostic::Diagnostics, lower::Lowered};

const HELP: &str = "add `description:`: it is published, and client tools show it to people";

/// Types have a description; fields have one, or refer to a type that has.
pub(super) fn present(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for ty in lowered.model.types.iter().filter(|ty| ty.description.is_empty()) {
        diagnostics.warning(&ty.span, format!("the type `{}` has no description", ty.name), HELP);
    }
    for written in walk::fields(lowered) {
        if written.field.description.is_empty() && written.schema.reference.is_none() {
            let message = format!("the field `{}` has no description", written.field.name);
            diagnostics.warning(&written.field.span, message, HELP);
        }
    }
}
