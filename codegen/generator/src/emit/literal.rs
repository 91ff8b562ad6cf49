//! Constants of the schema as Rust expressions. The checks have proven that each fits its place.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

use super::emitter::Emitter;
use crate::model::{EnumValue, ObjectType, Resolved, Shape, Type, Usage};

/// A constant at a place.
pub fn literal(emitter: &Emitter<'_>, usage: &Usage, value: &Value) -> TokenStream {
    match emitter.model.resolve(usage) {
        Resolved::Scalar(shape) => scalar(emitter, shape, value),
        Resolved::Enum(id, values) => {
            variant(emitter, emitter.model.ty(id), values, value.as_str().unwrap_or_default())
        }
        Resolved::Object(id, object) => structure(emitter, emitter.model.ty(id), object, value),
        Resolved::List(item, _) => {
            let items = value.as_array().into_iter().flatten().map(|value| literal(emitter, item, value));
            quote!(vec![#(#items),*])
        }
        Resolved::Map { value: entry, .. } => {
            let map = emitter.import("std::collections", "BTreeMap");
            let entries = value.as_object().into_iter().flatten().map(|(key, value)| {
                let value = literal(emitter, entry, value);
                quote!((#key.to_owned(), #value))
            });
            quote!(#map::from([#(#entries),*]))
        }
        Resolved::Any => {
            let tree = emitter.runtime("Tree");
            let text = value.to_string();
            quote!(#text.parse::<#tree>().expect("the generator wrote this JSON"))
        }
    }
}

fn scalar(emitter: &Emitter<'_>, shape: &Shape, value: &Value) -> TokenStream {
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
            let name = emitter.import("orch_runtime::scalar", "IntOrString");
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

fn variant(emitter: &Emitter<'_>, ty: &Type, values: &[EnumValue], text: &str) -> TokenStream {
    let path = emitter.type_path(ty);
    let Some(value) = values.iter().find(|value| value.value == text) else {
        return quote!(#path::from(#text));
    };
    let variant = format_ident!("{}", value.rust_name);
    quote!(#path::#variant)
}

fn structure(emitter: &Emitter<'_>, ty: &Type, object: &ObjectType, value: &Value) -> TokenStream {
    let path = emitter.type_path(ty);
    let given: Vec<TokenStream> = object
        .fields
        .iter()
        .filter_map(|field| {
            let value = literal(emitter, &field.usage, value.get(&field.name)?);
            let name = format_ident!("{}", field.rust_name);
            let optional = field.presence(emitter.model).optional;
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
