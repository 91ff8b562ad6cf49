//! The rules about one value.

mod constraints;
mod union;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    checks::{self, Choices},
    operand::{Operand, name_at},
    scope::Scope,
    told::Told,
};
use crate::{
    emit::emitter::Emitter,
    model::{Check, Empty, ErrorPlace, Field, ObjectType, Resolved, Type, TypeKind, Usage},
};

/// The body of `validate`; empty where there is nothing to check.
pub fn rules(emitter: &Emitter<'_>, ty: &Type) -> Vec<TokenStream> {
    let TypeKind::Object(object) = &ty.kind else { return Vec::new() };
    let hand_written = |name: &Option<String>| {
        name.as_ref().map(|name| {
            let function = emitter.validator(ty, name);
            quote!(#function(self, path, cx);)
        })
    };
    let mut rules: Vec<TokenStream> = hand_written(&ty.first_validator).into_iter().collect();
    rules.extend(checks::rules(emitter, object, object.checks.iter().filter(|check| check.is_first)));
    let mut choices = Choices::default();
    for part in in_order(object) {
        let Some(field) = part else {
            rules.extend(whole_rules(emitter, object));
            continue;
        };
        let own = field_rules(emitter, field).unwrap_or_default();
        let own = match checks::ignored(emitter, object, &field.name) {
            Some(conditions) if !own.is_empty() => quote!(if !(#conditions) { #own }),
            _ => own,
        };
        let is_about = |check: &&Check| {
            !check.is_first && !check.is_last && checks::field_of(check) == Some(&field.name)
        };
        let about = checks::rules(emitter, object, object.checks.iter().filter(is_about));
        rules.push(choices.member(emitter, object, &field.name, quote!(#own #(#about)*)));
    }
    rules.extend(hand_written(&ty.validator));
    let scope = Scope::new(object, "self");
    rules.extend(object.told_at.iter().map(|(from, to)| {
        let (from, to) = (scope.place(emitter, from), scope.place(emitter, to));
        quote!(cx.relocate(#from, #to);)
    }));
    if !object.error_order.is_empty() {
        let order = order(emitter, &object.error_order);
        rules.push(quote!(cx.arrange(path, #order);));
    }
    rules.extend(checks::rules(emitter, object, object.checks.iter().filter(|check| check.is_last)));
    rules.retain(|rule| !rule.is_empty());
    rules
}

/// The rules about an object as a whole.
fn whole_rules(emitter: &Emitter<'_>, object: &ObjectType) -> Vec<TokenStream> {
    let whole = |check: &&Check| {
        !check.is_first
            && !check.is_last
            && checks::field_of(check).is_none()
            && checks::members(check).is_none()
    };
    let rules = checks::rules(emitter, object, object.checks.iter().filter(whole));
    rules.into_iter().chain(object.union.as_ref().map(|union| union::rule(emitter, object, union))).collect()
}

/// The order in which errors are told, as an expression of type `&[Order]`.
fn order(emitter: &Emitter<'_>, places: &[ErrorPlace]) -> TokenStream {
    let ty = emitter.import("orch_runtime::field_error", "Order");
    let places = places.iter().map(|ErrorPlace { field, below }| {
        if below.is_empty() {
            return quote!(#ty::of(#field));
        }
        let below = order(emitter, below);
        quote!(#ty::with(#field, #below))
    });
    quote!(const { &[#(#places),*] })
}

/// The fields, and none for the object as a whole, in the order in which they are judged: that of
/// `x-orch-order`, or as they are written.
fn in_order(object: &ObjectType) -> Vec<Option<&Field>> {
    let others = || object.fields.iter().filter(|field| !object.order.contains(&field.name)).map(Some);
    let is_named = |name: &str| object.order.iter().any(|entry| entry == name);
    let mut parts: Vec<Option<&Field>> = Vec::new();
    for name in &object.order {
        match name.as_str() {
            "*" => parts.extend(others()),
            "." => parts.push(None),
            name => parts.extend(object.fields.iter().find(|field| field.name == name).map(Some)),
        }
    }
    if !is_named("*") {
        parts.extend(others());
    }
    if !is_named(".") {
        parts.push(None);
    }
    parts
}

/// All rules of a field, after the line that names its path.
fn field_rules(emitter: &Emitter<'_>, field: &Field) -> Option<TokenStream> {
    let name = format_ident!("{}", field.rust_name);
    let whole = Operand::field("self", &name);
    let rules = if field.presence(emitter.model).optional {
        let given = given_rules(emitter, field, &Operand::variable(&format_ident!("value")));
        let (reference, receiver) = (&whole.reference, &whole.receiver);
        let warning = warning(field);
        match (warning, given.is_empty()) {
            (None, true) => None,
            (Some(warning), true) => Some(quote!(if #receiver.is_some() { #warning })),
            (warning, false) => Some(quote!(if let Some(value) = #reference { #warning #(#given)* })),
        }
    } else {
        plain_rules(emitter, field, &whole)
    }?;
    let text = &field.name;
    Some(quote! {
        let at = path.field(#text);
        #rules
    })
}

/// The rules of a field that is not an `Option`: its empty value may stand for an absent one.
fn plain_rules(emitter: &Emitter<'_>, field: &Field, operand: &Operand) -> Option<TokenStream> {
    let given: Vec<TokenStream> =
        warning(field).into_iter().chain(given_rules(emitter, field, operand)).collect();
    match field.empty(emitter.model) {
        Empty::Missing => {
            let is_absent = operand.is_empty(emitter, emitter.model.resolve(&field.usage));
            let missing = missing(emitter, field);
            let given = (!given.is_empty()).then(|| quote!(else { #(#given)* }));
            Some(quote!(if #is_absent { #missing } #given))
        }
        _ if given.is_empty() => None,
        Empty::Absent => {
            let is_absent = operand.is_empty(emitter, emitter.model.resolve(&field.usage));
            Some(quote!(if !#is_absent { #(#given)* }))
        }
        Empty::Value => Some(quote!(#(#given)*)),
    }
}

/// What is reported when a required value is not given.
fn missing(emitter: &Emitter<'_>, field: &Field) -> TokenStream {
    let Some(words) = field.usage.words.get("required") else {
        let error = emitter.import("orch_runtime::field_error", "FieldError");
        return quote!(cx.push(#error::required(&at, "")););
    };
    let nothing = ObjectType::default();
    let scope = Scope::new(&nothing, "self");
    let place = scope.place_from_value(emitter, words.place.as_deref().unwrap_or_default());
    let told = Told::new(emitter, &scope, words, place);
    told.report(orch_runtime::field_error::Reason::Required, "", None)
}

/// What a client is told that sets the field.
fn warning(field: &Field) -> Option<TokenStream> {
    field.deprecated.as_ref().map(|text| quote!(cx.warn(&at, #text);))
}

/// The rules of a field that has a value.
fn given_rules(emitter: &Emitter<'_>, field: &Field, operand: &Operand) -> Vec<TokenStream> {
    let mut rules = usage_rules(emitter, &field.usage, operand, 0);
    rules.extend(field.validator.as_ref().map(|name| {
        let function = format_ident!("{name}");
        let reference = &operand.reference;
        quote!(crate::validators::#function(#reference, &at, cx);)
    }));
    rules
}

/// The rules of what stands at a place, its aliases and everything below.
fn usage_rules<'m>(
    emitter: &Emitter<'m>,
    usage: &'m Usage,
    operand: &Operand,
    depth: usize,
) -> Vec<TokenStream> {
    let resolved = emitter.model.resolve(usage);
    let mut rules = constraints::rules(emitter, usage, operand);
    rules.extend(named_rules(emitter, usage, operand));
    rules.extend(rules_below(emitter, resolved, operand, depth));
    rules
}

/// The hand-written rules of the named types that are no objects; objects call theirs themselves.
fn named_rules(emitter: &Emitter<'_>, usage: &Usage, operand: &Operand) -> Vec<TokenStream> {
    let reference = &operand.reference;
    emitter
        .model
        .names(usage)
        .into_iter()
        .filter(|ty| !matches!(ty.kind, TypeKind::Object(_)))
        .filter_map(|ty| {
            let function = emitter.validator(ty, ty.validator.as_ref()?);
            Some(quote!(#function(#reference, &at, cx);))
        })
        .collect()
}

fn rules_below(
    emitter: &Emitter<'_>,
    resolved: Resolved<'_>,
    operand: &Operand,
    depth: usize,
) -> Option<TokenStream> {
    let (reference, receiver) = (&operand.reference, &operand.receiver);
    match resolved {
        Resolved::Object(id, _) => {
            emitter.reach.rules.contains(&id).then(|| quote!(#receiver.validate(&at, cx);))
        }
        Resolved::Enum(..) => {
            let module = emitter.runtime("text_enum");
            Some(quote!(#module::listed(#reference, &at, cx);))
        }
        Resolved::List(item, _) => {
            let (index, variable) = (name_at("index", depth), name_at("item", depth));
            let rules = usage_rules(emitter, item, &Operand::variable(&variable), depth + 1);
            (!rules.is_empty()).then(|| {
                quote! {
                    for (#index, #variable) in #receiver.iter().enumerate() {
                        let at = at.index(#index);
                        #(#rules)*
                    }
                }
            })
        }
        Resolved::Map { keys, value, .. } => map_rules(emitter, keys, value, operand, depth),
        Resolved::Scalar(_) | Resolved::Any => None,
    }
}

fn map_rules<'m>(
    emitter: &Emitter<'m>,
    keys: &'m Usage,
    value: &'m Usage,
    operand: &Operand,
    depth: usize,
) -> Option<TokenStream> {
    let (key, variable) = (name_at("key", depth), name_at("value", depth));
    let key_rules = usage_rules(emitter, keys, &Operand::variable(&key), depth + 1);
    let value_rules = usage_rules(emitter, value, &Operand::variable(&variable), depth + 1);
    let (reference, receiver) = (&operand.reference, &operand.receiver);
    let head = match (key_rules.is_empty(), value_rules.is_empty()) {
        (true, true) => return None,
        (false, true) => quote!(for #key in #receiver.keys()),
        (_, false) => quote!(for (#key, #variable) in #reference),
    };
    Some(quote! {
        #head {
            let at = at.key(#key);
            #(#key_rules)*
            #(#value_rules)*
        }
    })
}
