//! Defaults: one source, a use, and a value that the field itself would accept.

use std::mem;

use super::{rules, value, walk};
use crate::{
    diagnostic::Diagnostics,
    lower::Lowered,
    model::{DefaultSource, Field, Model, ObjectType, Resolved, Shape, Step, Test, Usage},
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
            diagnostics.error(fault.span, message, fault.remedy);
        }
    }
}

/// Defaults that depend on other fields fill in fields of single objects, with values that these accept.
pub(super) fn conditional(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let model = &lowered.model;
    for written in walk::objects(lowered) {
        let all = written.schema.defaults.iter().flatten();
        for (rule, default) in all.zip(&written.object.defaults) {
            let conditions = default.when.iter().map(|condition| (&condition.path, &condition.span));
            let from = match &default.source {
                DefaultSource::Field(path) => Some((path, &default.span)),
                DefaultSource::Value(_) => None,
            };
            for (path, span) in conditions.chain([(&default.field, &rule.field.span)]).chain(from) {
                if let Err(lost) = model.target(written.object, path) {
                    rules::report(&lost, path, span, diagnostics);
                }
            }
            for condition in &default.when {
                let target = model.target(written.object, &condition.path).ok();
                if matches!(condition.test, Test::Changed(_)) {
                    let help = "defaults are filled in without the object before: ask for a value";
                    diagnostics.error(&condition.span, "a default does not see a change", help);
                } else if target.is_some_and(|target| !rules::fits(model, &condition.test, target)) {
                    let help =
                        "compare texts with texts, numbers with whole numbers, and booleans with booleans";
                    diagnostics.error(&condition.span, "the value can never be one of these", help);
                }
            }
            let Ok(target) = model.target(written.object, &default.field) else { continue };
            if default.field.contains(&Step::Each) || target.field.is_none() {
                let help = "write it at the type of the items";
                diagnostics.error(&rule.field.span, "a default of many fields", help);
            } else if let Some(value) = &rule.value {
                for fault in value::faults(model, target.usage, value) {
                    let message = format!("the default violates the schema of its field: {}", fault.what);
                    diagnostics.error(fault.span, message, fault.remedy);
                }
            }
            if let Some((path, span)) = from
                && !is_copied(model, written.object, path, target.usage)
            {
                let help = "name a field of the same object and type; a number may fill a number or a text";
                diagnostics.error(span, "a default from a field of another type", help);
            }
        }
    }
}

fn is_copied(model: &Model, object: &ObjectType, path: &[Step], to: &Usage) -> bool {
    let [Step::Field(_)] = path else { return false };
    let Ok(from) = model.target(object, path) else { return true };
    match (model.resolve(from.usage), model.resolve(to)) {
        (Resolved::Scalar(Shape::Int32), Resolved::Scalar(Shape::IntOrString)) => true,
        (Resolved::Enum(from, _), Resolved::Enum(to, _)) => from == to,
        (Resolved::Scalar(from), Resolved::Scalar(to)) => mem::discriminant(from) == mem::discriminant(to),
        _ => false,
    }
}

fn is_always_there(model: &Model, field: &Field) -> bool {
    let is_empty =
        field.default.as_ref().and_then(serde_json::Value::as_object).is_some_and(serde_json::Map::is_empty);
    is_empty && matches!(model.resolve(&field.usage), Resolved::Object(..))
}
