//! `SetDefaults`: constants of the schema and hand-written functions, here and in everything below.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::Value;

use super::{emitter::Emitter, literal::literal};
use crate::model::{Field, Resolved, Shape, Type, TypeKind, Usage};

/// The `impl SetDefaults` of an object type.
pub fn implementation(emitter: &Emitter<'_>, ty: &Type) -> TokenStream {
    let set_defaults = emitter.import("orch_runtime::object", "SetDefaults");
    let name = format_ident!("{}", ty.name);
    let statements = statements(emitter, ty);
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
pub fn statements(emitter: &Emitter<'_>, ty: &Type) -> Vec<TokenStream> {
    let TypeKind::Object(object) = &ty.kind else { return Vec::new() };
    let defaulter = ty.defaulter.as_ref().map(|name| {
        let function = emitter.defaulter(ty, name);
        quote!(#function(self);)
    });
    defaulter
        .into_iter()
        .chain(object.fields.iter().flat_map(|field| field_statements(emitter, field)))
        .collect()
}

fn field_statements(emitter: &Emitter<'_>, field: &Field) -> Vec<TokenStream> {
    let name = format_ident!("{}", field.rust_name);
    let mut statements = Vec::new();
    if let Some(value) = default_value(emitter, field).filter(|_| field.is_filled(emitter.model)) {
        statements.push(fill(emitter, field, &value));
    }
    let place = quote!(self.#name);
    statements.extend(if field.presence(emitter.model).optional {
        below(emitter, &field.usage, &quote!(value), &quote!(value), 0)
            .map(|below| quote!(if let Some(value) = &mut #place { #below }))
    } else {
        below(emitter, &field.usage, &place, &quote!(&mut #place), 0)
    });
    statements
}

/// The expression of the default, where the field has one.
fn default_value(emitter: &Emitter<'_>, field: &Field) -> Option<TokenStream> {
    if let Some(function) = &field.default_fn {
        let function = format_ident!("{function}");
        return Some(quote!(crate::defaults::#function()));
    }
    field.default.as_ref().map(|value| literal(emitter, &field.usage, value))
}

/// Gives the value to a field that has none.
fn fill(emitter: &Emitter<'_>, field: &Field, value: &TokenStream) -> TokenStream {
    let name = format_ident!("{}", field.rust_name);
    let resolved = emitter.model.resolve(&field.usage);
    if field.presence(emitter.model).optional {
        // A constant costs nothing to make, so it need not be made only on demand.
        let constant = match resolved {
            Resolved::Scalar(Shape::Boolean | Shape::Int32 | Shape::Int64 | Shape::Double)
            | Resolved::Enum(..) => true,
            Resolved::Scalar(Shape::IntOrString) => field.default.as_ref().is_some_and(Value::is_number),
            _ => false,
        };
        return if constant && field.default_fn.is_none() {
            quote!(self.#name.get_or_insert(#value);)
        } else {
            quote!(self.#name.get_or_insert_with(|| #value);)
        };
    }
    let is_empty = match resolved {
        Resolved::Scalar(Shape::String(_)) | Resolved::List(..) | Resolved::Map { .. } => {
            quote!(self.#name.is_empty())
        }
        _ => {
            let module = emitter.runtime("presence");
            quote!(#module::is_empty(&self.#name))
        }
    };
    quote!(if #is_empty { self.#name = #value; })
}

/// Applies the defaults of what a place holds: an object, a list or a map. `receiver` is what a method is
/// called on, `reference` is the same as a `&mut`.
fn below(
    emitter: &Emitter<'_>,
    usage: &Usage,
    receiver: &TokenStream,
    reference: &TokenStream,
    depth: usize,
) -> Option<TokenStream> {
    match emitter.model.resolve(usage) {
        Resolved::Object(id, _) => {
            emitter.reach.defaults.contains(&id).then(|| quote!(#receiver.set_defaults();))
        }
        Resolved::List(item, _) => {
            let name = loop_variable(depth);
            let body = below(emitter, item, &quote!(#name), &quote!(#name), depth + 1)?;
            Some(quote!(for #name in #reference { #body }))
        }
        Resolved::Map { value, .. } => {
            let name = loop_variable(depth);
            let body = below(emitter, value, &quote!(#name), &quote!(#name), depth + 1)?;
            Some(quote!(for #name in #receiver.values_mut() { #body }))
        }
        _ => None,
    }
}

fn loop_variable(depth: usize) -> proc_macro2::Ident {
    if depth == 0 { format_ident!("item") } else { format_ident!("item_{depth}") }
}
