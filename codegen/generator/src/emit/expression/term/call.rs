//! Functions and operators: as Rust where both know them, else as calls of the library.

use std::sync::Arc;

use orch_expression::{
    function::Overload,
    typed::{Term, TermKind},
    types::{Opaque, Type},
    value::Value,
};
use orch_runtime::expression::Kind;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{
    Translation,
    optional::{self, OrNone},
};
use crate::{
    emit::{
        expression::code::{Code, Form, Level},
        pattern,
    },
    model::{Resolved, Shape},
};

/// A call of a function that is chosen by the types of its arguments, or by their values.
pub(super) fn call<'m>(
    translation: &mut Translation<'_, 'm>,
    term: &Term,
    overloads: &[Arc<Overload>],
    arguments: &[Term],
) -> Code<'m> {
    let function = overloads.first().map_or("", |overload| overload.function);
    if arguments.iter().any(|argument| translation.can_be_null(argument)) {
        // Its type is known only when it is evaluated.
        return of_library(translation, term, overloads, arguments);
    }
    let known = match arguments {
        [only] => of_one(translation, function, only),
        [one, other] => of_two(translation, function, one, other),
        _ => None,
    };
    known.unwrap_or_else(|| of_library(translation, term, overloads, arguments))
}

/// A call of the library.
fn of_library<'m>(
    translation: &mut Translation<'_, 'm>,
    term: &Term,
    overloads: &[Arc<Overload>],
    arguments: &[Term],
) -> Code<'m> {
    let expression = translation.emitter.runtime("expression");
    let lazy = translation.emitter.import("std::sync", "LazyLock");
    let mut can_fail = true;
    let arguments: Vec<TokenStream> =
        arguments.iter().map(|argument| translation.value(argument, &mut can_fail)).collect();
    let name = overloads.first().map_or("", |overload| overload.function);
    let overloads = overloads.iter().map(|overload| {
        let kinds = overload.kinds().into_iter().map(|kind| {
            let kind = format_ident!("{}", kind_name(kind));
            quote!(#expression::Kind::#kind)
        });
        let signature = overload.signature;
        quote!((#signature, &[#(#kinds),*]))
    });
    let tokens = quote! {
        {
            static FUNCTION: #lazy<#expression::Function> =
                #lazy::new(|| #expression::Function::new(#name, &[#(#overloads),*]));
            FUNCTION.call(&[#(#arguments),*])?
        }
    };
    translation.plain(Code::atom(tokens, Form::Value).failing(), &term.of)
}

fn kind_name(kind: Kind) -> String {
    format!("{kind:?}")
}

fn of_one<'m>(translation: &mut Translation<'_, 'm>, function: &str, argument: &Term) -> Option<Code<'m>> {
    let expression = translation.emitter.runtime("expression");
    match (function, &argument.of) {
        ("int" | "string", Type::Dyn) => {
            let code = number_or_text(translation, argument)?;
            let tokens = &code.tokens;
            Some(if function == "int" {
                Code::atom(quote!(#expression::int_of(#tokens)?), Form::Int).failing()
            } else {
                Code::atom(quote!(#expression::text_of(#tokens)), Form::Value).failing_if(code.can_fail)
            })
        }
        ("sizes", Type::List(_) | Type::Map(..)) => sizes(translation, argument),
        ("sign" | "roundUp" | "isWhole", Type::Opaque(Opaque::Quantity)) => {
            of_quantity(translation, function, argument)
        }
        ("!_", Type::Bool) => {
            let code = translation.bool(argument);
            if let Some(opposite) = &code.opposite {
                return Some(Code::atom(opposite.clone(), Form::Bool).failing_if(code.can_fail));
            }
            let operand = code.operand(Level::Unary);
            Some(Code::new(quote!(!#operand), Form::Bool, Level::Unary).failing_if(code.can_fail))
        }
        ("-_", Type::Int) => {
            let code = translation.term(argument);
            let code = translation.plain(code, &argument.of);
            let tokens = &code.tokens;
            Some(Code::atom(quote!(#expression::fits(i64::checked_neg(#tokens))?), Form::Int).failing())
        }
        ("hasValue", _) => {
            let code = translation.term(argument);
            let (Form::Maybe(_), receiver) = (code.form, code.receiver()) else { return None };
            let made = Code::atom(quote!(#receiver.is_some()), Form::Bool);
            Some(made.with_opposite(Some(quote!(#receiver.is_none()))).failing_if(code.can_fail))
        }
        ("size", Type::Text) => {
            let code = translation.text(argument)?;
            let tokens = &code.tokens;
            let tokens = quote!(#expression::characters(#tokens));
            Some(Code::atom(tokens, Form::Int).failing_if(code.can_fail))
        }
        ("size", Type::List(_) | Type::Map(..)) => {
            let code = translation.term(argument);
            code.resolved(translation.emitter.model)?;
            let receiver = code.receiver();
            let tokens = quote!(#expression::count(#receiver.len()));
            Some(Code::atom(tokens, Form::Int).failing_if(code.can_fail))
        }
        _ => None,
    }
}

/// The sizes of all items together.
fn sizes<'m>(translation: &mut Translation<'_, 'm>, argument: &Term) -> Option<Code<'m>> {
    let expression = translation.emitter.runtime("expression");
    let code = translation.term(argument);
    let (item, values) = match code.resolved(translation.emitter.model)? {
        Resolved::List(item, _) => (item, quote!(iter())),
        Resolved::Map { value, .. } => (value, quote!(values())),
        _ => return None,
    };
    let receiver = code.receiver();
    let length = if let Resolved::Enum(..) = translation.emitter.model.resolve(item) {
        let text = Code::behind(translation.emitter, item, &quote!(value)).tokens;
        quote!(#text.len())
    } else {
        quote!(value.len())
    };
    let tokens = quote!(#expression::count(#receiver.#values.map(|value| #length).sum::<usize>()));
    Some(Code::atom(tokens, Form::Int).failing_if(code.can_fail))
}

fn of_quantity<'m>(
    translation: &mut Translation<'_, 'm>,
    function: &str,
    argument: &Term,
) -> Option<Code<'m>> {
    let code = translation.term(argument);
    let resolved = code.resolved(translation.emitter.model);
    if !matches!(resolved, Some(Resolved::Scalar(Shape::Quantity))) {
        return None;
    }
    let quantity = code.receiver();
    let made = match function {
        "sign" => Code::atom(quote!(i64::from(#quantity.sign())), Form::Int),
        "roundUp" => Code::atom(quote!(#quantity.value()), Form::Int),
        _ => Code::atom(quote!(#quantity.is_whole()), Form::Bool),
    };
    Some(made.failing_if(code.can_fail))
}

fn of_two<'m>(
    translation: &mut Translation<'_, 'm>,
    function: &str,
    one: &Term,
    other: &Term,
) -> Option<Code<'m>> {
    match (function, &one.of, &other.of) {
        ("startsWith" | "_==_" | "_!=_", Type::Text, Type::Text) if parts(other).len() > 1 => {
            let text = translation.text(one)?;
            let (parts, can_fail) = texts(translation, &parts(other))?;
            let (expression, tokens) = (translation.emitter.runtime("expression"), &text.tokens);
            let made = match function {
                "startsWith" => Code::atom(quote!(#expression::begins(#tokens, &[#(#parts),*])), Form::Bool),
                "_==_" => Code::atom(quote!(#expression::consists(#tokens, &[#(#parts),*])), Form::Bool),
                _ => Code::not(&quote!(#expression::consists(#tokens, &[#(#parts),*]))),
            };
            Some(made.failing_if(text.can_fail || can_fail))
        }
        ("_+_", Type::Text, Type::Text) => {
            let (parts, can_fail) = texts(translation, &[parts(one), parts(other)].concat())?;
            let expression = translation.emitter.runtime("expression");
            Some(Code::atom(quote!(#expression::joined(&[#(#parts),*])), Form::Value).failing_if(can_fail))
        }
        ("contains" | "startsWith" | "endsWith", Type::Text, Type::Text) => {
            let (one, other) = (translation.text(one)?, translation.text(other)?);
            let method = format_ident!(
                "{}",
                match function {
                    "contains" => "contains",
                    "startsWith" => "starts_with",
                    _ => "ends_with",
                }
            );
            let (receiver, argument) = (one.receiver(), &other.tokens);
            let code = Code::atom(quote!(#receiver.#method(#argument)), Form::Bool);
            Some(code.failing_if(one.can_fail || other.can_fail))
        }
        ("orValue", ..) => optional::or_value(translation, one, other),
        ("matches", Type::Text, Type::Text) => matches(translation, one, other),
        ("@in", Type::Text, _) => is_in(translation, one, other),
        ("_==_" | "_!=_", Type::Type, Type::Type) => type_test(translation, function, one, other),
        _ => operator(translation, function, one, other),
    }
}

/// The texts that are joined, where a text is made by that: it is compared without being made.
fn parts(term: &Term) -> Vec<&Term> {
    match &term.kind {
        TermKind::Call { overloads, arguments }
            if term.of == Type::Text && overloads.iter().all(|overload| overload.function == "_+_") =>
        {
            arguments.iter().flat_map(parts).collect()
        }
        _ => vec![term],
    }
}

/// Terms as expressions of the type `&str`, and whether one of them can fail.
fn texts(translation: &mut Translation<'_, '_>, terms: &[&Term]) -> Option<(Vec<TokenStream>, bool)> {
    let texts: Option<Vec<Code<'_>>> = terms.iter().map(|term| translation.text(term)).collect();
    let texts = texts?;
    let can_fail = texts.iter().any(|text| text.can_fail);
    Some((texts.into_iter().map(|text| text.tokens).collect(), can_fail))
}

/// A number or a text of the object.
fn number_or_text<'m>(translation: &mut Translation<'_, 'm>, term: &Term) -> Option<Code<'m>> {
    let code = translation.term(term);
    let resolved = code.resolved(translation.emitter.model);
    matches!(resolved, Some(Resolved::Scalar(Shape::IntOrString))).then_some(code)
}

/// `type(port) == int`.
fn type_test<'m>(
    translation: &mut Translation<'_, 'm>,
    function: &str,
    one: &Term,
    other: &Term,
) -> Option<Code<'m>> {
    let TermKind::Call { overloads, arguments } = &one.kind else { return None };
    let is_type = overloads.iter().all(|overload| overload.function == "type");
    let ([argument], true) = (&arguments[..], is_type) else { return None };
    let TermKind::Constant(Value::Type(name)) = &other.kind else { return None };
    let variant = match &**name {
        "int" => quote!(Int),
        "string" => quote!(String),
        _ => return None,
    };
    let code = number_or_text(translation, argument)?;
    let (ty, tokens) = (translation.emitter.import("orch_runtime::scalar", "IntOrString"), &code.tokens);
    let is_it = quote!(matches!(#tokens, #ty::#variant(_)));
    let made = if function == "_==_" { Code::atom(is_it, Form::Bool) } else { Code::not(&is_it) };
    Some(made.failing_if(code.can_fail))
}

/// A pattern that is written out is compiled once.
fn matches<'m>(translation: &mut Translation<'_, 'm>, text: &Term, pattern: &Term) -> Option<Code<'m>> {
    let TermKind::Constant(Value::Text(pattern)) = &pattern.kind else { return None };
    let pattern: &str = pattern;
    let text = translation.text(text)?;
    let (tokens, declared) = (&text.tokens, pattern::declared(translation.emitter, pattern));
    let tokens = quote!({ #declared PATTERN.is_match(#tokens) });
    Some(Code::new(tokens, Form::Bool, Level::Or).failing_if(text.can_fail))
}

/// A text in a list of texts, or a key in a map.
fn is_in<'m>(translation: &mut Translation<'_, 'm>, text: &Term, range: &Term) -> Option<Code<'m>> {
    if let TermKind::List(items) = &range.kind {
        let constants: Option<Vec<&str>> = items
            .iter()
            .map(|item| match &item.value.kind {
                TermKind::Constant(Value::Text(text)) => Some(&**text),
                _ => None,
            })
            .collect();
        let constants = constants?;
        let text = translation.text(text)?;
        let tokens = &text.tokens;
        let code = Code::atom(quote!([#(#constants),*].contains(&#tokens)), Form::Bool);
        return Some(code.failing_if(text.can_fail));
    }
    if let Some(or_none) = optional::or_none(translation, range) {
        return is_in_either(translation, text, &or_none);
    }
    let list = translation.term(range);
    let receiver = list.receiver();
    let (tokens, can_fail) = match list.resolved(translation.emitter.model)? {
        Resolved::List(item, _) => {
            let item = Code::behind(translation.emitter, item, &quote!(item));
            let Form::Text = item.form else { return None };
            let text = translation.text(text)?;
            let (item, wanted) = (&item.tokens, &text.tokens);
            let expression = translation.emitter.runtime("expression");
            // The text is found out once, before the list is looked through.
            (
                quote!(#expression::is_one_of(#wanted, #receiver.iter().map(|item| #item))),
                text.can_fail || list.can_fail,
            )
        }
        Resolved::Map { .. } => {
            let text = translation.text(text)?;
            let key = &text.tokens;
            (quote!(#receiver.contains_key(#key)), text.can_fail || list.can_fail)
        }
        _ => return None,
    };
    Some(Code::atom(tokens, Form::Bool).failing_if(can_fail))
}

/// The same for a list or map that may not be there, which has nothing then.
fn is_in_either<'m>(
    translation: &mut Translation<'_, 'm>,
    text: &Term,
    range: &OrNone<'m>,
) -> Option<Code<'m>> {
    let text = translation.text(text)?;
    let (wanted, found) = (&text.tokens, &range.found);
    let tokens = match range.of {
        Resolved::List(item, _) => {
            let item = Code::behind(translation.emitter, item, &quote!(item));
            let (Form::Text, item) = (item.form, &item.tokens) else { return None };
            let expression = translation.emitter.runtime("expression");
            quote!(#expression::is_one_of(#wanted, #found.into_iter().flatten().map(|item| #item)))
        }
        // What may fail cannot stand in a closure.
        _ if text.can_fail => return None,
        _ => quote!(#found.is_some_and(|map| map.contains_key(#wanted))),
    };
    Some(Code::atom(tokens, Form::Bool).failing_if(text.can_fail || range.can_fail))
}

/// Operators between two values of the same form.
fn operator<'m>(
    translation: &mut Translation<'_, 'm>,
    function: &str,
    one: &Term,
    other: &Term,
) -> Option<Code<'m>> {
    let is_simple = |of: &Type| matches!(of, Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Text);
    if one.of != other.of || !is_simple(&one.of) {
        return None;
    }
    if let ("_==_" | "_!=_", Some(size), TermKind::Constant(Value::Int(0))) =
        (function, size_of(translation, one), &other.kind)
    {
        return Some(emptiness(&size, function == "_==_"));
    }
    let side = |translation: &mut Translation<'_, 'm>, term: &Term| {
        if term.of == Type::Text {
            return translation.text(term);
        }
        // What can be null, and what is one of two, is a value of any type until it is used.
        let code = translation.term(term);
        Some(translation.plain(code, &term.of))
    };
    let (one, other) = (side(translation, one)?, side(translation, other)?);
    let expression = translation.emitter.runtime("expression");
    operation(&expression, function, &one, &other)
}

/// What an operator is in Rust, between operands that are translated.
fn operation<'m>(
    expression: &TokenStream,
    function: &str,
    one: &Code<'m>,
    other: &Code<'m>,
) -> Option<Code<'m>> {
    let can_fail = one.can_fail || other.can_fail;
    let (left, right) = (&one.tokens, &other.tokens);
    let compared = |operator: TokenStream| {
        let (left, right) = (one.operand(Level::Sum), other.operand(Level::Sum));
        Some(Code::new(quote!(#left #operator #right), Form::Bool, Level::Compare).failing_if(can_fail))
    };
    let counted = |function: &str| {
        let function = format_ident!("{function}");
        Some(Code::atom(quote!(#expression::fits(i64::#function(#left, #right))?), Form::Int).failing())
    };
    let divided = |function: &str| {
        let function = format_ident!("{function}");
        Some(Code::atom(quote!(#expression::#function(#left, #right)?), Form::Int).failing())
    };
    let computed = |operator: TokenStream| {
        let (left, right) = (one.operand(Level::Unary), other.operand(Level::Unary));
        Some(Code::new(quote!(#left #operator #right), Form::Double, Level::Sum).failing_if(can_fail))
    };
    match (function, one.form) {
        ("_==_", Form::Double) => {
            Some(Code::atom(quote!(#expression::same_double(#left, #right)), Form::Bool).failing_if(can_fail))
        }
        ("_!=_", Form::Double) => {
            let tokens = quote!(!#expression::same_double(#left, #right));
            Some(Code::new(tokens, Form::Bool, Level::Unary).failing_if(can_fail))
        }
        ("_==_", _) => compared(quote!(==)),
        ("_!=_", _) => compared(quote!(!=)),
        ("_<_", _) => compared(quote!(<)),
        ("_<=_", _) => compared(quote!(<=)),
        ("_>_", _) => compared(quote!(>)),
        ("_>=_", _) => compared(quote!(>=)),
        ("_+_", Form::Int) => counted("checked_add"),
        ("_-_", Form::Int) => counted("checked_sub"),
        ("_*_", Form::Int) => counted("checked_mul"),
        ("_/_", Form::Int) => divided("quotient"),
        ("_%_", Form::Int) => divided("remainder"),
        ("_+_", Form::Double) => computed(quote!(+)),
        ("_-_", Form::Double) => computed(quote!(-)),
        ("_*_", Form::Double) => computed(quote!(*)),
        ("_/_", Form::Double) => computed(quote!(/)),
        _ => None,
    }
}

/// What a size is asked of, where it is a part of the object.
fn size_of<'m>(translation: &mut Translation<'_, 'm>, term: &Term) -> Option<Code<'m>> {
    let TermKind::Call { overloads, arguments } = &term.kind else { return None };
    let is_size = overloads.iter().all(|overload| overload.function == "size");
    let ([argument], true) = (&arguments[..], is_size) else { return None };
    if argument.of == Type::Text {
        return translation.text(argument);
    }
    let code = translation.term(argument);
    code.resolved(translation.emitter.model).map(|_| code)
}

/// `size(x) == 0`.
fn emptiness<'m>(code: &Code<'m>, is_wanted: bool) -> Code<'m> {
    let receiver = code.receiver();
    let is_empty = quote!(#receiver.is_empty());
    let made = if is_wanted { Code::atom(is_empty, Form::Bool) } else { Code::not(&is_empty) };
    made.failing_if(code.can_fail)
}
