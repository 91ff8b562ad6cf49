//! The rules about one value.

mod constraints;
mod union;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Place;
use crate::{
    emit::{
        scope::Scope,
        shape::{Omitted, Resolved, innermost, names, presence},
        types::rust_ident,
    },
    model::{Field, Shape, Type, TypeKind, Usage},
};

/// The body of `validate`; empty where there is nothing to check.
pub fn rules(scope: &Scope<'_>, ty: &Type) -> Vec<TokenStream> {
    let TypeKind::Object(object) = &ty.kind else { return Vec::new() };
    let hand_written = |name: &Option<String>| {
        name.as_ref().map(|name| {
            let function = scope.validator(ty, name);
            quote!(#function(self, path, cx);)
        })
    };
    let mut rules: Vec<TokenStream> = hand_written(&ty.first_validator).into_iter().collect();
    rules.extend(object.fields.iter().filter_map(|field| field_rules(scope, field)));
    rules.extend(object.union.as_ref().map(|union| union::rule(scope, object, union)));
    rules.extend(hand_written(&ty.validator));
    rules
}

/// All rules of a field, after the line that names its path.
fn field_rules(scope: &Scope<'_>, field: &Field) -> Option<TokenStream> {
    let name = rust_ident(&field.rust_name);
    let whole = Place::field("self", &name);
    let rules = if presence(field, scope.resolve(&field.usage)).optional {
        let given = given_rules(scope, field, &Place::variable(&format_ident!("value")));
        let (reference, receiver) = (&whole.reference, &whole.receiver);
        let warning = warning(field);
        match (warning, given.is_empty()) {
            (None, true) => None,
            (Some(warning), true) => Some(quote!(if #receiver.is_some() { #warning })),
            (warning, false) => Some(quote!(if let Some(value) = #reference { #warning #(#given)* })),
        }
    } else {
        plain_rules(scope, field, &whole)
    }?;
    let text = &field.name;
    Some(quote! {
        let at = path.field(#text);
        #rules
    })
}

/// The rules of a field that is not an `Option`: its empty value may stand for an absent one.
fn plain_rules(scope: &Scope<'_>, field: &Field, place: &Place) -> Option<TokenStream> {
    let given: Vec<TokenStream> =
        warning(field).into_iter().chain(given_rules(scope, field, place)).collect();
    match absence(scope, field) {
        Absence::Refused => {
            let is_absent = is_empty(scope, scope.resolve(&field.usage), place);
            let error = scope.import("orch_runtime::field_error", "FieldError");
            let given = (!given.is_empty()).then(|| quote!(else { #(#given)* }));
            Some(quote!(if #is_absent { cx.push(#error::required(&at, "")); } #given))
        }
        _ if given.is_empty() => None,
        Absence::Accepted => {
            let is_absent = is_empty(scope, scope.resolve(&field.usage), place);
            Some(quote!(if !#is_absent { #(#given)* }))
        }
        Absence::Unknown => Some(quote!(#(#given)*)),
    }
}

/// What a client is told that sets the field.
fn warning(field: &Field) -> Option<TokenStream> {
    field.deprecated.as_ref().map(|text| quote!(cx.warn(&at, #text);))
}

/// The rules of a field that has a value.
fn given_rules(scope: &Scope<'_>, field: &Field, place: &Place) -> Vec<TokenStream> {
    let mut rules = usage_rules(scope, &field.usage, place, 0);
    rules.extend(field.validator.as_ref().map(|name| {
        let function = format_ident!("{name}");
        let reference = &place.reference;
        quote!(crate::validators::#function(#reference, &at, cx);)
    }));
    rules
}

/// What it means that a field holds the empty value of its type.
enum Absence {
    /// The value is missing, which is an error.
    Refused,
    /// The value is missing, so no rule applies to it.
    Accepted,
    /// It is a value like any other.
    Unknown,
}

/// Texts may be empty where the schema says `minLength: 0`; lists and maps must not be where it says `minItems: 1`
/// or `minProperties: 1`. Zero and false are values unless the schema says `x-orch-omit-empty`.
fn absence(scope: &Scope<'_>, field: &Field) -> Absence {
    let resolved = scope.resolve(&field.usage);
    let constraints = &innermost(scope.model, &field.usage).constraints;
    let is_a_value = match resolved {
        Resolved::Scalar(Shape::String(_)) => field.required && constraints.min_length == Some(0),
        Resolved::Scalar(Shape::Time | Shape::MicroTime) | Resolved::Any => false,
        Resolved::List(..) => constraints.min_items.is_none_or(|min| min == 0),
        Resolved::Map { .. } => constraints.min_properties.is_none_or(|min| min == 0),
        _ => field.required,
    };
    if is_a_value {
        Absence::Unknown
    } else if field.required {
        Absence::Refused
    } else if presence(field, resolved).omitted == Omitted::Empty {
        Absence::Accepted
    } else {
        Absence::Unknown
    }
}

/// Whether a value that is not an `Option` is the empty one of its type, as an expression.
pub(super) fn is_empty(scope: &Scope<'_>, resolved: Resolved<'_>, place: &Place) -> TokenStream {
    let (reference, receiver) = (&place.reference, &place.receiver);
    match resolved {
        Resolved::Scalar(Shape::String(_)) | Resolved::List(..) | Resolved::Map { .. } => {
            quote!(#receiver.is_empty())
        }
        Resolved::Any => quote!(#receiver.is_null()),
        _ => {
            let module = scope.runtime("presence");
            quote!(#module::is_empty(#reference))
        }
    }
}

/// The rules of what stands at a place, its aliases and everything below.
fn usage_rules<'m>(scope: &Scope<'m>, usage: &'m Usage, place: &Place, depth: usize) -> Vec<TokenStream> {
    let resolved = scope.resolve(usage);
    let mut rules = constraints::rules(scope, innermost(scope.model, usage), resolved, place);
    rules.extend(named_rules(scope, usage, place));
    rules.extend(rules_below(scope, resolved, place, depth));
    rules
}

/// The hand-written rules of the named types that are no objects; objects call theirs themselves.
fn named_rules(scope: &Scope<'_>, usage: &Usage, place: &Place) -> Vec<TokenStream> {
    let reference = &place.reference;
    names(scope.model, usage)
        .into_iter()
        .filter(|ty| !matches!(ty.kind, TypeKind::Object(_)))
        .filter_map(|ty| {
            let function = scope.validator(ty, ty.validator.as_ref()?);
            Some(quote!(#function(#reference, &at, cx);))
        })
        .collect()
}

fn rules_below(
    scope: &Scope<'_>,
    resolved: Resolved<'_>,
    place: &Place,
    depth: usize,
) -> Option<TokenStream> {
    let (reference, receiver) = (&place.reference, &place.receiver);
    match resolved {
        Resolved::Object(id, _) => {
            scope.reach.rules.contains(&id).then(|| quote!(#receiver.validate(&at, cx);))
        }
        Resolved::Enum(..) => {
            let module = scope.runtime("text_enum");
            Some(quote!(#module::listed(#reference, &at, cx);))
        }
        Resolved::List(item, _) => {
            let (index, variable) = (name_at("index", depth), name_at("item", depth));
            let rules = usage_rules(scope, item, &Place::variable(&variable), depth + 1);
            (!rules.is_empty()).then(|| {
                quote! {
                    for (#index, #variable) in #receiver.iter().enumerate() {
                        let at = at.index(#index);
                        #(#rules)*
                    }
                }
            })
        }
        Resolved::Map { keys, value, .. } => map_rules(scope, keys, value, place, depth),
        Resolved::Scalar(_) | Resolved::Any => None,
    }
}

fn map_rules<'m>(
    scope: &Scope<'m>,
    keys: &'m Usage,
    value: &'m Usage,
    place: &Place,
    depth: usize,
) -> Option<TokenStream> {
    let (key, variable) = (name_at("key", depth), name_at("value", depth));
    let key_rules = usage_rules(scope, keys, &Place::variable(&key), depth + 1);
    let value_rules = usage_rules(scope, value, &Place::variable(&variable), depth + 1);
    let (reference, receiver) = (&place.reference, &place.receiver);
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

fn name_at(stem: &str, depth: usize) -> Ident {
    if depth == 0 { format_ident!("{stem}") } else { format_ident!("{stem}_{depth}") }
}
