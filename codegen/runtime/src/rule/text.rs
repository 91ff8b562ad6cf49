//! Texts: fixed sets, formats and patterns.

use std::borrow::Cow;

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
    if !pattern.is_match(value) {
        cx.push(FieldError::invalid(path, value, &format!("must match the pattern '{}'", pattern.text)));
    }
}

/// A compiled `pattern` of a schema; matching takes time linear in the text.
///
/// `\d`, `\s`, `\w` and `\b` are about ASCII, as in the languages from which schemas come.
#[derive(Debug)]
pub struct Pattern {
    text: Cow<'static, str>,
    regex: Regex,
    /// What every text that matches begins and ends with.
    ends: (&'static str, &'static str),
}

impl Pattern {
    /// Compiles a pattern that the generator has compiled before.
    ///
    /// # Panics
    /// If the text is no regular expression.
    pub fn new(text: &'static str) -> Self {
        Self::compile(text).expect("the generator has compiled the pattern")
    }

    /// Compiles any text.
    pub fn compile(text: impl Into<Cow<'static, str>>) -> Result<Self, regex::Error> {
        let text = text.into();
        let regex = Regex::new(&with_ascii_classes(&text))?;
        Ok(Pattern { text, regex, ends: ("", "") })
    }

    /// The same pattern, of which is known what every text that matches begins and ends with.
    pub fn with_ends(self, start: &'static str, end: &'static str) -> Self {
        Pattern { ends: (start, end), ..self }
    }

    /// The compiled pattern, to find where it matches.
    pub fn regex(&self) -> &Regex {
        &self.regex
    }

    /// Whether the pattern matches somewhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        let (start, end) = self.ends;
        text.starts_with(start) && text.ends_with(end) && self.regex.is_match(text)
    }
}

/// Writes out the classes whose meaning depends on the engine. All other escapes stay as they are.
fn with_ascii_classes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
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
            // `\b{start}` and the like are boundaries of another kind.
            Some(boundary @ ('b' | 'B')) if chars.peek() != Some(&'{') => {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        constraint,
        field_error::Reason,
        rule::tests::{errors, reported},
    };

    #[test]
    fn fixed_sets() {
        assert_eq!(reported(|path, cx| one_of("b", &["a", "b"], path, cx)), []);
        assert_eq!(
            reported(|path, cx| one_of("c", &["b", "a"], path, cx)),
            [(
                Reason::NotSupported,
                "spec: Unsupported value: \"c\": supported values: \"b\", \"a\"".to_owned()
            )]
        );
    }

    #[test]
    fn formats() {
        assert_eq!(errors(|path, cx| format("a.b", constraint::path_segment, path, cx)), [""; 0]);
        assert_eq!(
            reported(|path, cx| format("a/%", constraint::path_segment, path, cx)),
            [
                (Reason::Invalid, "spec: Invalid value: \"a/%\": may not contain '/'".to_owned()),
                (Reason::Invalid, "spec: Invalid value: \"a/%\": may not contain '%'".to_owned()),
            ]
        );
    }

    #[test]
    fn patterns_match_somewhere_and_speak_ascii() {
        let table: &[(&str, &str, bool)] = &[
            ("b", "abc", true),
            ("^b", "abc", false),
            ("^.$", "é", true),
            ("^[^a]$", "é", true),
            (r"^\d+$", "042", true),
            (r"^\d+$", "٣", false),
            (r"^\D$", "٣", true),
            (r"^\w+$", "a_1", true),
            (r"^\w$", "é", false),
            (r"^\W$", "é", true),
            (r"^[\w.-]+$", "a.b-c", true),
            (r"^[\w.-]+$", "é", false),
            (r"^[^\d]$", "٣", true),
            (r"^[\D5]$", "5", true),
            (r"^\s$", "\t", true),
            (r"^\s$", "\u{a0}", false),
            (r"^\S$", "\u{a0}", true),
            (r"a\b", "aé", true),
            (r"a\B", "ab", true),
            (r"^\\d$", r"\d", true),
            (r"^\\d$", "1", false),
            (r"^\.\pL$", ".é", true),
            (r"\b{start}b", "a b", true),
        ];
        for (text, value, matches) in table {
            let compiled = Pattern::new(text);
            assert_eq!(
                errors(|path, cx| pattern(value, &compiled, path, cx)).is_empty(),
                *matches,
                "{text} on {value}"
            );
        }
        assert!(Pattern::compile("(".to_owned()).is_err());
        assert!(Pattern::compile("a(?=b)").is_err());
        let compiled = Pattern::new("^a'$");
        assert_eq!(
            reported(|path, cx| pattern("b", &compiled, path, cx)),
            [(Reason::Invalid, "spec: Invalid value: \"b\": must match the pattern '^a'$'".to_owned())]
        );
    }
}
