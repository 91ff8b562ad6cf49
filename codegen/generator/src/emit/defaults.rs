//! `SetDefaults`: constants of the schema and hand-written functions, here and in everything below.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

use super::{
    scope::Scope,
    shape::{Omitted, Presence, Resolved, presence},
    types::rust_ident,
};
use crate::model::{EnumValue, Field, ObjectType, Shape, Type, TypeKind, Usage};

/// The `impl SetDefaults` of an object type.
pub fn implementation(scope: &Scope<'_>, ty: &Type) -> TokenStream {
    let set_defaults = scope.import("orch_runtime::object", "SetDefaults");
    let name = format_ident!("{}", ty.name);
    let statements = statements(scope, ty);
    if statements.is_empty() {
        return quote!(impl #set_defaults for #name {});
    }
    quote! {
        impl #set_defaults for #name {
            fn set_defaults(&mut self) { #(#statements)* }
        }
    }
}

/// The body of `set_defaults`; empty where there is nothing to do.
pub fn statements(scope: &Scope<'_>, ty: &Type) -> Vec<TokenStream> {
    let TypeKind::Object(object) = &ty.kind else { return Vec::new() };
    let defaulter = ty.defaulter.as_ref().map(|name| {
        let function = scope.defaulter(ty, name);
        quote!(#function(self);)
    });
    defaulter
        .into_iter()
        .chain(object.fields.iter().flat_map(|field| field_statements(scope, field)))
        .collect()
}

fn field_statements(scope: &Scope<'_>, field: &Field) -> Vec<TokenStream> {
    let resolved = scope.resolve(&field.usage);
    let presence = presence(field, resolved);
    let name = rust_ident(&field.rust_name);
    let mut statements = Vec::new();
    if let Some(value) = default_value(scope, field) {
        statements.extend(fill(scope, field, resolved, presence, &value));
    }
    let place = quote!(self.#name);
    statements.extend(if presence.optional {
        below(scope, &field.usage, &quote!(value), &quote!(value), 0)
            .map(|below| quote!(if let Some(value) = &mut #place { #below }))
    } else {
        below(scope, &field.usage, &place, &quote!(&mut #place), 0)
    });
    statements
}

/// The expression of the default, where the field has one.
fn default_value(scope: &Scope<'_>, field: &Field) -> Option<TokenStream> {
    if let Some(function) = &field.default_fn {
        let function = format_ident!("{function}");
        return Some(quote!(crate::defaults::#function()));
    }
    field.default.as_ref().map(|value| literal(scope, &field.usage, value))
}

fn fill(
    scope: &Scope<'_>,
    field: &Field,
    resolved: Resolved<'_>,
    presence: Presence,
    value: &TokenStream,
) -> Option<TokenStream> {
    let name = rust_ident(&field.rust_name);
    if presence.optional {
        // A constant costs nothing to make, so it need not be made only on demand.
        let constant = match resolved {
            Resolved::Scalar(Shape::Boolean | Shape::Int32 | Shape::Int64 | Shape::Double)
            | Resolved::Enum(..) => true,
            Resolved::Scalar(Shape::IntOrString) => field.default.as_ref().is_some_and(Value::is_number),
            _ => false,
        };
        return Some(if constant && field.default_fn.is_none() {
            quote!(self.#name.get_or_insert(#value);)
        } else {
            quote!(self.#name.get_or_insert_with(|| #value);)
        });
    }
    if field.default.as_ref().is_some_and(is_empty_constant) {
        return None;
    }
    let is_empty = match resolved {
        // A plain object that is always there; its own fields have their own defaults.
        Resolved::Object(..) if presence.omitted == Omitted::Never && field.default_fn.is_none() => {
            return None;
        }
        Resolved::Scalar(Shape::String(_)) | Resolved::List(..) | Resolved::Map { .. } => {
            quote!(self.#name.is_empty())
        }
        _ => {
            let module = scope.runtime("presence");
            quote!(#module::is_empty(&self.#name))
        }
    };
    Some(quote!(if #is_empty { self.#name = #value; }))
}

/// A default that says no more than that the value is empty.
fn is_empty_constant(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Applies the defaults of what a place holds: an object, a list or a map. `receiver` is what a method is called
/// on, `reference` is the same as a `&mut`.
fn below(
    scope: &Scope<'_>,
    usage: &Usage,
    receiver: &TokenStream,
    reference: &TokenStream,
    depth: usize,
) -> Option<TokenStream> {
    match scope.resolve(usage) {
        Resolved::Object(id, _) => {
            scope.reach.defaults.contains(&id).then(|| quote!(#receiver.set_defaults();))
        }
        Resolved::List(item, _) => {
            let name = loop_variable(depth);
            let body = below(scope, item, &quote!(#name), &quote!(#name), depth + 1)?;
            Some(quote!(for #name in #reference { #body }))
        }
        Resolved::Map { value, .. } => {
            let name = loop_variable(depth);
            let body = below(scope, value, &quote!(#name), &quote!(#name), depth + 1)?;
            Some(quote!(for #name in #receiver.values_mut() { #body }))
        }
        _ => None,
    }
}

fn loop_variable(depth: usize) -> proc_macro2::Ident {
    if depth == 0 { format_ident!("item") } else { format_ident!("item_{depth}") }
}

/// A constant of the schema as a Rust expression. The checks have proven that it fits its place.
fn literal(scope: &Scope<'_>, usage: &Usage, value: &Value) -> TokenStream {
    match scope.resolve(usage) {
        Resolved::Scalar(shape) => scalar(scope, shape, value),
        Resolved::Enum(id, values) => {
            variant(scope, scope.model.ty(id), values, value.as_str().unwrap_or_default())
        }
        Resolved::Object(id, object) => structure(scope, scope.model.ty(id), object, value),
        Resolved::List(item, _) => {
            let items = value.as_array().into_iter().flatten().map(|value| literal(scope, item, value));
            quote!(vec![#(#items),*])
        }
        Resolved::Map { value: entry, .. } => {
            let map = scope.import("std::collections", "BTreeMap");
            let entries = value.as_object().into_iter().flatten().map(|(key, value)| {
                let value = literal(scope, entry, value);
                quote!((#key.to_owned(), #value))
            });
            quote!(#map::from([#(#entries),*]))
        }
        Resolved::Any => {
            let tree = scope.runtime("Tree");
            let text = value.to_string();
            quote!(#text.parse::<#tree>().expect("the generator wrote this JSON"))
        }
    }
}

fn scalar(scope: &Scope<'_>, shape: &Shape, value: &Value) -> TokenStream {
    let integer = || value.as_i64().unwrap_or_default();
    let text = || value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match shape {
        Shape::Boolean => {
            let value = value.as_bool().unwrap_or_default();
            quote!(#value)
        }
        Shape::Int32 | Shape::Int64 => number(integer()),
        Shape::Double => {
            let literal = Literal::f64_unsuffixed(value.as_f64().unwrap_or_default());
            quote!(#literal)
        }
        Shape::String(_) => {
            let text = text();
            quote!(#text.to_owned())
        }
        Shape::IntOrString => {
            let name = scope.import("orch_runtime::scalar", "IntOrString");
            if value.is_number() {
                let value = number(integer());
                quote!(#name::Int(#value))
            } else {
                let text = text();
                quote!(#name::String(#text.to_owned()))
            }
        }
        _ => {
            let text = text();
            quote!(#text.parse().expect("the generator has checked the default"))
        }
    }
}

/// An integer whose type follows from its place.
pub fn number(value: i64) -> TokenStream {
    let literal = Literal::u64_unsuffixed(value.unsigned_abs());
    if value < 0 { quote!(-#literal) } else { quote!(#literal) }
}

fn variant(scope: &Scope<'_>, ty: &Type, values: &[EnumValue], text: &str) -> TokenStream {
    let path = scope.type_path(ty);
    let Some(value) = values.iter().find(|value| value.value == text) else {
        return quote!(#path::from(#text));
    };
    let variant = rust_ident(&value.rust_name);
    quote!(#path::#variant)
}

fn structure(scope: &Scope<'_>, ty: &Type, object: &ObjectType, value: &Value) -> TokenStream {
    let path = scope.type_path(ty);
    let given: Vec<TokenStream> = object
        .fields
        .iter()
        .filter_map(|field| {
            let value = literal(scope, &field.usage, value.get(&field.name)?);
            let name = rust_ident(&field.rust_name);
            let optional = presence(field, scope.resolve(&field.usage)).optional;
            Some(if optional { quote!(#name: Some(#value)) } else { quote!(#name: #value) })
        })
        .collect();
    if given.is_empty() {
        quote!(#path::default())
    } else if given.len() == object.fields.len() {
        quote!(#path { #(#given),* })
    } else {
        quote!(#path { #(#given,)* ..#path::default() })
    }
}
