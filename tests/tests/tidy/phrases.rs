//! Phrases that are read twice before they are understood, and what to write instead. Comments and documents
//! are searched.

use crate::{
    rust_text::{Token, TokenKind, tokens},
    source::{SOURCES, files, none, read, shown},
};

/// A phrase in lower case, and what says the same plainly.
const PHRASES: &[(&str, &str)] = &[
    ("clients know", "the source of the rule: a section of the specification, an RFC, a KEP"),
    ("nothing to anybody", "what happens: ignored, not used"),
    ("nobody's", "who owns it, or `of no owner`"),
    ("incomer", "acceptor"),
    ("asker", "caller"),
    ("doubts", "warnings"),
    ("the door", "the listener, or the check that it is"),
    ("turns out to be", "is"),
    ("so to speak", "nothing"),
];

/// Names in code that say the same as a term of the field, and that term.
const NAMES: &[(&str, &str)] = &[("Asker", "Caller"), ("Door", "Acceptor"), ("Incomer", "Acceptor")];

#[test]
fn comments_documents_and_names_are_plain() {
    let mut problems = Vec::new();
    for source in SOURCES.iter().filter(|source| !source.name.ends_with("/phrases.rs")) {
        for token in tokens(&source.text) {
            problems.extend(faults_of_token(&token, &format!("{}:{}", source.name, token.line)));
        }
    }
    for file in files(".md") {
        for (index, line) in read(&file).lines().enumerate() {
            problems.extend(faults(line, &format!("{}:{}", shown(&file), index + 1)));
        }
    }
    none(&problems);
}

fn faults_of_token(token: &Token<'_>, place: &str) -> Vec<String> {
    match token.kind {
        TokenKind::Comment => faults(token.text, place),
        TokenKind::Name => {
            let found = NAMES.iter().filter(|(name, _)| *name == token.text);
            found.map(|(name, term)| format!("{place}: the name {name}; the term is {term}")).collect()
        }
        _ => Vec::new(),
    }
}

fn faults(text: &str, place: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let found = PHRASES.iter().filter(|(phrase, _)| is_phrase(&text, phrase));
    found.map(|(phrase, instead)| format!("{place}: {phrase:?}; write {instead}")).collect()
}

/// Whether the phrase stands there as whole words; more letters behind it are an inflection.
fn is_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
}

#[test]
fn phrases_are_found_as_words() {
    assert_eq!(
        faults("// An Asker of tasks, as clients know.", "a.rs:1"),
        [
            "a.rs:1: \"clients know\"; write the source of the rule: a section of the specification, an RFC, a KEP",
            "a.rs:1: \"asker\"; write caller",
        ]
    );
    let text = "struct Door; // the door\nlet door = \"the door\";";
    let found: Vec<String> = tokens(text).iter().flat_map(|token| faults_of_token(token, "a.rs")).collect();
    assert_eq!(
        found,
        [
            "a.rs: the name Door; the term is Acceptor",
            "a.rs: \"the door\"; write the listener, or the check that it is",
        ]
    );
    assert_eq!(faults("// The tasker and the indoor plant.", "a.rs:1"), [""; 0]);
}
