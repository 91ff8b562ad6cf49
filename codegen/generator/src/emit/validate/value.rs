//! The rules about one value.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::Place;
use crate::{
    emit::{
        defaults::number,
        scope::Scope,
        shape::{Omitted, Presence, Resolved, layers, names, presence},
        types::rust_ident,
    },
    model::{Constraints, Field, ListSemantics, ObjectType, Shape, StringFormat, Type, TypeKind, Union, Usage},
};

/// The body of `validate`; empty where there is nothing to check.
pub fn rules(scope: &Scope<'_>, ty: &Type) -> Vec<TokenStream> {
    let TypeKind::Object(object) = &ty.kind else { return Vec::new() };
    let mut rules: Vec<TokenStream> =
        object.fields.iter().filter_map(|field| field_rules(scope, field)).collect();
    rules.extend(object.union.as_ref().map(|union| union_rule(scope, object, union)));
    rules.extend(ty.validator.as_ref().map(|name| {
        let function = scope.validator(ty, name);
        quote!(#function(self, path, cx);)
    }));
    rules
}

/// All rules of a field, after the line that names its path.
fn field_rules(scope: &Scope<'_>, field: &Field) -> Option<TokenStream> {
    let resolved = scope.resolve(&field.usage);
    let presence = presence(field, resolved);
    let name = rust_ident(&field.rust_name);
    let whole = Place::field("self", &name);
    let mut rules = Vec::new();
    if presence.optional {
        let given = given_rules(scope, field, &Place::variable(&name));
        if !given.is_empty() {
            let place = &whole.reference;
            rules.push(quote!(if let Some(#name) = #place { #(#given)* }));
        }
    } else {
        let demanded = demand(scope, field, resolved, &whole);
        let given = given_rules(scope, field, &whole);
        let empty_is_absent =
            demanded.is_some() || presence == (Presence { optional: false, omitted: Omitted::Empty });
        let guard = empty_is_absent.then(|| emptiness(resolved, &whole)).flatten();
        match (demanded, guard) {
            (demanded, Some(guard)) if !given.is_empty() => {
                rules.extend(demanded);
                rules.push(quote!(if !#guard { #(#given)* }));
            }
            (demanded, _) => {
                rules.extend(demanded);
                rules.extend(given);
            }
        }
    }
    if rules.is_empty() {
        return None;
    }
    let text = &field.name;
    Some(quote! {
        let at = path.field(#text);
        #(#rules)*
    })
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

/// The error about a required field that is not given, for shapes whose empty value says so. Texts may be
/// empty where the schema says `minLength: 0`; lists and maps must not be where it says `minItems: 1`.
fn demand(scope: &Scope<'_>, field: &Field, resolved: Resolved<'_>, place: &Place) -> Option<TokenStream> {
    if !field.required {
        return None;
    }
    let constraints = &field.usage.constraints;
    let (reference, receiver) = (&place.reference, &place.receiver);
    let is_absent = match resolved {
        Resolved::Scalar(Shape::String(_)) if constraints.min_length == Some(0) => return None,
        Resolved::Scalar(Shape::String(_)) => {
            let rule = scope.runtime("rule");
            return Some(quote!(#rule::required_string(#reference, &at, cx);));
        }
        Resolved::Scalar(Shape::Time | Shape::MicroTime) => {
            let module = scope.runtime("presence");
            quote!(#module::is_empty(#reference))
        }
        Resolved::Any => quote!(#receiver.is_null()),
        Resolved::List(..) if constraints.min_items.is_some_and(|min| min > 0) => quote!(#receiver.is_empty()),
        Resolved::Map { .. } if constraints.min_properties.is_some_and(|min| min > 0) => {
            quote!(#receiver.is_empty())
        }
        _ => return None,
    };
    let error = scope.import("orch_runtime::field_error", "FieldError");
    Some(quote!(if #is_absent { cx.push(#error::required(&at, "")); }))
}

/// Whether a value that is not an `Option` is there, for shapes whose empty value says so.
fn emptiness(resolved: Resolved<'_>, place: &Place) -> Option<TokenStream> {
    let receiver = &place.receiver;
    match resolved {
        Resolved::Scalar(Shape::String(_)) | Resolved::List(..) | Resolved::Map { .. } => {
            Some(quote!(#receiver.is_empty()))
        }
        _ => None,
    }
}

/// The rules of what stands at a place, its aliases and everything below.
fn usage_rules<'m>(scope: &Scope<'m>, usage: &'m Usage, place: &Place, depth: usize) -> Vec<TokenStream> {
    let resolved = scope.resolve(usage);
    let mut rules: Vec<TokenStream> = layers(scope.model, usage)
        .into_iter()
        .flat_map(|layer| own_rules(scope, layer, resolved, place))
        .collect();
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

/// The rules that one layer of constraints states.
fn own_rules(scope: &Scope<'_>, usage: &Usage, resolved: Resolved<'_>, place: &Place) -> Vec<TokenStream> {
    let constraints = &usage.constraints;
    match resolved {
        Resolved::Scalar(shape @ (Shape::Int32 | Shape::Int64 | Shape::Double)) => {
            number_rules(scope, constraints, matches!(shape, Shape::Double), place)
        }
        Resolved::Scalar(Shape::String(_)) => text_rules(scope, usage, place),
        Resolved::List(item, semantics) => list_rules(scope, constraints, item, semantics, place),
        Resolved::Map { .. } => {
            size_rules(scope, place, [("min_properties", constraints.min_properties), ("max_properties", constraints.max_properties)])
        }
        _ => Vec::new(),
    }
}

fn number_rules(
    scope: &Scope<'_>,
    constraints: &Constraints,
    is_double: bool,
    place: &Place,
) -> Vec<TokenStream> {
    let copy = &place.copy;
    [
        ("minimum", constraints.minimum),
        ("exclusive_minimum", constraints.exclusive_minimum),
        ("maximum", constraints.maximum),
        ("exclusive_maximum", constraints.exclusive_maximum),
        ("multiple_of", constraints.multiple_of),
    ]
    .into_iter()
    .filter_map(|(function, limit)| {
        let limit = limit?;
        let rule = scope.runtime("rule");
        let function = format_ident!("{function}");
        let limit = if is_double {
            let literal = Literal::f64_unsuffixed(limit.abs());
            if limit < 0.0 { quote!(-#literal) } else { quote!(#literal) }
        } else {
            number(limit as i64)
        };
        Some(quote!(#rule::#function(#copy, #limit, &at, cx);))
    })
    .collect()
}

fn text_rules(scope: &Scope<'_>, usage: &Usage, place: &Place) -> Vec<TokenStream> {
    let constraints = &usage.constraints;
    let reference = &place.reference;
    let mut rules = Vec::new();
    if !constraints.enum_values.is_empty() {
        let rule = scope.runtime("rule");
        let values = &constraints.enum_values;
        rules.push(quote!(#rule::one_of(#reference, &[#(#values),*], &at, cx);));
    }
    if let Shape::String(Some(format)) = &usage.shape {
        let rule = scope.runtime("rule");
        let constraint = scope.runtime("constraint");
        let function = format_ident!("{}", constraint_name(*format));
        rules.push(quote!(#rule::format(#reference, #constraint::#function, &at, cx);));
    }
    if let Some(pattern) = &constraints.pattern {
        let rule = scope.runtime("rule");
        let lazy = scope.import("std::sync", "LazyLock");
        rules.push(quote! {
            {
                static PATTERN: #lazy<#rule::Pattern> = #lazy::new(|| #rule::Pattern::new(#pattern));
                #rule::pattern(#reference, &PATTERN, &at, cx);
            }
        });
    }
    rules.extend(size_rules(
        scope,
        place,
        [("min_length", constraints.min_length.filter(|min| *min > 0)), ("max_length", constraints.max_length)],
    ));
    rules
}

fn size_rules(scope: &Scope<'_>, place: &Place, limits: [(&str, Option<u64>); 2]) -> Vec<TokenStream> {
    let reference = &place.reference;
    limits
        .into_iter()
        .filter_map(|(function, limit)| {
            let rule = scope.runtime("rule");
            let function = format_ident!("{function}");
            let limit = Literal::u64_unsuffixed(limit?);
            Some(quote!(#rule::#function(#reference, #limit, &at, cx);))
        })
        .collect()
}

fn list_rules(
    scope: &Scope<'_>,
    constraints: &Constraints,
    item: &Usage,
    semantics: &ListSemantics,
    place: &Place,
) -> Vec<TokenStream> {
    let mut rules = size_rules(
        scope,
        place,
        [("min_items", constraints.min_items), ("max_items", constraints.max_items)],
    );
    if !constraints.unique_items {
        return rules;
    }
    let rule = scope.runtime("rule");
    let reference = &place.reference;
    rules.push(match semantics {
        ListSemantics::Map(keys) => unique_by_key(scope, item, keys, reference),
        _ if matches!(scope.resolve(item), Resolved::Scalar(_) | Resolved::Enum(..)) => {
            quote!(#rule::unique_scalars(#reference, &at, cx);)
        }
        _ => {
            let json = scope.import("orch_runtime::field_error", "json");
            quote!(#rule::unique_keys(#reference, |item| #json(item), &at, cx);)
        }
    });
    rules
}

fn unique_by_key(scope: &Scope<'_>, item: &Usage, keys: &[String], list: &TokenStream) -> TokenStream {
    let rule = scope.runtime("rule");
    let shown = scope.import("orch_runtime::field_error", "Shown");
    let fields: Vec<Ident> = match scope.resolve(item) {
        Resolved::Object(_, object) => keys
            .iter()
            .filter_map(|key| object.fields.iter().find(|field| field.name == *key))
            .map(|field| rust_ident(&field.rust_name))
            .collect(),
        _ => Vec::new(),
    };
    if let ([key], [field]) = (keys, fields.as_slice()) {
        return quote!(#rule::unique_key(#list, #key, |item| #shown::shown(&item.#field), &at, cx););
    }
    quote!(#rule::unique_keys(#list, |item| [#(#shown::shown(&item.#fields)),*].join(", "), &at, cx);)
}

fn constraint_name(format: StringFormat) -> &'static str {
    match format {
        StringFormat::LabelKey => "qualified_name",
        StringFormat::LabelValue => "label_value",
        StringFormat::DnsLabel => "dns_label",
        StringFormat::DnsSubdomain => "dns_subdomain",
        StringFormat::PathSegment => "path_segment",
        StringFormat::Cidr => "cidr",
        StringFormat::Ip => "ip",
        StringFormat::Uri => "uri",
    }
}

fn union_rule(scope: &Scope<'_>, object: &ObjectType, union: &Union) -> TokenStream {
    let rule = scope.runtime("rule");
    let members = union.members.iter().filter_map(|name| {
        let field = object.fields.iter().find(|field| field.name == *name)?;
        Some((name, given(scope, field)))
    });
    let Some((discriminator, values)) = &union.discriminator else {
        let members = members.map(|(name, given)| quote!((#name, #given)));
        let function =
            format_ident!("{}", if union.exactly_one { "union_exactly_one" } else { "union_at_most_one" });
        return quote!(#rule::#function(&[#(#members),*], path, cx););
    };
    let field = object.fields.iter().find(|field| field.name == *discriminator);
    let value = field.map(|field| discriminator_text(scope, field));
    let members = members.map(|(name, given)| {
        let selected_by = values.get(name).unwrap_or(name);
        // Where at most one is asked for, the selected member may be missing.
        let given = if union.exactly_one { given } else { quote!(#given || selected == #selected_by) };
        quote!(#rule::Member { selected_by: #selected_by, field: #name, given: #given })
    });
    quote! {
        let selected = #value;
        #rule::union_by_discriminator(#discriminator, selected, &[#(#members),*], path, cx);
    }
}

/// Whether a field has a value, as an expression.
fn given(scope: &Scope<'_>, field: &Field) -> TokenStream {
    let resolved = scope.resolve(&field.usage);
    let name = rust_ident(&field.rust_name);
    if presence(field, resolved).optional {
        return quote!(self.#name.is_some());
    }
    match emptiness(resolved, &Place::field("self", &name)) {
        Some(is_empty) => quote!(!#is_empty),
        None => {
            let module = scope.runtime("presence");
            quote!(!#module::is_empty(&self.#name))
        }
    }
}

/// The discriminator's text, as an expression of type `&str`; empty when it is not given.
fn discriminator_text(scope: &Scope<'_>, field: &Field) -> TokenStream {
    let resolved = scope.resolve(&field.usage);
    let name = rust_ident(&field.rust_name);
    let optional = presence(field, resolved).optional;
    let as_str = if matches!(resolved, Resolved::Enum(..)) {
        let text_enum = scope.import("orch_runtime::text_enum", "TextEnum");
        quote!(#text_enum::as_str)
    } else {
        quote!(String::as_str)
    };
    if optional { quote!(self.#name.as_ref().map_or("", #as_str)) } else { quote!(#as_str(&self.#name)) }
}

fn name_at(stem: &str, depth: usize) -> Ident {
    if depth == 0 { format_ident!("{stem}") } else { format_ident!("{stem}_{depth}") }
}
