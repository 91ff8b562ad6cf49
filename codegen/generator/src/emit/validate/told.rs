//! How a broken rule is told: the error in the words of the schema, as an expression.

use orch_runtime::field_error::Reason;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{
    operand::Operand,
    scope::{Scope, filled},
    standard,
};
use crate::{
    emit::emitter::Emitter,
    model::{Resolved, Rule, Shape, Shows, Step, StringFormat, Usage, Words},
};

/// What a rule is about, for its words.
pub(super) struct Told<'t, 'm> {
    pub emitter: &'t Emitter<'m>,
    /// How paths are reached.
    pub scope: &'t Scope<'m>,
    pub words: &'t Words,
    /// The place of the error, as an expression of type `&Path`.
    pub place: TokenStream,
    /// The value, where the rule is about one that can be shown.
    pub value: Option<(&'m Usage, Operand)>,
    /// Else where the value is that is shown.
    pub shows: Option<&'t [Step]>,
    /// What makes the message, as an expression of type `Option<String>`.
    pub made: Option<TokenStream>,
}

impl Told<'_, '_> {
    /// The statement that reports the rule, with the reason that goes with the keyword unless the words say
    /// another one.
    pub fn report(&self, usual: Reason, message: &str, fault: Option<&TokenStream>) -> TokenStream {
        let place = &self.place;
        let message = self.words.message.as_deref().unwrap_or(message);
        let detail = match &self.made {
            Some(made) => quote!(&#made.unwrap_or_default()),
            None => self.message(message, fault),
        };
        if self.words.is_warning {
            return quote!(cx.warn(#place, #detail););
        }
        let reason = self.words.reason.unwrap_or(usual);
        let error = self.emitter.import("orch_runtime::field_error", "FieldError");
        let shown = self.shown(reason);
        let class = self.emitter.import("orch_runtime::field_error", "Reason");
        let reason = format_ident!("{reason:?}");
        let push = quote!(cx.push(#error::in_words(#place, #class::#reason, #shown, #detail)));
        if matches!(self.words.shows, Some(Shows::Value(_))) {
            // A list may be shown for each of its items.
            quote!(if !cx.is_full() { #push })
        } else {
            push
        }
    }

    /// A rule about a single value: what is told when it is broken.
    pub fn value_rule(&self, rule: Rule<'_>, usage: &Usage, operand: &Operand) -> TokenStream {
        let Operand { reference, receiver, .. } = operand;
        if self.words.message.is_none() {
            let place = &self.place;
            return standard::call_at(self.emitter, usage, rule, operand, place);
        }
        let is_quantity = matches!(self.emitter.model.resolve(usage), Resolved::Scalar(Shape::Quantity));
        let is_text_enum = matches!(self.emitter.model.resolve(usage), Resolved::Enum(..));
        let text = if is_text_enum {
            let text_enum = self.emitter.import("orch_runtime::text_enum", "TextEnum");
            quote!(#text_enum::as_str(#reference))
        } else {
            quote!(#receiver.as_str())
        };
        let limit = |limit: f64| standard::limit_literal(self.emitter, usage, limit);
        let size = |limit: u64| Literal::u64_unsuffixed(limit);
        let copy = &operand.copy;
        let (is_broken, usual) = match rule {
            Rule::Between(least, greatest) => {
                let (least, greatest) = (limit(least), limit(greatest));
                (quote!(!(#least..=#greatest).contains(#reference)), Reason::Invalid)
            }
            Rule::Minimum(_) if is_quantity => (quote!(#receiver.sign() < 0), Reason::Invalid),
            Rule::ExclusiveMinimum(_) if is_quantity => (quote!(#receiver.sign() <= 0), Reason::Invalid),
            Rule::Minimum(least) => {
                let least = limit(least);
                (quote!(#copy < #least), Reason::Invalid)
            }
            Rule::Maximum(greatest) => {
                let greatest = limit(greatest);
                (quote!(#copy > #greatest), Reason::Invalid)
            }
            Rule::ExclusiveMinimum(least) => {
                let least = limit(least);
                (quote!(#copy <= #least), Reason::Invalid)
            }
            Rule::ExclusiveMaximum(greatest) => {
                let greatest = limit(greatest);
                (quote!(#copy >= #greatest), Reason::Invalid)
            }
            Rule::MultipleOf(step) => {
                let (step, trait_) = (limit(step), self.emitter.import("orch_runtime::rule", "Number"));
                (quote!(!#trait_::is_multiple_of(#copy, #step)), Reason::Invalid)
            }
            Rule::OneOf(values) => (quote!(!matches!(#text, #(#values)|*)), Reason::NotSupported),
            Rule::Format(format) => return self.format(&self.function(format), &text),
            Rule::OwnFormat(name) => {
                let name = format_ident!("{name}");
                return self.format(&quote!(crate::formats::#name), &text);
            }
            Rule::Pattern(pattern) => {
                let lazy = self.emitter.import("std::sync", "LazyLock");
                let module = self.emitter.runtime("rule");
                let report = self.report(Reason::Invalid, "", None);
                return quote! {
                    {
                        static PATTERN: #lazy<#module::Pattern> =
                            #lazy::new(|| #module::Pattern::new(#pattern));
                        if !PATTERN.is_match(#text) { #report }
                    }
                };
            }
            Rule::MinLength(least) => {
                let least = size(least);
                (quote!(#text.len() < #least), Reason::Invalid)
            }
            Rule::MaxLength(greatest) => {
                let greatest = size(greatest);
                (quote!(#text.len() > #greatest), Reason::TooLong)
            }
            Rule::MinItems(least) | Rule::MinProperties(least) => {
                let least = size(least);
                (quote!(#receiver.len() < #least), Reason::Invalid)
            }
            Rule::MaxItems(greatest) | Rule::MaxProperties(greatest) => {
                let greatest = size(greatest);
                (quote!(#receiver.len() > #greatest), Reason::TooMany)
            }
            Rule::UniqueItems | Rule::UniqueKeys(_) => {
                return standard::call_at(self.emitter, usage, rule, operand, &self.place);
            }
        };
        let report = self.report(usual, "", None);
        quote!(if #is_broken { #report })
    }

    fn function(&self, format: StringFormat) -> TokenStream {
        let constraint = self.emitter.runtime("constraint");
        let function = format_ident!("{}", format.constraint().0);
        quote!(#constraint::#function)
    }

    /// Each fault is told where the message says where it goes, else any of them.
    fn format(&self, function: &TokenStream, text: &TokenStream) -> TokenStream {
        if self.words.message.as_ref().is_some_and(|message| message.contains("{fault}")) {
            let report = self.report(Reason::Invalid, "", Some(&quote!(fault)));
            return quote!(for fault in #function(#text) { #report });
        }
        if self.words.message.as_ref().is_some_and(|message| message.contains("{faults}")) {
            let report = self.report(Reason::Invalid, "", Some(&quote!(faults.join(";"))));
            return quote! {
                let faults = #function(#text);
                if !faults.is_empty() { #report }
            };
        }
        let report = self.report(Reason::Invalid, "", None);
        quote!(if !#function(#text).is_empty() { #report })
    }

    /// What the error shows, as an expression of type `&str`.
    fn shown(&self, reason: Reason) -> TokenStream {
        let is_shown = matches!(
            reason,
            Reason::Invalid | Reason::NotSupported | Reason::Duplicate | Reason::NotFound | Reason::TooMany
        );
        if !is_shown {
            return quote!("");
        }
        match &self.words.shows {
            Some(Shows::Text(text)) if text.contains('{') => {
                let shown = self.emitter.import("orch_runtime::field_error", "Shown");
                let text = self.message(text, None);
                quote!(&#shown::shown(#text))
            }
            Some(Shows::Text(text)) => {
                let text = orch_runtime::field_error::Shown::shown(text.as_str());
                quote!(#text)
            }
            Some(Shows::Value(path)) => {
                let shown = self.scope.value_text(self.emitter, path, shown, "null");
                quote!(&#shown)
            }
            None => match (&self.value, self.shows) {
                (Some((usage, operand)), _) => {
                    let shown = shown(self.emitter, usage, operand);
                    quote!(&#shown)
                }
                (None, Some(path)) => {
                    let shown = self.scope.value_text(self.emitter, path, shown, "null");
                    quote!(&#shown)
                }
                (None, None) => quote!("\"\""),
            },
        }
    }

    /// The value as messages name it.
    fn plain_value(&self) -> Option<TokenStream> {
        match (&self.value, self.shows) {
            (Some((usage, operand)), _) => Some(plain(self.emitter, usage, operand)),
            (None, Some(path)) => Some(self.scope.value_text(self.emitter, path, plain, "")),
            (None, None) => None,
        }
    }

    /// A message with its values, as an expression of type `&str`.
    fn message(&self, message: &str, fault: Option<&TokenStream>) -> TokenStream {
        let (form, values) = filled(message, &mut |name| match name {
            "value" => self.plain_value(),
            "fault" | "faults" => fault.cloned(),
            path if path.starts_with('.') => {
                let steps = Step::path(path)?;
                Some(self.scope.value_text(self.emitter, &steps, plain, ""))
            }
            "path" => Some(quote!(path)),
            other => self.scope.hole(other),
        });
        if values.is_empty() {
            return quote!(#message);
        }
        quote!(&format!(#form, #(#values),*))
    }
}

/// A value as errors show it, as an expression of type `String`.
pub(super) fn shown(emitter: &Emitter<'_>, usage: &Usage, operand: &Operand) -> TokenStream {
    let reference = &operand.reference;
    match emitter.model.resolve(usage) {
        Resolved::Enum(..)
        | Resolved::Scalar(
            Shape::Boolean
            | Shape::Int32
            | Shape::Int64
            | Shape::Double
            | Shape::String(_)
            | Shape::IntOrString,
        ) => {
            let shown = emitter.import("orch_runtime::field_error", "Shown");
            quote!(#shown::shown(#reference))
        }
        Resolved::Scalar(_) => {
            let shown = emitter.import("orch_runtime::field_error", "Shown");
            quote!(#shown::shown(&(#reference).to_string()))
        }
        _ => {
            let json = emitter.import("orch_runtime::field_error", "json");
            quote!(#json(#reference))
        }
    }
}

/// A value as messages name it, as an expression that can be displayed.
fn plain(emitter: &Emitter<'_>, usage: &Usage, operand: &Operand) -> TokenStream {
    let reference = &operand.reference;
    match emitter.model.resolve(usage) {
        Resolved::Enum(..) | Resolved::Scalar(_) => quote!((#reference).to_string()),
        _ => {
            let json = emitter.import("orch_runtime::field_error", "json");
            quote!(#json(#reference))
        }
    }
}
