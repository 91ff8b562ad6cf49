//! `vocabulary.yaml`: every vocabulary spells every word.

use std::collections::BTreeSet;

use crate::{
    diagnostic::{Diagnostics, suggest},
    lower::Lowered,
};

/// All vocabularies define the same words.
pub(super) fn same_words(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let Some(file) = lowered.vocabulary else { return };
    let vocabularies = &file.vocabularies.0;
    let all: BTreeSet<&str> =
        vocabularies.iter().flat_map(|(_, words)| &words.0).map(|(key, _)| key.value.as_str()).collect();
    for (name, words) in vocabularies {
        let own: BTreeSet<&str> = words.0.iter().map(|(key, _)| key.value.as_str()).collect();
        let missing: Vec<&str> = all.difference(&own).copied().collect();
        if !missing.is_empty() {
            let message = format!("the vocabulary `{}` lacks {}", name.value, suggest::listed(&missing));
            diagnostics.error(&name.span, message, "add the words: every vocabulary spells every one");
        }
    }
}
