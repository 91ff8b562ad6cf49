//! Field selectors: `path=value`, `path==value` and `path!=value`, joined by commas. All terms must hold.
//!
//! In values a backslash escapes a comma, an equals sign and a backslash. An absent field is compared as an
//! empty text.

use std::fmt;

use orch_runtime::field_error::Shown as _;

use super::SelectorError;

/// A field selector. The empty one selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    /// Sorted.
    terms: Vec<Term>,
}

/// A condition on one field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// The field as the client named it: `metadata.name`.
    pub path: String,
    /// Whether the field must not have the value.
    pub negated: bool,
    /// The value, without escapes.
    pub value: String,
}

impl Term {
    /// Whether the condition holds for a field with this value; that of an absent field is empty.
    pub fn holds(&self, value: &str) -> bool {
        (self.value == value) != self.negated
    }
}

impl FieldSelector {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut parts = split_terms(text);
        // If there are several errors, this order decides which one is reported.
        parts.sort_unstable();
        let mut terms = Vec::new();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let Some((path, negated, value)) = split_term(part) else {
                return Err(SelectorError(format!("invalid selector: '{text}'; can't understand '{part}'")));
            };
            let term = Term { path: path.to_owned(), negated, value: unescape(value)? };
            // A term about nothing asks for nothing.
            if !(term.path.is_empty() && term.value.is_empty()) {
                terms.push(term);
            }
        }
        terms.sort_unstable();
        Ok(FieldSelector { terms })
    }

    /// Whether every object is selected.
    pub fn is_everything(&self) -> bool {
        self.terms.is_empty()
    }

    /// The conditions, sorted.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The value that the selector requires of a field, if it requires one. A selector that requires two
    /// selects nothing; then either is returned.
    pub fn requires_exact(&self, path: &str) -> Option<&str> {
        self.terms.iter().find(|term| !term.negated && term.path == path).map(|term| term.value.as_str())
    }

    /// Refuses fields that the kind cannot be selected by. `selectable` are the kind's own fields. Every kind
    /// has `metadata.name`, and namespaced kinds have `metadata.namespace`. A kind without own fields accepts
    /// the namespace even if it is not namespaced, and its error has other words; so it is in the reference
    /// server.
    pub fn check(&self, selectable: &[&str], namespaced: bool) -> Result<(), SelectorError> {
        let known = |path: &str| match path {
            "metadata.name" => true,
            "metadata.namespace" => namespaced || selectable.is_empty(),
            path => selectable.contains(&path),
        };
        match self.terms.iter().find(|term| !known(&term.path)) {
            None => Ok(()),
            Some(term) if selectable.is_empty() => Err(SelectorError(format!(
                "{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                term.path.shown()
            ))),
            Some(term) => Err(SelectorError(format!("field label not supported: {}", term.path))),
        }
    }
}

/// The canonical text: sorted, with escapes.
impl fmt::Display for FieldSelector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let operator = if term.negated { "!=" } else { "=" };
            write!(out, "{comma}{}{operator}{}", term.path, escape(&term.value))?;
        }
        Ok(())
    }
}

/// Cuts at the commas that are not escaped.
fn split_terms(text: &str) -> Vec<&str> {
    let mut escaped = false;
    text.split(|ch| {
        let cut = ch == ',' && !escaped;
        escaped = ch == '\\' && !escaped;
        cut
    })
    .collect()
}

/// The path, whether the term is negated, and the value with its escapes.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let equals = term.find('=')?;
    let (left, right) = (&term[..equals], &term[equals + 1..]);
    match left.strip_suffix('!') {
        Some(path) => Some((path, true, right)),
        None => Some((left, false, right.strip_prefix('=').unwrap_or(right))),
    }
}

