//! Names of types, fields and hand-written functions.

use super::walk;
use crate::{
    diagnostic::{Diagnostics, suggest},
    idl::Schema,
    lower::{Lowered, names},
};

/// Names that generated code uses for something else.
const TAKEN: &[&str] =
    &["Self", "Option", "Some", "None", "Result", "Ok", "Err", "String", "Vec", "Box", "Default"];

/// Fields that every kind has.
const IMPLIED: &[&str] = &["apiVersion", "kind", "metadata"];

/// Types have names that are Rust types, and not taken.
pub(super) fn type_names(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for ty in &lowered.model.types {
        if !names::is_type(&ty.name) {
            let help = "a type begins with a capital, and has letters and digits only: `WidgetSpec`";
            diagnostics.error(&ty.span, format!("`{}` cannot name a type", ty.name), help);
        } else if TAKEN.contains(&ty.name.as_str()) {
            let help = "generated code needs the name for something else: choose another";
            diagnostics.error(&ty.span, format!("the type name `{}` is reserved", ty.name), help);
        }
    }
}

/// No type has the name of a List kind, which is implied.
pub(super) fn list_kinds(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        let list_kind = format!("{}List", written.resource.kind);
        let mut types = written.group_version.types.iter().map(|id| lowered.model.ty(*id));
        if let Some(ty) = types.find(|ty| ty.name == list_kind) {
            let help = format!("the List of `{}` is implied: remove it", written.resource.kind);
            diagnostics.error(&ty.span, format!("the type name `{list_kind}` is reserved"), help);
        }
    }
}

/// Fields have plain names, and different ones in Rust.
pub(super) fn field_names(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for object in walk::objects(lowered) {
        for (index, field) in object.object.fields.iter().enumerate() {
            let plain = |ch: char| ch.is_ascii_alphanumeric() || "_-.$".contains(ch);
            if !field.name.chars().all(plain) || !field.name.chars().any(|ch| ch.is_ascii_alphanumeric()) {
                let help = "a field has letters and digits, and begins with a small letter: `podIP`";
                diagnostics.error(&field.span, format!("`{}` cannot name a field", field.name), help);
            }
            let earlier = &object.object.fields[..index];
            let same =
                earlier.iter().find(|other| other.rust_name == field.rust_name && other.name != field.name);
            if let Some(same) = same {
                let message =
                    format!("`{}` and `{}` are both `{}` in Rust", same.name, field.name, field.rust_name);
                diagnostics.error(&field.span, message, "rename one of the two");
            }
        }
    }
}

/// A kind does not write the fields that are implied.
pub(super) fn reserved_fields(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::fields(lowered) {
        let is_kind = written.object.schema.resource.is_some();
        if is_kind && IMPLIED.contains(&written.field.name.as_str()) {
            let message = format!("the field name `{}` is reserved in a kind", written.field.name);
            diagnostics.error(&written.field.span, message, "every kind has it: remove it");
        }
    }
}

/// `required` names fields that exist, each once.
pub(super) fn required_fields(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for object in walk::objects(lowered) {
        let names: Vec<&str> = object.object.fields.iter().map(|field| field.name.as_str()).collect();
        let required: Vec<_> = object.schema.required.iter().flatten().collect();
        for (index, name) in required.iter().enumerate() {
            if !names.contains(&name.value.as_str()) {
                let message = format!("`required` names the unknown field `{}`", name.value);
                diagnostics.error(&name.span, message, suggest::did_you_mean(&name.value, &names));
            } else if required[..index].iter().any(|other| other.value == name.value) {
                let message = format!("`required` names `{}` twice", name.value);
                diagnostics.error(&name.span, message, "remove one of the two");
            }
        }
    }
}

/// Hand-written functions have names that Rust accepts.
pub(super) fn functions(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let fields = walk::fields(lowered);
    let schemas: Vec<&Schema> =
        lowered.written.iter().copied().chain(fields.iter().map(|field| field.schema)).collect();
    for schema in schemas {
        let default = schema.default_function.as_ref().map(|default| &default.function);
        let columns = schema.resource.iter().flat_map(|resource| resource.columns.iter().flatten());
        let columns = columns.filter_map(|column| column.function.as_ref());
        let conversions = schema.resource.iter().filter_map(|resource| resource.conversion.as_ref());
        let conversions = conversions.flat_map(|it| it.steps.iter().flatten());
        let conversions = conversions.filter_map(|step| step.function.as_ref());
        let functions = schema
            .validator
            .iter()
            .chain(&schema.first_validator)
            .chain(&schema.update_validator)
            .chain(&schema.defaulter)
            .chain(default)
            .chain(schema.own_format.as_ref().map(|format| &format.function))
            .chain(columns)
            .chain(conversions);
        for function in functions {
            if !names::is_function(&function.value) {
                let message = format!("`{}` cannot name a Rust function", function.value);
                let help = "small letters, digits and underscores: `check_ports`";
                diagnostics.error(&function.span, message, help);
            }
        }
    }
}
