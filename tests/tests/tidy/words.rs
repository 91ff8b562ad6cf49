//! Words of the product stand in the vocabulary, and nowhere else in code.

use std::collections::BTreeSet;

use crate::{
    rust_text::{Token, TokenKind, product_tokens},
    source::{SOURCES, none},
};

/// Words that only the vocabulary may know.
const PRODUCT_WORDS: &[&str] = &["orch.io", "k8s.io", "kubernetes"];

/// Published documents carry these extensions in every vocabulary, because client tools look for exactly
/// them.
const PUBLISHED_EXTENSIONS: &str = "x-kubernetes-";

/// Where such a word stands in code all the same, and why.
const SPELLED_IN_CODE: &[(&str, &str)] = &[
    ("codegen/generator/src/load/header.rs", "an example in a remedy"),
    ("codegen/generator/src/scaffold.rs", "an example in a remedy"),
    ("server/http/src/documents/discovery/aggregated.rs", "clients ask by this name in every vocabulary"),
    ("server/http/src/documents/health/outcomes.rs", "metrics have these names in every vocabulary"),
    ("server/machinery/src/apply/migrate.rs", "the annotation of clients has this name in every vocabulary"),
];

#[test]
fn product_words_are_data() {
    let mut problems = Vec::new();
    let mut excepted: BTreeSet<&str> = SPELLED_IN_CODE.iter().map(|(file, _)| *file).collect();
    for source in SOURCES.iter().filter(|source| !source.name.ends_with("/vocabulary.rs")) {
        let is_excepted = SPELLED_IN_CODE.iter().any(|(file, _)| *file == source.name);
        for (line, word) in product_words(&source.product_tokens()) {
            excepted.remove(source.name.as_str());
            if !is_excepted {
                problems.push(format!("{}:{line}: {word} in code", source.name));
            }
        }
    }
    problems.extend(excepted.iter().map(|file| format!("{file}: is excepted without need")));
    none(&problems);
}

/// The words in names and texts, with their lines.
fn product_words(tokens: &[Token<'_>]) -> Vec<(usize, &'static str)> {
    let tokens = tokens.iter().filter(|token| matches!(token.kind, TokenKind::Name | TokenKind::Text));
    let words = tokens.filter_map(|token| {
        let text = token.text.replace(PUBLISHED_EXTENSIONS, "");
        PRODUCT_WORDS.iter().find(|word| text.contains(*word)).map(|word| (token.line, *word))
    });
    words.collect()
}

#[test]
fn words_are_found_in_names_and_texts() {
    let text = "// orch.io\nlet x = \"x-kubernetes-y\";\nlet y = \"a.k8s.io/b\";\nfn kubernetes_form() {}\n";
    assert_eq!(product_words(&product_tokens(text)), [(3, "k8s.io"), (4, "kubernetes")]);
}
