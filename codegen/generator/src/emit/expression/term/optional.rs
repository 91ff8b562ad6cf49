//! Optional parts of the object, `self.?spec.?name`: an `Option` of a reference, no value that is made.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use orch_expression::typed::{Term, TermKind};

use super::Translation;
use crate::{
    emit::{
        emitter::Emitter,
        expression::{
            code::{Code, Form},
            conversion,
        },
    },
    expression::scope,
    model::{Field, Omitted, Resolved, Usage},
};

/// An optional field of an object, `owner.?name`, or a field of an optional object; nothing for what has no
/// `Option`, which is a value of any type.
pub(super) fn field<'m>(
    emitter: &Emitter<'m>,
    owner: &Code<'m>,
    name: &str,
    is_optional: bool,
) -> Option<Code<'m>> {
    let (below, inner) = looked_into(emitter, owner, is_optional)?;
    let (found, usage) = match below {
        Resolved::Object(_, object) => {
            let field = scope::field(object, name)?;
            if let Form::Narrowed(id) = owner.form
                && conversion::narrowed(emitter, id, field).is_some()
            {
                return None;
            }
            (field_of(emitter, &inner, field)?, &field.usage)
        }
        Resolved::Map { value, .. } => (quote!(#inner.get(#name)), value),
        _ => return None,
    };
    made(emitter, owner, usage, found)
}

/// What a map has under a key, `owner[?key]`, where the map may be optional itself.
pub(super) fn entry<'m>(
    emitter: &Emitter<'m>,
    owner: &Code<'m>,
    key: &Code<'_>,
    is_optional: bool,
) -> Option<Code<'m>> {
    let (Resolved::Map { value, .. }, inner) = looked_into(emitter, owner, is_optional)? else { return None };
    // What may fail cannot stand in a closure.
    if key.can_fail {
        return None;
    }
    let key = &key.tokens;
    made(emitter, owner, value, quote!(#inner.get(#key)))
}

/// What a part is looked for in, and what it is called: the owner itself, or the value in an optional one.
fn looked_into<'m>(
    emitter: &Emitter<'m>,
    owner: &Code<'m>,
    is_optional: bool,
) -> Option<(Resolved<'m>, TokenStream)> {
    match owner.form {
        Form::Maybe(usage) => Some((emitter.model.resolve(usage), quote!(value))),
        _ if is_optional => Some((owner.resolved(emitter.model)?, owner.receiver())),
        _ => None,
    }
}

/// `found` is an expression of the type `Option<&T>`.
fn made<'m>(
    emitter: &Emitter<'m>,
    owner: &Code<'m>,
    usage: &'m Usage,
    found: TokenStream,
) -> Option<Code<'m>> {
    // It may be null, which is a value of its own.
    if let Resolved::Any = emitter.model.resolve(usage) {
        return None;
    }
    let tokens = match owner.form {
        Form::Maybe(_) => {
            let receiver = owner.receiver();
            quote!(#receiver.and_then(|value| #found))
        }
        _ => found,
    };
    Some(Code::atom(tokens, Form::Maybe(usage)).failing_if(owner.can_fail))
}

/// A field, if it is given, as an expression of the type `Option<&T>`.
fn field_of(emitter: &Emitter<'_>, owner: &TokenStream, field: &Field) -> Option<TokenStream> {
    let name = format_ident!("{}", field.rust_name);
    let place = quote!(#owner.#name);
    let presence = field.presence(emitter.model);
    if presence.optional {
        return (!field.required).then(|| quote!(#place.as_ref()));
    }
    if presence.omitted == Omitted::Empty {
        let is_empty = conversion::is_empty(emitter, field, &place);
        return Some(quote!((!#is_empty).then_some(&#place)));
    }
    Some(quote!(Some(&#place)))
}

/// `part.orValue(other)`, where both have the same form in Rust.
pub(super) fn or_value<'m>(
    translation: &mut Translation<'_, 'm>,
    part: &Term,
    other: &Term,
) -> Option<Code<'m>> {
    let part = translation.term(part);
    let Form::Maybe(usage) = part.form else { return None };
    let value = Code::behind(translation.emitter, usage, &quote!(value));
    let other = translation.term(other);
    match (value.form, other.form) {
        (Form::Bool, Form::Bool)
        | (Form::Int, Form::Int)
        | (Form::Double, Form::Double)
        | (Form::Text, Form::Text) => {}
        _ => return None,
    }
    let (receiver, value, default) = (part.receiver(), &value.tokens, &other.tokens);
    let tokens = quote!(#receiver.map_or(#default, |value| #value));
    Some(Code::atom(tokens, other.form).failing_if(part.can_fail || other.can_fail))
}

/// A list or map that is empty where it is not there: `part.orValue([])`, `part.orValue({})`.
pub(super) struct OrNone<'m> {
    /// An expression of the type `Option<&T>`.
    pub found: TokenStream,
    pub of: Resolved<'m>,
    pub can_fail: bool,
}

/// Nothing where a term is no such list or map.
pub(super) fn or_none<'m>(translation: &mut Translation<'_, 'm>, term: &Term) -> Option<OrNone<'m>> {
    let TermKind::Call { overloads, arguments } = &term.kind else { return None };
    let is_or_value = overloads.iter().all(|overload| overload.function == "orValue");
    let ([part, other], true) = (&arguments[..], is_or_value) else { return None };
    let is_list = match &other.kind {
        TermKind::List(items) if items.is_empty() => true,
        TermKind::Map(entries) if entries.is_empty() => false,
        _ => return None,
    };
    let part = translation.term(part);
    let Form::Maybe(usage) = part.form else { return None };
    let of = translation.emitter.model.resolve(usage);
    match of {
        Resolved::List(..) if is_list => {}
        Resolved::Map { .. } if !is_list => {}
        _ => return None,
    }
    Some(OrNone { found: part.receiver(), of, can_fail: part.can_fail })
}
