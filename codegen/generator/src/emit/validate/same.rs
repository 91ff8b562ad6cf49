//! Whether a value is the same as before, but for what may change: field by field, without a copy.
//!
//! What may change may be further down. An object on the way there that is not given is the same as one that
//! has nothing else.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::scope::Scope;
use crate::{
    emit::{emitter::Emitter, expression},
    model::{Check, ObjectType, Resolved, Step, Usage},
};

/// What may change: the rest of the way to it, and the condition, as an expression.
#[derive(Clone)]
struct Exempt<'c> {
    path: &'c [Step],
    condition: Option<TokenStream>,
}

/// Whether the value of a rule is another one than before, as an expression.
pub(super) fn differs<'m>(
    emitter: &Emitter<'m>,
    new: &Scope<'m>,
    old: &Scope<'m>,
    check: &'m Check,
) -> TokenStream {
    let said = check.expressions.exceptions.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    let exempt = check.exceptions.iter().zip(said).map(|(exception, said)| {
        let stated = old.conditions(emitter, exception.when.iter());
        let said = said.zip(check.expressions.owner);
        let said = said.map(|(said, owner)| expression::holds(emitter, &new.variables(owner), said, true));
        let condition = stated.into_iter().chain(said).reduce(|one, other| quote!(#one && #other));
        Exempt { path: &exception.field, condition }
    });
    let exempt: Vec<Exempt<'_>> = exempt.collect();
    let same =
        of_object(emitter, new.object(), [&quote!(self), &quote!(old)], &exempt, Some(&check.field), 0);
    quote!(!(#same))
}

/// Whether two objects are the same; of a part of them, where only that is asked.
fn of_object(
    emitter: &Emitter<'_>,
    object: &ObjectType,
    [new, old]: [&TokenStream; 2],
    exempt: &[Exempt<'_>],
    part: Option<&[Step]>,
    depth: usize,
) -> TokenStream {
    let part = part.and_then(<[Step]>::split_first);
    let asked = object.fields.iter().filter(|field| {
        part.is_none_or(|(first, _)| matches!(first, Step::Field(name) if *name == field.name))
    });
    let same = asked.filter_map(|field| {
        let name = format_ident!("{}", field.rust_name);
        let (new, old) = (quote!(#new.#name), quote!(#old.#name));
        let below: Vec<Exempt<'_>> = exempt
            .iter()
            .filter_map(|exempt| {
                let (first, path) = exempt.path.split_first()?;
                let is_it = matches!(first, Step::Field(name) if *name == field.name);
                is_it.then(|| Exempt { path, condition: exempt.condition.clone() })
            })
            .collect();
        let rest = part.map(|(_, rest)| rest).filter(|rest| !rest.is_empty());
        if below.is_empty() {
            return Some(quote!(#new == #old));
        }
        let is_optional = field.presence(emitter.model).optional;
        of_field(emitter, &field.usage, is_optional, [new, old], &below, rest, depth)
    });
    same.reduce(|all, next| quote!(#all && #next)).unwrap_or(quote!(true))
}

/// Whether two values of a field are the same; nothing where it may be any other one.
fn of_field(
    emitter: &Emitter<'_>,
    usage: &Usage,
    is_optional: bool,
    [new, old]: [TokenStream; 2],
    exempt: &[Exempt<'_>],
    part: Option<&[Step]>,
    depth: usize,
) -> Option<TokenStream> {
    let (whole, below): (Vec<_>, Vec<_>) = exempt.iter().partition(|exempt| exempt.path.is_empty());
    if whole.iter().any(|exempt| exempt.condition.is_none()) {
        return None;
    }
    let below: Vec<Exempt<'_>> = below.into_iter().cloned().collect();
    let same = if below.is_empty() {
        quote!(#new == #old)
    } else if is_optional {
        let (one, other) = (format_ident!("new_{depth}"), format_ident!("old_{depth}"));
        let same = of_value(emitter, usage, [&quote!(#one), &quote!(#other)], &below, part, depth + 1);
        let single = of_single(emitter, usage, &below, &other, &same);
        quote! {
            match (&#new, &#old) {
                (None, None) => true,
                (Some(#one), Some(#other)) => #same,
                (Some(#one), None) | (None, Some(#one)) => #single,
            }
        }
    } else {
        of_value(emitter, usage, [&new, &old], &below, part, depth)
    };
    let conditions = whole.into_iter().filter_map(|exempt| exempt.condition.as_ref());
    Some(conditions.fold(same, |same, condition| quote!((#same || #condition))))
}

/// Whether a value that is given once has nothing but what may change, and so is the same as none.
fn of_single(
    emitter: &Emitter<'_>,
    usage: &Usage,
    exempt: &[Exempt<'_>],
    other: &Ident,
    same: &TokenStream,
) -> TokenStream {
    let Resolved::Object(id, _) = emitter.model.resolve(usage) else { return quote!(false) };
    let path = emitter.type_path(emitter.model.ty(id));
    let same = quote!({
        let #other = &#path::default();
        #same
    });
    let conditions: Option<Vec<&TokenStream>> =
        exempt.iter().map(|exempt| exempt.condition.as_ref()).collect();
    let any = conditions.and_then(|conditions| {
        let any = conditions.into_iter().map(|condition| quote!((#condition)));
        any.reduce(|any, next| quote!(#any || #next))
    });
    any.map_or(same.clone(), |any| quote!((#any) && #same))
}

/// Whether two values that are given are the same.
fn of_value(
    emitter: &Emitter<'_>,
    usage: &Usage,
    [new, old]: [&TokenStream; 2],
    exempt: &[Exempt<'_>],
    part: Option<&[Step]>,
    depth: usize,
) -> TokenStream {
    match emitter.model.resolve(usage) {
        Resolved::Object(_, object) => of_object(emitter, object, [new, old], exempt, part, depth),
        Resolved::List(item, _) => {
            let (one, other) = (format_ident!("new_{depth}"), format_ident!("old_{depth}"));
            let below: Vec<Exempt<'_>> = exempt.iter().map(Exempt::below).collect();
            let same = of_value(emitter, item, [&quote!(#one), &quote!(#other)], &below, part, depth + 1);
            quote! {
                (#new.len() == #old.len() && #new.iter().zip(#old.iter()).all(|(#one, #other)| #same))
            }
        }
        Resolved::Map { .. } => {
            let keys: Vec<_> = exempt
                .iter()
                .filter_map(|exempt| match exempt.path {
                    [Step::Key(key)] => Some((key.as_str(), exempt.condition.as_ref())),
                    _ => None,
                })
                .collect();
            let is_single = keys.len() == 1;
            let others = keys.into_iter().map(|(key, condition)| match condition {
                None => quote!(key.as_str() != #key),
                Some(condition) if is_single => quote!(key.as_str() != #key || !(#condition)),
                Some(condition) => quote!((key.as_str() != #key || !(#condition))),
            });
            let is_other = others.reduce(|all, next| quote!(#all && #next)).unwrap_or(quote!(true));
            let (one, other) = (
                quote!(#new.iter().filter(|(key, _)| #is_other)),
                quote!(#old.iter().filter(|(key, _)| #is_other)),
            );
            quote!(#one.eq(#other))
        }
        _ => quote!(#new == #old),
    }
}

impl<'c> Exempt<'c> {
    /// The same, of an item.
    fn below(&self) -> Exempt<'c> {
        Exempt { path: self.path.get(1..).unwrap_or_default(), condition: self.condition.clone() }
    }
}
