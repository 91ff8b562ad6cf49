//! How a broken rule is told: the error in the words of the schema, as an expression.

use orch_runtime::field_error::Reason;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{
    operand::Operand,
    scope::{Scope, filled},
    shown::{plain, shown},
    standard,
};
use crate::{
    emit::{emitter::Emitter, pattern},
    model::{Resolved, Rule, Shape, Shows, Step, StringFormat, Usage, Words},
};

/// What a rule is about, for its words.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent property of the rule")]
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
    /// The value is a text that was made of it: `&str`.
    pub is_text: bool,
    /// What makes the text of the value that is shown, as an expression of type `Option<String>`.
    pub made_shown: Option<TokenStream>,
    /// Other errors at the place are taken back.
    pub is_alone: bool,
    /// The rules after it are not judged.
    pub stops: bool,
    /// The items after it are not judged.
    pub ends_loop: bool,
}

impl<'t, 'm> Told<'t, 'm> {
    pub fn new(emitter: &'t Emitter<'m>, scope: &'t Scope<'m>, words: &'t Words, place: TokenStream) -> Self {
        let (value, shows, made, made_shown) = (None, None, None, None);
        let (is_text, is_alone, stops, ends_loop) = (false, false, false, false);
        Told {
            emitter,
            scope,
            words,
            place,
            value,
            shows,
            made,
            is_text,
            made_shown,
            is_alone,
            stops,
            ends_loop,
        }
    }

    /// The statement that reports the rule, with the reason that goes with the keyword unless the words say
    /// another one.
    pub fn report(&self, usual: Reason, message: &str, fault: Option<&TokenStream>) -> TokenStream {
        self.report_showing(usual, message, fault, None)
    }

