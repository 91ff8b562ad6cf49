//! Defaults: one source, a use, and a value that the field itself would accept.

use super::{value, walk};
use crate::{
    diagnostic::Diagnostics,
    lower::Lowered,
    model::{Field, Model, Resolved},
};

/// A default is a constant or computed, not both.
pub(super) fn one_source(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::fields(lowered) {
        if written.schema.default.is_some() && written.schema.default_function.is_some() {
            let span = written.schema.key_span("x-orch-default");
            diagnostics.error(span, "two defaults for one field", "remove `default` or `x-orch-default`");
        }
    }
}

/// A field with a default is never missing, so that it cannot be required.
pub(super) fn not_required(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::fields(lowered) {
        let keyword = if written.schema.default.is_some() { "default" } else { "x-orch-default" };
        let has_default = written.schema.default.is_some() || written.schema.default_function.is_some();
        if written.field.required && has_default {
            let message = format!("`{}` is required and has a default", written.field.name);
            let help = "a client need not give it: remove it from `required`, or remove the default";
            diagnostics.error(written.schema.key_span(keyword), message, help);
        }
    }
}

/// A constant default satisfies the type and the constraints of its field. `{}` for an object only says that
/// the object is always there: what its fields are then is theirs to say, and required ones are judged like
/// any other value.
pub(super) fn valid(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::fields(lowered) {
        let Some(default) = &written.schema.default else { continue };
        if is_always_there(&lowered.model, written.field) {
            continue;
        }
        for fault in value::faults(&lowered.model, &written.field.usage, default) {
            let message =
                format!("the default of `{}` violates its own schema: {}", written.field.name, fault.what);
            diagnostics.error(fault.span, message, "change the default, or the rule that it breaks");
        }
    }
}

fn is_always_there(model: &Model, field: &Field) -> bool {
    let is_empty =
        field.default.as_ref().and_then(serde_json::Value::as_object).is_some_and(serde_json::Map::is_empty);
    is_empty && matches!(model.resolve(&field.usage), Resolved::Object(..))
}
