//! One rule: its value, and the report.

use orch_expression::typed::{Term, TermKind};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{
    code::{Code, Form},
    conversion,
    term::Translation,
};
use crate::{
    emit::emitter::Emitter,
    expression::settle::type_name,
    model::{Expression, PathStep, Resolved, RuleReason, ValidationRule},
};

/// The rules about the value of a variable, at the place of another.
pub(super) fn rules<'m>(
    emitter: &Emitter<'m>,
    rules: &[ValidationRule],
    resolved: Resolved<'_>,
    value: &Ident,
    behind: &dyn Fn(&TokenStream) -> Code<'m>,
    at: &Ident,
) -> Vec<TokenStream> {
    rules.iter().map(|written| rule(emitter, written, resolved, value, behind, at)).collect()
}

fn rule<'m>(
    emitter: &Emitter<'m>,
    written: &ValidationRule,
    resolved: Resolved<'_>,
    value: &Ident,
    behind: &dyn Fn(&TokenStream) -> Code<'m>,
    at: &Ident,
) -> TokenStream {
    let expression = emitter.runtime("expression");
    let old = if written.optional_old_self {
        let made = conversion::value(emitter, &behind(&quote!(old)));
        Code::atom(quote!(#expression::Value::optional(old.map(|old| #made))), Form::Value)
    } else {
        behind(&quote!(old))
    };
    let mut translation = Translation {
        emitter,
        itself: behind(&quote!(#value)),
        old,
        others: Vec::new(),
        locals: Vec::new(),
        null_locals: Vec::new(),
    };
    let holds = translation.bool(&written.rule.term);
    let is_about_change = written.is_about_change();
    let has_old = is_about_change || written.optional_old_self;
    let message = message(&mut translation, written, has_old);
    let uses_words = uses(&written.rule, "words")
        || written.message_expression.as_ref().is_some_and(|expression| uses(expression, "words"));
    let words = uses_words.then(|| quote!(let words = cx.vocabulary;));
    let row = row(emitter, written, resolved);
    let (path, blamed) = blamed(written, at);
    let tokens = &holds.tokens;
    let (outcome, is_broken) = if holds.can_fail {
        (quote!(let outcome = #expression::outcome(|| Ok(#tokens));), quote!(outcome != Ok(true)))
    } else {
        (quote!(let holds = #tokens;), quote!(!holds))
    };
    let outcome_value = if holds.can_fail { quote!(outcome) } else { quote!(Ok(false)) };
    // A value that stays as it was is not judged anew, except by rules about the change.
    let is_judged = if is_about_change { is_broken } else { quote!(#is_broken && old != Some(#value)) };
    let judged = quote! {
        #words
        #outcome
        if #is_judged {
            #path
            #row.report(#outcome_value, #message, #at, #blamed, cx);
        }
    };
    if is_about_change && !written.optional_old_self {
        quote!(if let Some(old) = old { #judged })
    } else {
        quote!({ #judged })
    }
}

/// The rule, as its report needs it.
fn row(emitter: &Emitter<'_>, written: &ValidationRule, resolved: Resolved<'_>) -> TokenStream {
    let expression = emitter.runtime("expression");
    let reason_type = emitter.import("orch_runtime::field_error", "Reason");
    let text = &written.rule.text;
    let message = written.message.as_ref();
    let message = message.map_or_else(|| quote!(None), |message| quote!(Some(#message)));
    let reason = match written.reason {
        None | Some(RuleReason::Invalid) => quote!(#reason_type::Invalid),
        Some(RuleReason::Forbidden) => quote!(#reason_type::Forbidden),
        Some(RuleReason::Required) => quote!(#reason_type::Required),
        Some(RuleReason::Duplicate) => quote!(#reason_type::Duplicate),
    };
    let (is_warning, type_name) = (written.is_warning, type_name(resolved));
    quote! {
        #expression::Rule {
            text: #text,
            message: #message,
            reason: #reason,
            is_warning: #is_warning,
            type_name: #type_name,
        }
    }
}

/// A closure that makes the message. One that tells the value before makes none where there was none.
fn message(translation: &mut Translation<'_, '_>, rule: &ValidationRule, has_old: bool) -> TokenStream {
    let expression = translation.emitter.runtime("expression");
    let Some(written) = &rule.message_expression else { return quote!(|| None) };
    let mut can_fail = true;
    let made = translation.value(&written.term, &mut can_fail);
    if rule.tells_old() && !has_old {
        return quote!(|| old.and_then(|old| #expression::message(|| Ok(#made))));
    }
    quote!(|| #expression::message(|| Ok(#made)))
}

/// The lines that make the path of the blamed field, and a reference to it.
fn blamed(written: &ValidationRule, at: &Ident) -> (TokenStream, TokenStream) {
    let mut lines = TokenStream::new();
    let mut last = at.clone();
    for (index, step) in written.field_path.iter().enumerate() {
        let next = format_ident!("blamed_{index}");
        lines.extend(match step {
            PathStep::Field(name) => quote!(let #next = #last.field(#name);),
            PathStep::Key(key) => quote!(let #next = #last.key(#key);),
        });
        last = next;
    }
    let reference = if written.field_path.is_empty() { quote!(#at) } else { quote!(&#last) };
    (lines, reference)
}

fn uses(expression: &Expression, variable: &str) -> bool {
    let is_it = |term: &Term| matches!(&term.kind, TermKind::Variable(name) if &**name == variable);
    expression.term.any(&mut { is_it })
}
