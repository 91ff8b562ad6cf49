//! `SetDefaults`: constants of the schema and hand-written functions, here and in everything below.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::Value;

use super::{emitter::Emitter, literal::literal, validate::Scope};
use crate::model::{
    ConditionalDefault, DefaultSource, Field, ObjectType, Resolved, Shape, Step, Type, TypeKind, Usage,
};

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
        .chain(object.defaults.iter().filter_map(|default| conditional(emitter, object, default)))
        .chain(object.fields.iter().flat_map(|field| field_statements(emitter, field)))
        .collect()
}

/// A default that depends on other fields; the objects on the way to its field are made.
fn conditional(
    emitter: &Emitter<'_>,
    object: &ObjectType,
    default: &ConditionalDefault,
) -> Option<TokenStream> {
    let (last, way) = default.field.split_last()?;
    let (mut here, mut owner, mut steps) = (object, quote!(self), TokenStream::new());
    for (depth, step) in way.iter().enumerate() {
        let field = member(here, step)?;
        let (name, below) = (format_ident!("{}", field.rust_name), format_ident!("below_{depth}"));
        let is_optional = field.presence(emitter.model).optional;
        let made = if is_optional {
            quote!(#owner.#name.get_or_insert_default())
        } else {
            quote!(&mut #owner.#name)
        };
        steps.extend(quote!(let #below = #made;));
        owner = quote!(#below);
        let Resolved::Object(_, next) = emitter.model.resolve(&field.usage) else { return None };
        here = next;
    }
    let field = member(here, last)?;
    let filled = match &default.source {
        DefaultSource::Value(value) if is_empty_object(emitter, field, value) => {
            let name = format_ident!("{}", field.rust_name);
            quote!(#steps #owner.#name.get_or_insert_default();)
        }
        DefaultSource::Value(value) => {
            let fill = fill_in(
                emitter,
                field,
                &owner,
                &literal(emitter, &field.usage, value),
                is_plain(emitter, field, value),
            );
            quote!(#steps #fill)
        }
        DefaultSource::Field(path) => {
            let [step] = path.as_slice() else { return None };
            copied(emitter, (object, step), (field, &owner), &steps)?
        }
    };
    let conditions = Scope::new(object, "self").conditions(emitter, default.when.iter());
    Some(conditions.map_or_else(|| quote!({ #filled }), |conditions| quote!(if #conditions { #filled })))
}

/// The value of another field. A number may become one of a number or a text, where zero and the empty text
/// count as not given.
fn copied(
    emitter: &Emitter<'_>,
    (object, step): (&ObjectType, &Step),
    (field, owner): (&Field, &TokenStream),
    steps: &TokenStream,
) -> Option<TokenStream> {
    let from = member(object, step)?;
    let (source, name) = (format_ident!("{}", from.rust_name), format_ident!("{}", field.rust_name));
    let is_either = matches!(emitter.model.resolve(&field.usage), Resolved::Scalar(Shape::IntOrString));
    let is_number = matches!(emitter.model.resolve(&from.usage), Resolved::Scalar(Shape::Int32));
    if is_either && is_number {
        let (either, presence) =
            (emitter.import("orch_runtime::scalar", "IntOrString"), emitter.runtime("presence"));
        let is_text = quote!(matches!(value, #either::String(text) if text.is_empty()));
        return Some(quote! {
            let value = #either::Int(self.#source);
            #steps
            if #owner.#name.as_ref().is_none_or(|value| #presence::is_empty(value) || #is_text) {
                #owner.#name = Some(value);
            }
        });
    }
    if from.presence(emitter.model).optional {
        let fill = fill_in(emitter, field, owner, &quote!(value), false);
        return Some(quote!(if let Some(value) = self.#source.clone() { #steps #fill }));
    }
    let fill = fill_in(emitter, field, owner, &quote!(value), false);
    let resolved = emitter.model.resolve(&from.usage);
    let is_copied =
        matches!(resolved, Resolved::Scalar(Shape::Boolean | Shape::Int32 | Shape::Int64 | Shape::Double));
    let copied = (!is_copied).then(|| quote!(.clone()));
    let value = quote!(self.#source #copied);
    let given = Scope::new(object, "self").given(emitter, std::slice::from_ref(step));
    Some(quote!(if #given { let value = #value; #steps #fill }))
}

fn member<'m>(object: &'m ObjectType, step: &Step) -> Option<&'m Field> {
    let Step::Field(name) = step else { return None };
    object.fields.iter().find(|field| field.name == *name)
}

fn is_empty_object(emitter: &Emitter<'_>, field: &Field, value: &Value) -> bool {
    let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty);
    is_empty && matches!(emitter.model.resolve(&field.usage), Resolved::Object(..))
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

/// Whether a constant costs nothing to make, so that it need not be made only on demand.
fn is_plain(emitter: &Emitter<'_>, field: &Field, value: &Value) -> bool {
    match emitter.model.resolve(&field.usage) {
        Resolved::Scalar(Shape::Boolean | Shape::Int32 | Shape::Int64 | Shape::Double)
        | Resolved::Enum(..) => true,
        Resolved::Scalar(Shape::IntOrString) => value.is_number(),
        _ => false,
    }
}

/// Gives the field's own default to a field that has no value.
fn fill(emitter: &Emitter<'_>, field: &Field, value: &TokenStream) -> TokenStream {
    let is_plain = field.default.as_ref().is_some_and(|value| is_plain(emitter, field, value));
    fill_in(emitter, field, &quote!(self), value, is_plain && field.default_fn.is_none())
}

/// Gives a value to a field of an object that has none.
fn fill_in(
    emitter: &Emitter<'_>,
    field: &Field,
    owner: &TokenStream,
    value: &TokenStream,
    is_plain: bool,
) -> TokenStream {
    let name = format_ident!("{}", field.rust_name);
    let resolved = emitter.model.resolve(&field.usage);
    if field.presence(emitter.model).optional {
        return if is_plain {
            quote!(#owner.#name.get_or_insert(#value);)
        } else {
            quote!(#owner.#name.get_or_insert_with(|| #value);)
        };
    }
    let is_empty = match resolved {
        Resolved::Scalar(Shape::String(_)) | Resolved::List(..) | Resolved::Map { .. } => {
            quote!(#owner.#name.is_empty())
        }
        _ => {
            let module = emitter.runtime("presence");
            quote!(#module::is_empty(&#owner.#name))
        }
    };
    quote!(if #is_empty { #owner.#name = #value; })
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
        _ => usage.rounds_up.then(|| quote!(#receiver.round_up_to_milli();)),
    }
}

fn loop_variable(depth: usize) -> proc_macro2::Ident {
    if depth == 0 { format_ident!("item") } else { format_ident!("item_{depth}") }
}
