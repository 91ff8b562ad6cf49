//! How errors show the values that were refused.

use std::{borrow::Cow, collections::BTreeMap, sync::LazyLock};

use regex::Regex;
use serde::Serialize;

/// Renders a refused value for a message: strings quoted, numbers and booleans bare.
pub trait Shown {
    /// The text of the value inside a message.
    fn shown(&self) -> String;
}

/// Letters, marks, numbers, punctuation, symbols and the plain blank; all else is escaped.
static PRINTABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\A[\pL\pM\pN\pP\pS ]\z").expect("a fixed pattern"));

/// Whether a character is a letter, mark, number, punctuation, symbol or the plain blank: nothing invisible.
pub fn is_printable(ch: char) -> bool {
    matches!(ch, ' '..='~') || (!ch.is_ascii() && PRINTABLE.is_match(ch.encode_utf8(&mut [0; 4])))
}

impl Shown for str {
    fn shown(&self) -> String {
        let mut text = String::with_capacity(self.len() + 2);
        text.push('"');
        for ch in self.chars() {
            push_shown(&mut text, ch);
        }
        text.push('"');
        text
    }
}

fn push_shown(text: &mut String, ch: char) {
    let code = u32::from(ch);
    let escape = match ch {
        '"' | '\\' => Cow::Owned(format!("\\{ch}")),
        ' '..='~' => return text.push(ch),
        '\x07' => "\\a".into(),
        '\x08' => "\\b".into(),
        '\t' => "\\t".into(),
        '\n' => "\\n".into(),
        '\x0b' => "\\v".into(),
        '\x0c' => "\\f".into(),
        '\r' => "\\r".into(),
        ..'\u{80}' => format!("\\x{code:02x}").into(),
        _ if PRINTABLE.is_match(ch.encode_utf8(&mut [0; 4])) => return text.push(ch),
        ..'\u{10000}' => format!("\\u{code:04x}").into(),
        _ => format!("\\U{code:08x}").into(),
    };
    text.push_str(&escape);
}

impl Shown for String {
    fn shown(&self) -> String {
        self.as_str().shown()
    }
}

impl<T: Shown + ?Sized> Shown for &T {
    fn shown(&self) -> String {
        (**self).shown()
    }
}

/// How a value is shown that is not given: as a text, whatever its type.
const NULL: &str = "\"null\"";

impl<T: Shown> Shown for Option<T> {
    fn shown(&self) -> String {
        self.as_ref().map_or_else(|| NULL.to_owned(), Shown::shown)
    }
}

/// Lists of texts are shown as the reference shows them, other lists and objects as JSON.
impl Shown for serde_json::Value {
    fn shown(&self) -> String {
        match self {
            serde_json::Value::String(text) => text.shown(),
            serde_json::Value::Null => NULL.to_owned(),
            serde_json::Value::Array(items) if !items.is_empty() && items.iter().all(Self::is_string) => {
                let texts: Vec<String> = items.iter().map(Shown::shown).collect();
                format!("[]string{{{}}}", texts.join(", "))
            }
            other => other.to_string(),
        }
    }
}

/// Maps of texts are shown as the reference shows them.
impl Shown for BTreeMap<String, String> {
    fn shown(&self) -> String {
        if self.is_empty() {
            return "map[string]string(nil)".to_owned();
        }
        let entries: Vec<_> =
            self.iter().map(|(key, value)| format!("{}:{}", key.shown(), value.shown())).collect();
        format!("map[string]string{{{}}}", entries.join(", "))
    }
}

/// A value whose text was made elsewhere, and is shown as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered(pub String);

impl Shown for Rendered {
    fn shown(&self) -> String {
        self.0.clone()
    }
}

/// Renders a value without a text form of its own: objects, lists and maps, as JSON, but for lists of texts,
/// which are shown as the reference shows them. A long one is cut.
pub fn json<T: Serialize>(value: &T) -> String {
    let mut text = serde_json::to_value(value).map_or_else(|error| format!("<{error}>"), |tree| tree.shown());
    if text.len() > MAX_SHOWN {
        let end = (0..=MAX_SHOWN).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// How many bytes of an object, a list or a map an error shows.
const MAX_SHOWN: usize = 16 * 1024;

macro_rules! shown_by_display {
    ($($number:ty),*) => {$(
        impl Shown for $number {
            fn shown(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
shown_by_display!(bool, i32, i64, u32, u64, usize);

/// The shortest digits that give the number back, with an exponent from a million on and below 0.0001.
impl Shown for f64 {
    fn shown(&self) -> String {
        let scientific = format!("{self:e}");
        let Some((digits, exponent)) = scientific.split_once('e') else {
            return scientific;
        };
        match exponent.parse::<i32>() {
            Ok(exponent) if !(-4..6).contains(&exponent) => {
                let sign = if exponent < 0 { '-' } else { '+' };
                format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
            }
            _ => self.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_quoted_with_the_escapes_that_clients_know() {
        let table = [
            ("", r#""""#),
            ("it's", r#""it's""#),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("\0\x07\x08\t\n\x0b\x0c\r\x1b\x7f", r#""\x00\a\b\t\n\v\f\r\x1b\x7f""#),
            ("é漢\u{301}😀\u{fffd}", "\"é漢\u{301}😀\u{fffd}\""),
            (
                "\u{80}\u{a0}\u{ad}\u{200b}\u{2028}\u{feff}\u{e000}",
                r#""\u0080\u00a0\u00ad\u200b\u2028\ufeff\ue000""#,
            ),
            ("\u{e0001}", r#""\U000e0001""#),
        ];
        for (text, shown) in table {
            assert_eq!(text.shown(), shown, "{text:?}");
        }
    }

    #[test]
    fn other_values_are_shown_bare_or_as_json() {
        assert_eq!(
            (true.shown(), (-3_i64).shown(), None::<String>.shown()),
            ("true".into(), "-3".into(), NULL.into())
        );
        assert_eq!(Some("a".to_owned()).shown(), r#""a""#);
        assert_eq!(json!({"b": [1, "x"], "a": null}).shown(), r#"{"a":null,"b":[1,"x"]}"#);
        let labels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        assert_eq!(labels(&[]).shown(), "map[string]string(nil)");
        assert_eq!(labels(&[("a", "1"), ("b", "")]).shown(), r#"map[string]string{"a":"1", "b":""}"#);
        assert_eq!(json(&vec!["x", "y"]), r#"[]string{"x", "y"}"#);
        assert_eq!(json(&"x"), r#""x""#);
        let many = json(&vec!["é"; MAX_SHOWN]);
        assert!(many.starts_with(r#"[]string{"é", "é""#) && many.ends_with("..."), "it is cut");
        assert!(many.len() <= MAX_SHOWN + 3, "{}", many.len());
        let floats = [
            (0.0, "0"),
            (1.5, "1.5"),
            (-100_000.0, "-100000"),
            (1e6, "1e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (-9.5e300, "-9.5e+300"),
            (f64::INFINITY, "inf"),
        ];
        for (number, shown) in floats {
            assert_eq!(number.shown(), shown);
        }
    }
}
