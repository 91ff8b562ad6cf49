//! Which required texts may be empty although no `minLength` says so.

use std::collections::BTreeSet;

use super::references::Declared;
use crate::{
    diagnostic::{Diagnostics, Span},
    load::SchemaFile,
    model::{Check, Demand, Field, Model, ObjectType, Resolved, Shape, Step, TypeKind},
};

/// Settles `accepts_empty` of all fields, and reports where nothing accepts what it says that it accepts.
pub(super) fn settle(model: &mut Model, declared: &Declared<'_>, diagnostics: &mut Diagnostics) {
    let mut accepting = BTreeSet::new();
    for (index, declaration) in declared.list.iter().enumerate() {
        let TypeKind::Object(object) = &model.types[index].kind else { continue };
        let has_texts = object.fields.iter().any(|field| is_open(model, field));
        let (of_file, of_type) = (said_in(declaration.file), declaration.schema.empty_texts.as_ref());
        if has_texts {
            accepting.insert(&declaration.file.path);
        } else if let Some(said) = of_type {
            pointless(&said.span, "type", diagnostics);
        }
        let accepts = of_file.is_some() || of_type.is_some();
        let settled: Vec<bool> =
            object.fields.iter().map(|field| accepts || says_when(object, &field.name)).collect();
        let TypeKind::Object(object) = &mut model.types[index].kind else { continue };
        for (field, accepts) in object.fields.iter_mut().zip(settled) {
            field.accepts_empty = accepts;
        }
    }
    let mut reported = BTreeSet::new();
    for file in declared.list.iter().map(|declaration| declaration.file) {
        if let Some(span) = said_in(file)
            && !accepting.contains(&file.path)
            && reported.insert(&file.path)
        {
            pointless(span, "file", diagnostics);
        }
    }
}

/// Where a file says that it accepts them.
fn said_in(file: &SchemaFile) -> Option<&Span> {
    file.document.empty_texts.as_ref().map(|said| &said.span)
}

/// Whether a field is a required text without a length of its own.
fn is_open(model: &Model, field: &Field) -> bool {
    let is_text = matches!(model.resolve(&field.usage), Resolved::Scalar(Shape::String(_)));
    field.required && is_text && model.innermost(&field.usage).constraints.min_length.is_none()
}

/// Whether a rule of an object says when one of its fields is required. It has its own words and its own
/// turn, so the field does not say it once more.
fn says_when(object: &ObjectType, field: &str) -> bool {
    let is_about = |check: &Check| matches!(&check.field[..], [Step::Field(name)] if name == field);
    object.checks.iter().any(|check| {
        matches!(check.demand, Demand::Required)
            && is_about(check)
            && !check.of_old
            && !check.is_about_change()
    })
}

fn pointless(span: &Span, what: &str, diagnostics: &mut Diagnostics) {
    let message = format!("the {what} has no required text that could be empty");
    diagnostics.error(span, message, "remove `x-orch-empty-texts`").code("E0210");
}
