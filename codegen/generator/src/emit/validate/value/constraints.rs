//! OpenAPI's own keywords, as calls of the runtime's rules.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::{
    emit::{defaults::number, scope::Scope, shape::Resolved, types::rust_ident, validate::Place},
    model::{Constraints, ListSemantics, Shape, StringFormat, Usage},
};

/// The rules that the constraints at a place state.
pub(super) fn rules(
    scope: &Scope<'_>,
    usage: &Usage,
    resolved: Resolved<'_>,
    place: &Place,
) -> Vec<TokenStream> {
    let constraints = &usage.constraints;
    match resolved {
        Resolved::Scalar(shape @ (Shape::Int32 | Shape::Int64 | Shape::Double)) => {
            number_rules(scope, constraints, matches!(shape, Shape::Double), place)
        }
        Resolved::Scalar(Shape::String(_)) => text_rules(scope, usage, place),
        Resolved::List(item, semantics) => list_rules(scope, constraints, item, semantics, place),
        Resolved::Map { .. } => size_rules(
            scope,
            place,
            [("min_properties", constraints.min_properties), ("max_properties", constraints.max_properties)],
        ),
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
    let literal = |limit: f64| {
        if is_double {
            let literal = Literal::f64_unsuffixed(limit.abs());
            if limit < 0.0 { quote!(-#literal) } else { quote!(#literal) }
        } else {
            number(limit as i64)
        }
    };
    let (mut minimum, mut maximum) = (constraints.minimum, constraints.maximum);
    let between = minimum.zip(maximum).map(|(min, max)| {
        (minimum, maximum) = (None, None);
        let rule = scope.runtime("rule");
        let (min, max) = (literal(min), literal(max));
        quote!(#rule::between(#copy, #min, #max, &at, cx);)
    });
    let single = [
        ("minimum", minimum),
        ("exclusive_minimum", constraints.exclusive_minimum),
        ("maximum", maximum),
        ("exclusive_maximum", constraints.exclusive_maximum),
        ("multiple_of", constraints.multiple_of),
    ]
    .into_iter()
    .filter_map(|(function, limit)| {
        let limit = limit?;
        let rule = scope.runtime("rule");
        let function = format_ident!("{function}");
        let limit = literal(limit);
        Some(quote!(#rule::#function(#copy, #limit, &at, cx);))
    });
    between.into_iter().chain(single).collect()
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
        [
            ("min_length", constraints.min_length.filter(|min| *min > 0)),
            ("max_length", constraints.max_length),
        ],
    ));
    rules
}

fn size_rules(scope: &Scope<'_>, place: &Place, limits: [(&str, Option<u64>); 2]) -> Vec<TokenStream> {
    let reference = &place.reference;
    limits
        .into_iter()
        .filter_map(|(function, limit)| {
            let limit = Literal::u64_unsuffixed(limit?);
            let rule = scope.runtime("rule");
            let function = format_ident!("{function}");
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
    let unique = constraints.unique_items || *semantics != ListSemantics::Atomic;
    if !unique || constraints.repeated_items {
        return rules;
    }
    let reference = &place.reference;
    rules.push(match semantics {
        ListSemantics::Map(keys) => unique_by_key(scope, item, keys, reference),
        ListSemantics::Set | ListSemantics::Atomic => {
            let rule = scope.runtime("rule");
            quote!(#rule::unique_scalars(#reference, &at, cx);)
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
