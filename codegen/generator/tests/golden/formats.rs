//! The formats of strings that the golden schemas name.

use orch_runtime::vocabulary::Vocabulary;

/// Texts of an even length.
pub fn even(value: &str) -> Vec<String> {
    if value.len().is_multiple_of(2) { Vec::new() } else { vec!["must be even".to_owned()] }
}

/// Texts that begin with a product word.
pub fn of_words(value: &str, words: &Vocabulary) -> Vec<String> {
    let domain = words.label_domain;
    if value.starts_with(domain) { Vec::new() } else { vec![format!("is not of {domain}")] }
}
