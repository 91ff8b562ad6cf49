//! The rules that OpenAPI's own keywords state, in the standard words or in those of the schema.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{
    emit::{
        emitter::Emitter,
        validate::{operand::Operand, scope::Scope, standard::call_at, told::Told},
    },
    model::{ObjectType, Rule, Usage, Words},
};

/// The rules about the value at a place.
pub(super) fn rules(emitter: &Emitter<'_>, usage: &Usage, operand: &Operand) -> Vec<TokenStream> {
    let rules = emitter.model.rules(usage);
    let words = &emitter.model.innermost(usage).words;
    let call = |rule: Rule<'_>| match words.get(rule.keyword()).or_else(|| words.get("all")) {
        Some(words) => told(emitter, usage, rule, operand, words),
        None => call_at(emitter, usage, rule, operand, &quote!(&at)),
    };
    rules.into_iter().map(call).collect()
}

/// A rule with words of its own.
fn told(
    emitter: &Emitter<'_>,
    usage: &Usage,
    rule: Rule<'_>,
    operand: &Operand,
    words: &Words,
) -> TokenStream {
    let nothing = ObjectType::default();
    let scope = Scope::new(&nothing, "self");
    let place = scope.place_from_value(emitter, words.place.as_deref().unwrap_or_default());
    let value = Some((usage, operand.clone()));
    Told { value, ..Told::new(emitter, &scope, words, place) }.value_rule(rule, usage, operand)
}
