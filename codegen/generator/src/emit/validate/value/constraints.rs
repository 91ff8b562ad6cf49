//! The rules that OpenAPI's own keywords state, as calls of the runtime.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::{
    emit::{emitter::Emitter, literal::number, validate::operand::Operand},
    model::{Resolved, Rule, Shape, Usage},
};

/// The rules about the value at a place.
pub(super) fn rules(emitter: &Emitter<'_>, usage: &Usage, operand: &Operand) -> Vec<TokenStream> {
    let rules = emitter.model.rules(usage);
    rules.into_iter().map(|rule| call(emitter, usage, rule, operand)).collect()
}

fn call(emitter: &Emitter<'_>, usage: &Usage, rule: Rule<'_>, operand: &Operand) -> TokenStream {
    let module = emitter.runtime("rule");
    let Operand { reference, copy, .. } = operand;
    let number = |function: &str, limit: f64| {
        let (function, limit) = (format_ident!("{function}"), limit_literal(emitter, usage, limit));
        quote!(#module::#function(#copy, #limit, &at, cx);)
    };
    let size = |function: &str, limit: u64| {
        let (function, limit) = (format_ident!("{function}"), Literal::u64_unsuffixed(limit));
        quote!(#module::#function(#reference, #limit, &at, cx);)
    };
    match rule {
        Rule::Between(least, greatest) => {
            let [least, greatest] = [least, greatest].map(|limit| limit_literal(emitter, usage, limit));
            quote!(#module::between(#copy, #least, #greatest, &at, cx);)
        }
        Rule::Minimum(limit) => number("minimum", limit),
        Rule::ExclusiveMinimum(limit) => number("exclusive_minimum", limit),
        Rule::Maximum(limit) => number("maximum", limit),
        Rule::ExclusiveMaximum(limit) => number("exclusive_maximum", limit),
        Rule::MultipleOf(step) => number("multiple_of", step),
        Rule::OneOf(values) => quote!(#module::one_of(#reference, &[#(#values),*], &at, cx);),
        Rule::Format(format) => {
            let constraint = emitter.runtime("constraint");
            let function = format_ident!("{}", format.constraint().0);
            quote!(#module::format(#reference, #constraint::#function, &at, cx);)
        }
        Rule::Pattern(pattern) => {
            let lazy = emitter.import("std::sync", "LazyLock");
            quote! {
                {
                    static PATTERN: #lazy<#module::Pattern> = #lazy::new(|| #module::Pattern::new(#pattern));
                    #module::pattern(#reference, &PATTERN, &at, cx);
                }
            }
        }
        Rule::MinLength(limit) => size("min_length", limit),
        Rule::MaxLength(limit) => size("max_length", limit),
        Rule::MinItems(limit) => size("min_items", limit),
        Rule::MaxItems(limit) => size("max_items", limit),
        Rule::MinProperties(limit) => size("min_properties", limit),
        Rule::MaxProperties(limit) => size("max_properties", limit),
        Rule::UniqueItems => quote!(#module::unique_scalars(#reference, &at, cx);),
        Rule::UniqueKeys(keys) => unique_keys(emitter, usage, keys, reference),
    }
}

/// A limit of a number, in the type of the number.
fn limit_literal(emitter: &Emitter<'_>, usage: &Usage, limit: f64) -> TokenStream {
    if !matches!(emitter.model.resolve(usage), Resolved::Scalar(Shape::Double)) {
        return number(limit as i64);
    }
    let literal = Literal::f64_unsuffixed(limit.abs());
    if limit < 0.0 { quote!(-#literal) } else { quote!(#literal) }
}

fn unique_keys(emitter: &Emitter<'_>, usage: &Usage, keys: &[String], list: &TokenStream) -> TokenStream {
    let rule = emitter.runtime("rule");
    let shown = emitter.import("orch_runtime::field_error", "Shown");
    let object = match emitter.model.resolve(usage) {
        Resolved::List(item, _) => emitter.model.resolve(item),
        other => other,
    };
    let fields: Vec<Ident> = match object {
        Resolved::Object(_, object) => keys
            .iter()
            .filter_map(|key| object.fields.iter().find(|field| field.name == *key))
            .map(|field| format_ident!("{}", field.rust_name))
            .collect(),
        _ => Vec::new(),
    };
    if let ([key], [field]) = (keys, fields.as_slice()) {
        return quote!(#rule::unique_key(#list, #key, |item| #shown::shown(&item.#field), &at, cx););
    }
    quote!(#rule::unique_keys(#list, |item| [#(#shown::shown(&item.#fields)),*].join(", "), &at, cx);)
}
