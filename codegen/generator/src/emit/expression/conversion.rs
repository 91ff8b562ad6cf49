//! Parts of generated structs as values of any type, for what has no form of its own in Rust.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::code::{Code, Form};
use crate::{
    emit::emitter::Emitter,
    expression::{escape, scope},
    model::{Field, ListSemantics, ObjectType, Omitted, Resolved, Shape, Type, TypeId, TypeKind, Usage},
};

/// An owned `Value`.
pub(super) fn value(emitter: &Emitter<'_>, code: &Code<'_>) -> TokenStream {
    let expression = emitter.runtime("expression");
    let tokens = &code.tokens;
    match code.form {
        Form::Bool => quote!(#expression::Value::Bool(#tokens)),
        Form::Int => quote!(#expression::Value::Int(#tokens)),
        Form::Uint => quote!(#expression::Value::Uint(#tokens)),
        Form::Double => quote!(#expression::Value::Double(#tokens)),
        Form::Text => quote!(#expression::Value::from(#tokens)),
        Form::Value => tokens.clone(),
        Form::Place(usage) => of_usage(emitter, usage, tokens, &code.receiver()),
        Form::Maybe(usage) => {
            let (receiver, convert) = (code.receiver(), converter(emitter, usage));
            quote!(#expression::Value::optional(#receiver.map(#convert)))
        }
        Form::Object(id) => of_object(emitter, id, false, tokens),
        Form::Narrowed(id) => of_object(emitter, id, true, tokens),
    }
}

/// What stands at a place: `reference` is an expression of the type `&T`, methods are called on `receiver`.
pub(super) fn of_usage(
    emitter: &Emitter<'_>,
    usage: &Usage,
    reference: &TokenStream,
    receiver: &TokenStream,
) -> TokenStream {
    let expression = emitter.runtime("expression");
    match emitter.model.resolve(usage) {
        Resolved::Scalar(shape) => match shape {
            Shape::Quantity => {
                quote!(#expression::Value::from(#receiver.clone()))
            }
            Shape::Bytes => quote!(#expression::Value::from(#receiver.as_ref())),
            Shape::Duration => quote!(#expression::Value::Duration(*#reference)),
            Shape::Time => quote!(#expression::time(*#reference)),
            Shape::MicroTime => quote!(#expression::micro_time(*#reference)),
            Shape::IntOrString => quote!(#expression::int_or_string(#reference)),
            _ => value(emitter, &Code::behind(emitter, usage, reference)),
        },
        Resolved::Enum(..) => value(emitter, &Code::behind(emitter, usage, reference)),
        Resolved::Any => quote!(#expression::Value::from_json(#reference)),
        Resolved::Object(id, _) => of_object(emitter, id, false, reference),
        Resolved::List(item, semantics) => {
            let kind = list_kind(emitter, semantics);
            let convert = converter(emitter, item);
            quote!(#expression::list(#reference, #kind, #convert))
        }
        Resolved::Map { value, .. } => {
            let convert = converter(emitter, value);
            quote!(#expression::map(#reference, #convert))
        }
    }
}

/// A function from `&T` to a `Value`.
fn converter(emitter: &Emitter<'_>, usage: &Usage) -> TokenStream {
    if let Resolved::Object(id, _) = emitter.model.resolve(usage) {
        let function = function_name(emitter, id, false);
        return quote!(#function);
    }
    if let Resolved::Scalar(Shape::IntOrString) = emitter.model.resolve(usage) {
        let expression = emitter.runtime("expression");
        return quote!(#expression::int_or_string);
    }
    let item = quote!(item);
    let made = of_usage(emitter, usage, &item, &item);
    quote!(|item| #made)
}

fn list_kind(emitter: &Emitter<'_>, semantics: &ListSemantics) -> TokenStream {
    let expression = emitter.runtime("expression");
    match semantics {
        ListSemantics::Atomic => quote!(#expression::ListKind::Plain),
        ListSemantics::Set => quote!(#expression::ListKind::Set),
        ListSemantics::Map(keys) => {
            let keys = keys.iter().filter_map(|key| escape::field(key));
            quote!(#expression::ListKind::Keyed(&[#(#keys),*]))
        }
    }
}

fn of_object(emitter: &Emitter<'_>, id: TypeId, is_narrowed: bool, reference: &TokenStream) -> TokenStream {
    let function = function_name(emitter, id, is_narrowed);
    quote!(#function(#reference))
}

/// The function that makes a value of an object; it is asked for by that.
fn function_name(emitter: &Emitter<'_>, id: TypeId, is_narrowed: bool) -> Ident {
    emitter.values.borrow_mut().insert((id, is_narrowed));
    let name = &emitter.model.ty(id).qualified_name;
    let name: String = name
        .chars()
        .map(|ch| if ch.is_ascii_alphanumeric() { ch.to_ascii_lowercase() } else { '_' })
        .collect();
    if is_narrowed { format_ident!("narrowed_value_of_{name}") } else { format_ident!("value_of_{name}") }
}

/// The functions that were asked for, and those that they ask for.
pub fn functions(emitter: &Emitter<'_>) -> Vec<TokenStream> {
    let mut written: BTreeSet<(TypeId, bool)> = BTreeSet::new();
    let mut functions = Vec::new();
    loop {
        let next = emitter.values.borrow().difference(&written).next().copied();
        let Some((id, is_narrowed)) = next else { break };
        written.insert((id, is_narrowed));
        let ty = emitter.model.ty(id);
        if let TypeKind::Object(object) = &ty.kind {
            functions.push(function(emitter, (id, is_narrowed), ty, object));
        }
    }
    emitter.values.borrow_mut().clear();
    functions
}

fn function(
    emitter: &Emitter<'_>,
    (id, is_narrowed): (TypeId, bool),
    ty: &Type,
    object: &ObjectType,
) -> TokenStream {
    let expression = emitter.runtime("expression");
    let (name, path) = (function_name(emitter, id, is_narrowed), emitter.type_path(ty));
    let whole = if is_narrowed { "without what the server fills in of its `metadata`" } else { "as a whole" };
    let docs = format!(" A [`{}`] as rules see it, where they look at it {whole}.", ty.name);
    let is_metadata = is_narrowed && !scope::is_kind(emitter.model, id);
    let seen: Vec<&Field> =
        if is_metadata { scope::visible(object).collect() } else { object.fields.iter().collect() };
    let fields = seen.into_iter().filter_map(|field| {
        let name = escape::field(&field.name)?;
        let owner = quote!(value);
        let value = if is_narrowed {
            narrowed_field(emitter, id, field, &owner)
        } else {
            optional(emitter, field, &owner)
        };
        Some(quote!((#name, #value)))
    });
    quote! {
        #[doc = #docs]
        fn #name(value: &#path) -> #expression::Value {
            #expression::object([#(#fields),*])
        }
    }
}

/// The value of a field of a kind, or of its own `metadata`, as [`optional`].
pub(super) fn narrowed_field(
    emitter: &Emitter<'_>,
    kind: TypeId,
    field: &Field,
    owner: &TokenStream,
) -> TokenStream {
    let Some(metadata) = narrowed(emitter, kind, field) else { return optional(emitter, field, owner) };
    let place = format_ident!("{}", field.rust_name);
    let made = of_object(emitter, metadata, true, &quote!(&#owner.#place));
    quote!(Some(#made))
}

/// The type of a field of a kind, where it is its own `metadata`.
pub(super) fn narrowed(emitter: &Emitter<'_>, kind: TypeId, field: &Field) -> Option<TypeId> {
    scope::own_metadata(emitter.model, kind, field)?;
    match emitter.model.resolve(&field.usage) {
        Resolved::Object(id, _) => Some(id),
        _ => None,
    }
}

/// The value of a field, if it is given: an expression of the type `Option<Value>`.
pub(super) fn optional(emitter: &Emitter<'_>, field: &Field, owner: &TokenStream) -> TokenStream {
    let expression = emitter.runtime("expression");
    let name = format_ident!("{}", field.rust_name);
    let place = quote!(#owner.#name);
    let presence = field.presence(emitter.model);
    if presence.optional {
        let convert = converter(emitter, &field.usage);
        let map = quote!(#place.as_ref().map(#convert));
        return if field.required { quote!(Some(#map.unwrap_or(#expression::Value::Null))) } else { map };
    }
    let made = of_place(emitter, &field.usage, &place);
    if presence.omitted == Omitted::Empty {
        let is_empty = is_empty(emitter, field, &place);
        // No closure: `made` may end the rule.
        return quote!(if #is_empty { None } else { Some(#made) });
    }
    quote!(Some(#made))
}

/// What stands at a place that can be named.
pub(super) fn of_place(emitter: &Emitter<'_>, usage: &Usage, place: &TokenStream) -> TokenStream {
    value(emitter, &Code::at(emitter, usage, place))
}

/// Whether a field that is no `Option` is not given.
pub(super) fn is_empty(emitter: &Emitter<'_>, field: &Field, place: &TokenStream) -> TokenStream {
    match emitter.model.resolve(&field.usage) {
        Resolved::Scalar(Shape::String(_)) | Resolved::List(..) | Resolved::Map { .. } => {
            quote!(#place.is_empty())
        }
        _ => {
            let presence = emitter.runtime("presence");
            quote!(#presence::is_empty(&#place))
        }
    }
}
