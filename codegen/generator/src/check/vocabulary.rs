//! `vocabulary.yaml`: every vocabulary spells every word.

use std::collections::BTreeSet;

use crate::{
    diagnostic::{Diagnostics, suggest},
    lower::Lowered,
    model::WORDS,
};

/// Vocabularies define the words that the code knows, and no others.
pub(super) fn known_words(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let Some(file) = lowered.vocabulary else { return };
    let known: Vec<&str> = WORDS.iter().map(|(name, _)| *name).collect();
    for (_, words) in &file.vocabularies.0 {
        for (key, _) in words.0.iter().filter(|(key, _)| !known.contains(&key.value.as_str())) {
            let message = format!("unknown word `{}`", key.value);
            diagnostics.error(&key.span, message, suggest::did_you_mean(&key.value, &known));
        }
    }
}

/// All vocabularies define all words.
pub(super) fn every_word(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let Some(file) = lowered.vocabulary else { return };
    let vocabularies = &file.vocabularies.0;
    let all: BTreeSet<&str> = WORDS.iter().map(|(name, _)| *name).collect();
    for (name, words) in vocabularies {
        let own: BTreeSet<&str> = words.0.iter().map(|(key, _)| key.value.as_str()).collect();
        let missing: Vec<&str> = all.difference(&own).copied().collect();
        if !missing.is_empty() {
            let message = format!("the vocabulary `{}` lacks {}", name.value, suggest::listed(&missing));
            diagnostics.error(&name.span, message, "add the words: every vocabulary spells every one");
        }
    }
}
