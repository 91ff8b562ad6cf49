//! `vocabulary.yaml`: every vocabulary spells every word.

use std::collections::BTreeSet;

use crate::{
    diagnostic::{Diagnostics, suggest},
    lower::Lowered,
};

/// Declares the words as the fields of the runtime's `Vocabulary`, which a test holds against the struct.
macro_rules! words {
    ($($word:ident,)*) => {
        const WORDS: &[&str] = &[$(stringify!($word)),*];

        #[cfg(test)]
        const _: fn(orch_runtime::vocabulary::Vocabulary) = |vocabulary| {
            let orch_runtime::vocabulary::Vocabulary { name: _, $($word: _),* } = vocabulary;
        };
    };
}
words! {
    group_suffix,
    label_domain,
    protobuf_media_type,
    namespace_system,
    namespace_public,
    namespace_node_lease,
    namespace_finalizer,
    root_ca_config_map,
    bootstrap_token_secret_type,
    initial_events_end_annotation,
    flow_schema_header,
    priority_level_header,
    exec_info_variable,
}

/// Vocabularies define the words that the code knows, and no others.
pub(super) fn known_words(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let Some(file) = lowered.vocabulary else { return };
    let known: Vec<String> = WORDS.iter().map(|word| camel_case(word)).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    for (_, words) in &file.vocabularies.0 {
        for (key, _) in words.0.iter().filter(|(key, _)| !known.contains(&key.value.as_str())) {
            let message = format!("unknown word `{}`", key.value);
            diagnostics.error(&key.span, message, suggest::did_you_mean(&key.value, &known));
        }
    }
}

/// `group_suffix` to `groupSuffix`.
fn camel_case(word: &str) -> String {
    let mut humps = word.split('_').map(str::to_owned);
    let first = humps.next().unwrap_or_default();
    humps.fold(first, |name, hump| {
        let (head, tail) = hump.split_at(1);
        name + &head.to_uppercase() + tail
    })
}

/// All vocabularies define all words.
pub(super) fn every_word(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let Some(file) = lowered.vocabulary else { return };
    let vocabularies = &file.vocabularies.0;
    let all: BTreeSet<String> = WORDS.iter().map(|word| camel_case(word)).collect();
    let all: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    for (name, words) in vocabularies {
        let own: BTreeSet<&str> = words.0.iter().map(|(key, _)| key.value.as_str()).collect();
        let missing: Vec<&str> = all.difference(&own).copied().collect();
        if !missing.is_empty() {
            let message = format!("the vocabulary `{}` lacks {}", name.value, suggest::listed(&missing));
            diagnostics.error(&name.span, message, "add the words: every vocabulary spells every one");
        }
    }
}
