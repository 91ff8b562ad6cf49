//! `vocabulary.yaml` to words by the names of the runtime's fields.

use crate::{diagnostic::Diagnostics, idl::VocabularyFile, lower::names, model::VocabularyWords};

/// All vocabularies, in the order written.
pub(super) fn lower(file: &VocabularyFile, diagnostics: &mut Diagnostics) -> Vec<VocabularyWords> {
    let mut vocabularies = Vec::new();
    for (name, words) in &file.vocabularies.0 {
        for (key, word) in &words.0 {
            if word.value.is_empty() {
                let message = format!("the word `{}` is empty", key.value);
                diagnostics
                    .error(&word.span, message, "every word has a spelling in every vocabulary")
                    .code("E0213");
            }
        }
        let words =
            words.0.iter().map(|(key, word)| (names::field(&key.value), word.value.clone())).collect();
        vocabularies.push(VocabularyWords { name: name.value.clone(), words, span: name.span.clone() });
    }
    vocabularies
}
