//! Texts: fixed sets, formats and patterns.

use regex::Regex;

use crate::{
    constraint::Constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

/// One of a fixed set, which is shown in the order given.
pub fn one_of(value: &str, allowed: &[&str], path: &Path<'_>, cx: &mut Validation<'_>) {
    if !allowed.contains(&value) {
        cx.push(FieldError::not_supported(path, value, allowed));
    }
}

/// Correct by a [`Constraint`]; each of its messages becomes an error.
pub fn format(value: &str, constraint: Constraint, path: &Path<'_>, cx: &mut Validation<'_>) {
    cx.invalid_all(path, value, &constraint(value));
}

/// Matched, somewhere in the text, by `pattern`.
pub fn pattern(value: &str, pattern: &Pattern, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !pattern.regex.is_match(value) {
        cx.push(FieldError::invalid(path, value, &format!("must match the pattern '{}'", pattern.text)));
    }
}

/// A compiled `pattern` of a schema; matching takes time linear in the text.
#[derive(Debug)]
pub struct Pattern {
    text: &'static str,
    regex: Regex,
}

impl Pattern {
    /// Compiles the schema's text. `\d`, `\s`, `\w` and `\b` are about ASCII, as in the languages from which
    /// schemas come.
    ///
    /// # Panics
    /// If the text is no regular expression; the generator lets none through.
    pub fn new(text: &'static str) -> Self {
        let regex = Regex::new(&with_ascii_classes(text)).expect("the generator has checked the pattern");
        Pattern { text, regex }
    }
}

/// Writes out the classes whose meaning depends on the engine. All other escapes stay as they are.
fn with_ascii_classes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(ch) = chars.next() {
        if ch != '\\' {
            out.push(ch);
            continue;
        }
        // A bracketed class is legal inside of another one, so no state is needed.
        match chars.next() {
            Some('d') => out.push_str("[0-9]"),
            Some('D') => out.push_str("[^0-9]"),
            Some('s') => out.push_str(r"[\t\n\x0B\f\r ]"),
            Some('S') => out.push_str(r"[^\t\n\x0B\f\r ]"),
            Some('w') => out.push_str("[0-9A-Za-z_]"),
            Some('W') => out.push_str("[^0-9A-Za-z_]"),
            Some(boundary @ ('b' | 'B')) => {
                out.push_str(r"(?-u:\");
                out.push(boundary);
                out.push(')');
            }
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}