    /// The same for a list or a map that has too many: `count` is how many, which is shown instead of them.
    fn report_showing(
        &self,
        usual: Reason,
        message: &str,
        fault: Option<&TokenStream>,
        count: Option<&TokenStream>,
    ) -> TokenStream {
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
        let shown = self.shown(reason, count);
        let class = self.emitter.import("orch_runtime::field_error", "Reason");
        let reason = format_ident!("{reason:?}");
        let mut push = quote!(cx.push(#error::in_words(#place, #class::#reason, #shown, #detail)));
        if matches!(self.words.shows, Some(Shows::Value(_))) || self.made_shown.is_some() {
            // A list may be shown for each of its items.
            push = quote!(if !cx.is_full() { #push });
        }
        let retract = self.is_alone.then(|| quote!(cx.retract(#place);));
        let stop = match (self.stops, self.ends_loop) {
            (true, _) => Some(quote!(; return;)),
            (false, true) => Some(quote!(; break;)),
            (false, false) => None,
        };
        quote!(#retract #push #stop)
    }

    /// A rule about a single value: what is told when it is broken.
    pub fn value_rule(&self, rule: Rule<'_>, usage: &Usage, operand: &Operand) -> TokenStream {
        let Operand { reference, receiver, .. } = operand;
        if self.words.message.is_none() {
            let place = &self.place;
            return standard::call_at(self.emitter, usage, rule, operand, place);
        }
        let is_quantity = matches!(self.emitter.model.resolve(usage), Resolved::Scalar(Shape::Quantity));
        let text = self.text(usage, operand);
        let limit = |limit: f64| standard::limit_literal(self.emitter, usage, limit);
        let (copy, length) = (&operand.copy, quote!(#receiver.len()));
        let compared = |operator: TokenStream, bound: f64| {
            let bound = limit(bound);
            (quote!(#copy #operator #bound), Reason::Invalid)
        };
        let sized = |size: &TokenStream, operator: TokenStream, bound: u64, reason: Reason| {
            let bound = Literal::u64_unsuffixed(bound);
            (quote!(#size #operator #bound), reason)
        };
        let (is_broken, usual) = match rule {
            Rule::Between(least, greatest) => {
                let (least, greatest) = (limit(least), limit(greatest));
                (quote!(!(#least..=#greatest).contains(#reference)), Reason::Invalid)
            }
            Rule::Minimum(_) if is_quantity => (quote!(#receiver.sign() < 0), Reason::Invalid),
            Rule::ExclusiveMinimum(_) if is_quantity => (quote!(#receiver.sign() <= 0), Reason::Invalid),
            Rule::Minimum(least) => compared(quote!(<), least),
            Rule::Maximum(greatest) => compared(quote!(>), greatest),
            Rule::ExclusiveMinimum(least) => compared(quote!(<=), least),
            Rule::ExclusiveMaximum(greatest) => compared(quote!(>=), greatest),
            Rule::MultipleOf(step) => {
                let (step, trait_) = (limit(step), self.emitter.import("orch_runtime::rule", "Number"));
                (quote!(!#trait_::is_multiple_of(#copy, #step)), Reason::Invalid)
            }
            Rule::OneOf(values) => (quote!(!matches!(#text, #(#values)|*)), Reason::NotSupported),
            Rule::Format(format) => {
                let function = self.function(format);
                return self.format(&quote!(#function(#text)));
            }
            Rule::OwnFormat(format) => return self.format(&standard::own_format(format, &text)),
            Rule::Pattern(pattern) => return self.pattern(pattern, &text),
            Rule::MinLength(least) => sized(&quote!(#text.len()), quote!(<), least, Reason::Invalid),
            Rule::MaxLength(greatest) => sized(&quote!(#text.len()), quote!(>), greatest, Reason::TooLong),
            Rule::MinItems(least) | Rule::MinProperties(least) => {
                sized(&length, quote!(<), least, Reason::Invalid)
            }
            Rule::MaxItems(greatest) | Rule::MaxProperties(greatest) => {
                sized(&length, quote!(>), greatest, Reason::TooMany)
            }
            Rule::UniqueItems | Rule::UniqueKeys(_) => {
                return standard::call_at(self.emitter, usage, rule, operand, &self.place);
            }
        };
        let has_many = matches!(rule, Rule::MaxItems(_) | Rule::MaxProperties(_));
        let count = has_many.then(|| quote!(&#length.to_string()));
        let report = self.report_showing(usual, "", None, count.as_ref());
        quote!(if #is_broken { #report })
    }

    /// The value as an expression of type `&str`, where it is a text.
    fn text(&self, usage: &Usage, operand: &Operand) -> TokenStream {
        let Operand { reference, receiver, .. } = operand;
        if self.is_text {
            return reference.clone();
        }
        if let Resolved::Enum(..) = self.emitter.model.resolve(usage) {
            let text_enum = self.emitter.import("orch_runtime::text_enum", "TextEnum");
            return quote!(#text_enum::as_str(#reference));
        }
        quote!(#receiver.as_str())
    }

    fn pattern(&self, pattern: &str, text: &TokenStream) -> TokenStream {
        let declared = pattern::declared(self.emitter, pattern);
        let report = self.report(Reason::Invalid, "", None);
        quote!({ #declared if !PATTERN.is_match(#text) { #report } })
    }

    fn function(&self, format: StringFormat) -> TokenStream {
        let constraint = self.emitter.runtime("constraint");
        let function = format_ident!("{}", format.constraint().0);
        quote!(#constraint::#function)
    }

    /// Each fault is told where the message says where it goes, else any of them.
    fn format(&self, faults: &TokenStream) -> TokenStream {
        if self.words.message.as_ref().is_some_and(|message| message.contains("{fault}")) {
            let report = self.report(Reason::Invalid, "", Some(&quote!(fault)));
            return quote!(for fault in #faults { #report });
        }
        if self.words.message.as_ref().is_some_and(|message| message.contains("{faults}")) {
            let report = self.report(Reason::Invalid, "", Some(&quote!(faults.join(";"))));
            return quote! {
                let faults = #faults;
                if !faults.is_empty() { #report }
            };
        }
        let report = self.report(Reason::Invalid, "", None);
        quote!(if !#faults.is_empty() { #report })
    }

    /// What the error shows, as an expression of type `&str`.
    fn shown(&self, reason: Reason, count: Option<&TokenStream>) -> TokenStream {
        let is_shown = matches!(
            reason,
            Reason::Invalid | Reason::NotSupported | Reason::Duplicate | Reason::NotFound | Reason::TooMany
        );
        if !is_shown {
            return quote!("");
        }
        if let Some(made) = &self.made_shown {
            return quote!(&#made.unwrap_or_default());
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
                let shown = self.scope.value_text(self.emitter, path, shown, "\"null\"");
                quote!(&#shown)
            }
            None if reason == Reason::TooMany && count.is_some() => quote!(#count),
            None => match (&self.value, self.shows) {
                (Some((usage, operand)), _) => {
                    let shown = self.value_shown(usage, operand);
                    quote!(&#shown)
                }
                (None, Some(path)) => {
                    let shown = self.scope.value_text(self.emitter, path, shown, "\"null\"");
                    quote!(&#shown)
                }
                (None, None) => quote!("\"\""),
            },
        }
    }

    /// The value as errors show it.
    fn value_shown(&self, usage: &Usage, operand: &Operand) -> TokenStream {
        if !self.is_text {
            return shown(self.emitter, usage, operand);
        }
        let (module, text) = (self.emitter.import("orch_runtime::field_error", "Shown"), &operand.reference);
        quote!(#module::shown(#text))
    }

    /// The value as messages name it.
    fn plain_value(&self) -> Option<TokenStream> {
        match (&self.value, self.shows) {
            (Some((_, operand)), _) if self.is_text => Some(operand.reference.clone()),
            (Some((usage, operand)), _) => Some(plain(self.emitter, usage, operand)),
            (None, Some(path)) => Some(self.scope.value_text(self.emitter, path, plain, "")),
            (None, None) => None,
        }
    }

    /// A message with its values, as an expression of type `&str`.
    fn message(&self, message: &str, fault: Option<&TokenStream>) -> TokenStream {
        let (form, values) = filled(message, &mut |name| match name {
            "value" => self.plain_value(),
            "shown" => match (&self.value, self.shows) {
                (Some((usage, operand)), _) => Some(self.value_shown(usage, operand)),
                (None, Some(path)) => Some(self.scope.value_text(self.emitter, path, shown, "\"null\"")),
                (None, None) => None,
            },
            path if path.starts_with("shown:") => {
                let steps = Step::path(&path["shown:".len()..])?;
                Some(self.scope.value_text(self.emitter, &steps, shown, "\"null\""))
            }
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