fn unescape(value: &str) -> Result<String, SelectorError> {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => match chars.next() {
                Some(escaped @ ('\\' | ',' | '=')) => text.push(escaped),
                other => {
                    let other: String = other.into_iter().collect();
                    return Err(SelectorError(format!(
                        "invalid field selector: invalid escape sequence: \\{other}"
                    )));
                }
            },
            ',' | '=' => {
                return Err(SelectorError(format!(
                    "invalid field selector: unescaped character in value: {}",
                    ch as u32
                )));
            }
            ch => text.push(ch),
        }
    }
    Ok(text)
}

fn escape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for ch in value.chars() {
        if matches!(ch, '\\' | ',' | '=') {
            text.push('\\');
        }
        text.push(ch);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn selects(selector: &str) -> bool {
        let value_of = |path: &str| match path {
            "metadata.name" => "a",
            "type" => "x,y=z\\",
            _ => "",
        };
        FieldSelector::parse(selector).unwrap().terms().iter().all(|term| term.holds(value_of(&term.path)))
    }

    #[test]
    fn selects_by_equality() {
        let cases = [
            ("", true),
            ("metadata.name=a", true),
            ("metadata.name==a", true),
            ("metadata.name!=a", false),
            ("metadata.name=b", false),
            ("metadata.name=a,metadata.name=b", false),
            (r"type=x\,y\=z\\,metadata.name=a,", true),
            (r"type==x\,y\=z\\", true),
            ("none=", true),
            ("none!=", false),
        ];
        for (text, expected) in cases {
            assert_eq!(selects(text), expected, "{text}");
        }
    }

    #[test]
    fn errors_have_the_words_of_the_reference() {
        let cases = [
            ("metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
            ("metadata.name in (a,b)", "invalid selector: 'metadata.name in (a,b)'; can't understand 'b)'"),
            (r"a=\x", r"invalid field selector: invalid escape sequence: \x"),
            (r"a=b\", r"invalid field selector: invalid escape sequence: \"),
            ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ];
        for (text, expected) in cases {
            assert_eq!(FieldSelector::parse(text).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn unknown_fields_are_refused_in_the_words_of_the_kind() {
        let parse = |text| FieldSelector::parse(text).unwrap();
        assert_eq!(parse("metadata.name=a,metadata.namespace=b").check(&[], true), Ok(()));
        assert_eq!(parse("metadata.name=a,metadata.namespace=b").check(&[], false), Ok(()));
        assert_eq!(parse("metadata.namespace=b,type=c").check(&["type"], true), Ok(()));
        assert_eq!(parse("status.phase=x").check(&["status.phase"], false), Ok(()));
        assert_eq!(
            parse("metadata.namespace=b").check(&["status.phase"], false).unwrap_err().to_string(),
            "field label not supported: metadata.namespace"
        );
        assert_eq!(
            parse("data.k=a").check(&[], true).unwrap_err().to_string(),
            "\"data.k\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        );
        assert_eq!(
            parse("metadata.labels=a").check(&["type"], true).unwrap_err().to_string(),
            "field label not supported: metadata.labels"
        );
    }

    #[test]
    fn equality_requires_a_value_exactly() {
        let parse = |text| FieldSelector::parse(text).unwrap();
        assert_eq!(parse("type=t,metadata.name=a").requires_exact("metadata.name"), Some("a"));
        assert_eq!(parse("metadata.name!=a").requires_exact("metadata.name"), None);
        assert_eq!(parse("type=t").requires_exact("metadata.name"), None);
    }

    proptest! {
        #[test]
        fn the_canonical_text_reads_as_the_same_selector(text in r"[ab.!=,\\]{0,16}") {
            if let Ok(selector) = FieldSelector::parse(&text) {
                let again = FieldSelector::parse(&selector.to_string()).unwrap();
                prop_assert_eq!(again, selector);
            }
        }

        #[test]
        fn every_value_can_be_written(value in "\\PC{0,12}") {
            let selector = FieldSelector {
                terms: vec![Term { path: "a".to_owned(), negated: false, value }],
            };
            prop_assert_eq!(FieldSelector::parse(&selector.to_string()).unwrap(), selector);
        }
    }
}
