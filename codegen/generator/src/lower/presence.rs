//! What of a field depends on the shape behind names: whether it is left out where it is empty or absent, and
//! which prose it inherits.

use crate::{
    diagnostic::Diagnostics,
    idl::Schema,
    model::{Field, Model, Resolved, Shape, TypeKind, Usage},
};

/// What "empty" means for a shape.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Empty {
    /// Left out unless said otherwise: `""`, no items.
    LeftOut,
    /// Left out only on request: `0`, `false`.
    OnRequest,
    /// There is no empty value.
    Never,
}

/// What is settled of a field.
struct Settled {
    omit_empty: bool,
    null_when_absent: bool,
    description: String,
}

/// Settles `omit_empty`, `null_when_absent` and inherited descriptions of all fields.
pub(super) fn settle(model: &mut Model, written: &[&Schema], diagnostics: &mut Diagnostics) {
    for (index, schema) in written.iter().enumerate() {
        let TypeKind::Object(object) = &model.types[index].kind else { continue };
        let settled: Vec<Settled> = object
            .fields
            .iter()
            .map(|field| {
                let mut properties = schema.properties.iter().flat_map(|properties| &properties.0);
                let property =
                    properties.find(|(name, _)| name.value == field.name).map(|(_, schema)| schema);
                Settled {
                    omit_empty: omit_empty(model, field, property, diagnostics),
                    null_when_absent: null_when_absent(model, field, property),
                    description: description(model, field),
                }
            })
            .collect();
        let TypeKind::Object(object) = &mut model.types[index].kind else { continue };
        for (field, settled) in object.fields.iter_mut().zip(settled) {
            field.omit_empty = settled.omit_empty;
            field.null_when_absent = settled.null_when_absent;
            field.description = settled.description;
        }
    }
}

fn omit_empty(model: &Model, field: &Field, written: Option<&Schema>, diagnostics: &mut Diagnostics) -> bool {
    let empty = empty(model, &field.usage);
    let Some(asked) = written.and_then(|schema| schema.omit_empty.as_ref()) else {
        return !field.required && empty == Empty::LeftOut;
    };
    if field.required && asked.value {
        let help = "a required field is always written: remove it, or make the field optional";
        diagnostics.error(&asked.span, "`x-orch-omit-empty` on a required field", help).code("E0210");
        return false;
    }
    if asked.value && empty == Empty::Never {
        let help = "a value of this type is left out when it is absent: remove it";
        diagnostics
            .error(&asked.span, "`x-orch-omit-empty` on a value that is never empty", help)
            .code("E0210");
        return false;
    }
    asked.value
}

/// Times have no empty value: to leave out none of them is to write null.
fn null_when_absent(model: &Model, field: &Field, written: Option<&Schema>) -> bool {
    let asked = written.and_then(|schema| schema.omit_empty.as_ref());
    let is_time = || matches!(model.resolve(&field.usage), Resolved::Scalar(Shape::Time | Shape::MicroTime));
    !field.required && asked.is_some_and(|asked| !asked.value) && is_time()
}

fn empty(model: &Model, usage: &Usage) -> Empty {
    match model.resolve(usage) {
        Resolved::Scalar(Shape::String(_) | Shape::Bytes) | Resolved::List(..) | Resolved::Map { .. } => {
            Empty::LeftOut
        }
        Resolved::Scalar(Shape::Boolean | Shape::Int32 | Shape::Int64 | Shape::Double) => Empty::OnRequest,
        _ => Empty::Never,
    }
}

/// The field's own prose, or that of the type it refers to.
fn description(model: &Model, field: &Field) -> String {
    match &field.usage.shape {
        Shape::Named(id) if field.description.is_empty() => model.ty(*id).description.clone(),
        _ => field.description.clone(),
    }
}
