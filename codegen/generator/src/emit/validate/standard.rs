//! The rules that OpenAPI's own keywords state, in the standard words: calls of the runtime.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::operand::Operand;
use crate::{
    emit::{emitter::Emitter, literal::number, pattern},
    model::{OwnFormat, Resolved, Rule, Shape, Usage},
};

/// The standard rule, in the standard words, with the place of the error as an expression of type `&Path`.
pub(super) fn call_at(
    emitter: &Emitter<'_>,
    usage: &Usage,
    rule: Rule<'_>,
    operand: &Operand,
    place: &TokenStream,
) -> TokenStream {
    let module = emitter.runtime("rule");
    let Operand { reference, copy, .. } = operand;
    let number = |function: &str, limit: f64| {
        let (function, limit) = (format_ident!("{function}"), limit_literal(emitter, usage, limit));
        quote!(#module::#function(#copy, #limit, #place, cx);)
    };
    let size = |function: &str, limit: u64| {
        let (function, limit) = (format_ident!("{function}"), Literal::u64_unsuffixed(limit));
        quote!(#module::#function(#reference, #limit, #place, cx);)
    };
    let is_quantity = matches!(emitter.model.resolve(usage), Resolved::Scalar(Shape::Quantity));
    match rule {
        Rule::Minimum(_) if is_quantity => quote!(#module::not_negative(#reference, #place, cx);),
        Rule::ExclusiveMinimum(_) if is_quantity => quote!(#module::positive(#reference, #place, cx);),
        Rule::Between(least, greatest) => {
            let [least, greatest] = [least, greatest].map(|limit| limit_literal(emitter, usage, limit));
            quote!(#module::between(#copy, #least, #greatest, #place, cx);)
        }
        Rule::Minimum(limit) => number("minimum", limit),
        Rule::ExclusiveMinimum(limit) => number("exclusive_minimum", limit),
        Rule::Maximum(limit) => number("maximum", limit),
        Rule::ExclusiveMaximum(limit) => number("exclusive_maximum", limit),
        Rule::MultipleOf(step) => number("multiple_of", step),
        Rule::OneOf(values) => quote!(#module::one_of(#reference, &[#(#values),*], #place, cx);),
        Rule::Format(format) => {
            let constraint = emitter.runtime("constraint");
            let function = format_ident!("{}", format.constraint().0);
            quote!(#module::format(#reference, #constraint::#function, #place, cx);)
        }
        Rule::OwnFormat(format) if format.takes_words => {
            let faults = own_format(format, reference);
            quote!(cx.invalid_all(#place, #reference, &#faults);)
        }
        Rule::OwnFormat(format) => {
            let name = format_ident!("{}", format.function);
            quote!(#module::format(#reference, crate::formats::#name, #place, cx);)
        }
        Rule::Pattern(pattern) => {
            let declared = pattern::declared(emitter, pattern);
            quote!({ #declared #module::pattern(#reference, &PATTERN, #place, cx); })
        }
        Rule::MinLength(limit) => size("min_length", limit),
        Rule::MaxLength(limit) => size("max_length", limit),
        Rule::MinItems(limit) => size("min_items", limit),
        Rule::MaxItems(limit) => size("max_items", limit),
        Rule::MinProperties(limit) => size("min_properties", limit),
        Rule::MaxProperties(limit) => size("max_properties", limit),
        Rule::UniqueItems => quote!(#module::unique_scalars(#reference, #place, cx);),
        Rule::UniqueKeys(keys) => unique_keys(emitter, usage, keys, reference, place),
    }
}

/// A limit of a number, in the type of the number.
pub(super) fn limit_literal(emitter: &Emitter<'_>, usage: &Usage, limit: f64) -> TokenStream {
    if !matches!(emitter.model.resolve(usage), Resolved::Scalar(Shape::Double)) {
        return number(limit as i64);
    }
    let literal = Literal::f64_unsuffixed(limit.abs());
    if limit < 0.0 { quote!(-#literal) } else { quote!(#literal) }
}

fn unique_keys(
    emitter: &Emitter<'_>,
    usage: &Usage,
    keys: &[String],
    list: &TokenStream,
    place: &TokenStream,
) -> TokenStream {
    let rule = emitter.runtime("rule");
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
        return quote!(#rule::unique_key(#list, #key, |item| &item.#field, #place, cx););
    }
    let shown = emitter.import("orch_runtime::field_error", "Shown");
    quote! {
        #rule::unique_keys(
            #list,
            |item| (#(&item.#fields),*),
            |(#(#fields),*)| [#(#shown::shown(#fields)),*].join(", "),
            #place,
            cx,
        );
    }
}

/// What is wrong with a text by a format of the crate, as an expression of type `Vec<String>`.
pub(super) fn own_format(format: &OwnFormat, text: &TokenStream) -> TokenStream {
    let name = format_ident!("{}", format.function);
    let words = format.takes_words.then(|| quote!(, cx.vocabulary));
    quote!(crate::formats::#name(#text #words))
}
