//! A value that a path leads to, and what can be asked about it.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::operand::Operand;
use crate::{
    emit::{emitter::Emitter, literal::number, pattern},
    model::{Constant, Empty, Field, Resolved, Shape, Usage},
};

/// A value that a path leads to.
pub(super) struct Reached<'m> {
    pub usage: &'m Usage,
    pub operand: Operand,
    /// The operand is an `Option`.
    pub optional: bool,
    pub field: Option<&'m Field>,
    /// It is what a map has under a key: an `Option<&T>`.
    pub is_entry: bool,
}

impl<'m> Reached<'m> {
    /// An item of a list, or a value of a map.
    pub fn item(usage: &'m Usage, variable: &Ident) -> Self {
        let operand = Operand::variable(variable);
        Reached { usage, operand, optional: false, field: None, is_entry: false }
    }
}

/// Whether a field has a value.
pub(super) fn given(emitter: &Emitter<'_>, reached: &Reached<'_>) -> TokenStream {
    let receiver = &reached.operand.receiver;
    if reached.optional {
        return quote!(#receiver.is_some());
    }
    let resolved = emitter.model.resolve(reached.usage);
    if matches!(resolved, Resolved::Scalar(Shape::Boolean)) {
        return reached.operand.copy.clone();
    }
    let is_empty = reached.operand.is_empty(emitter, resolved);
    quote!(!#is_empty)
}

/// A text, as an expression of type `&str`; an absent one is empty.
pub(super) fn text(emitter: &Emitter<'_>, reached: &Reached<'_>) -> TokenStream {
    let Operand { reference, receiver, .. } = &reached.operand;
    let is_enum = matches!(emitter.model.resolve(reached.usage), Resolved::Enum(..));
    if !is_enum {
        let as_text = match (reached.is_entry, reached.optional) {
            (true, _) => quote!(map_or("", |text| text.as_str())),
            (false, true) => quote!(as_deref().unwrap_or_default()),
            (false, false) => quote!(as_str()),
        };
        return quote!(#receiver.#as_text);
    }
    let text_enum = emitter.import("orch_runtime::text_enum", "TextEnum");
    if reached.optional {
        quote!(#receiver.as_ref().map_or("", #text_enum::as_str))
    } else {
        quote!(#text_enum::as_str(#reference))
    }
}

/// Whether a text matches a pattern.
pub(super) fn matches(emitter: &Emitter<'_>, reached: &Reached<'_>, pattern: &str) -> TokenStream {
    let (text, declared) = (text(emitter, reached), pattern::declared(emitter, pattern));
    quote!({ #declared PATTERN.is_match(#text) })
}

/// Whether a value is one of some constants. An absent text is the empty one.
pub(super) fn one_of(emitter: &Emitter<'_>, reached: &Reached<'_>, constants: &[Constant]) -> TokenStream {
    let copy = &reached.operand.copy;
    let texts: Vec<&str> = constants
        .iter()
        .filter_map(|constant| if let Constant::Text(text) = constant { Some(text.as_str()) } else { None })
        .collect();
    if !texts.is_empty() {
        let text = text(emitter, reached);
        return if let [only] = texts.as_slice() {
            quote!(#text == #only)
        } else {
            quote!(matches!(#text, #(#texts)|*))
        };
    }
    let values: Vec<TokenStream> = constants
        .iter()
        .filter_map(|constant| match constant {
            Constant::Boolean(value) => Some(quote!(#value)),
            Constant::Integer(value) => Some(number(*value)),
            Constant::Text(_) => None,
        })
        .collect();
    match (reached.optional, constants) {
        (false, [Constant::Boolean(true)]) => copy.clone(),
        (false, [Constant::Boolean(false)]) => quote!(!#copy),
        (true, _) => quote!(matches!(#copy, Some(#(#values)|*))),
        (false, _) => quote!(matches!(#copy, #(#values)|*)),
    }
}

/// Whether a number, or how many a value has, lies between two bounds.
pub(super) fn between(
    emitter: &Emitter<'_>,
    reached: &Reached<'_>,
    least: Option<i64>,
    most: Option<i64>,
) -> TokenStream {
    let Operand { copy, receiver, .. } = &reached.operand;
    let is_sized = matches!(
        emitter.model.resolve(reached.usage),
        Resolved::List(..) | Resolved::Map { .. } | Resolved::Scalar(Shape::String(_))
    );
    let value = match (is_sized, reached.optional) {
        (true, true) => quote!(#receiver.as_ref().map_or(0, |list| list.len())),
        (true, false) => quote!(#receiver.len()),
        (false, true) => quote!(value),
        (false, false) => copy.clone(),
    };
    let bounds = [least.map(|least| (quote!(>=), least)), most.map(|most| (quote!(<=), most))];
    let bounds = bounds.into_iter().flatten().map(|(relation, limit)| {
        let limit = number(limit);
        quote!(#value #relation #limit)
    });
    let holds = bounds.reduce(|all, next| quote!(#all && #next)).unwrap_or(quote!(true));
    if !is_sized && reached.optional { quote!(#copy.is_some_and(|value| #holds)) } else { holds }
}

/// Code about a value that is given.
pub(super) fn if_given<'m>(
    emitter: &Emitter<'m>,
    reached: &Reached<'m>,
    inner: &dyn Fn(&Operand) -> TokenStream,
) -> TokenStream {
    if reached.optional {
        let name = format_ident!("value");
        let (reference, code) = (&reached.operand.reference, inner(&Operand::variable(&name)));
        return quote!(if let Some(#name) = #reference { #code });
    }
    let code = inner(&reached.operand);
    let may_be_absent = reached.field.is_some_and(|field| field.empty(emitter.model) != Empty::Value);
    if may_be_absent {
        let is_empty = reached.operand.is_empty(emitter, emitter.model.resolve(reached.usage));
        quote!(if !#is_empty { #code })
    } else {
        code
    }
}
