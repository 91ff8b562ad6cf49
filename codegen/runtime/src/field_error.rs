//! What is wrong with one field, in the words of the Kubernetes API (`k8s.io/apimachinery`,
//! `util/validation/field`).
//!
//! Each constructor of [`FieldError`] renders one of the standard bodies (`Required value`,
//! `Invalid value: "x": <detail>` ...). All errors of one object are collected in a [`Validation`] and are
//! reported together.

mod order;

pub use self::order::Order;

use std::{borrow::Cow, collections::BTreeMap, fmt, sync::LazyLock};

use regex::Regex;
use serde::Serialize;

use crate::{path::Path, vocabulary::Vocabulary};

/// Why a field was refused; becomes the `reason` of a cause in a `Status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A value that must be given is not.
    Required,
    /// The value is malformed or out of range.
    Invalid,
    /// The value is none of a fixed set.
    NotSupported,
    /// The field must not be set here.
    Forbidden,
    /// The value must be unique and is not.
    Duplicate,
    /// What the value refers to does not exist.
    NotFound,
    /// The value is longer than allowed.
    TooLong,
    /// There are more items than allowed.
    TooMany,
    /// The value is of a wrong type.
    TypeInvalid,
    /// The check itself failed.
    Internal,
}

impl Reason {
    /// The word that clients see in `details.causes[].reason`.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Required => "FieldValueRequired",
            Reason::Invalid => "FieldValueInvalid",
            Reason::NotSupported => "FieldValueNotSupported",
            Reason::Forbidden => "FieldValueForbidden",
            Reason::Duplicate => "FieldValueDuplicate",
            Reason::NotFound => "FieldValueNotFound",
            Reason::TooLong => "FieldValueTooLong",
            Reason::TooMany => "FieldValueTooMany",
            Reason::TypeInvalid => "FieldValueTypeInvalid",
            Reason::Internal => "InternalError",
        }
    }
}

/// One refused field: where, why, and the body of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field's path as text: `spec.ports[0].name`.
    pub field: String,
    /// The class of the error.
    pub reason: Reason,
    /// The message without the path: `Invalid value: "x": must be positive`.
    pub body: String,
}

impl FieldError {
    /// `Required value` or `Required value: <detail>`.
    pub fn required(path: &Path<'_>, detail: &str) -> Self {
        let body =
            if detail.is_empty() { "Required value".to_owned() } else { format!("Required value: {detail}") };
        Self::new(path, Reason::Required, body)
    }

    /// `Invalid value: <value>: <detail>`.
    pub fn invalid<V: Shown + ?Sized>(path: &Path<'_>, value: &V, detail: &str) -> Self {
        Self::new(path, Reason::Invalid, format!("Invalid value: {}: {detail}", value.shown()))
    }

    /// `Unsupported value: <value>: supported values: "a", "b"`. `supported` is printed in the order given.
    pub fn not_supported<V: Shown + ?Sized>(path: &Path<'_>, value: &V, supported: &[&str]) -> Self {
        let mut body = format!("Unsupported value: {}", value.shown());
        for (index, item) in supported.iter().enumerate() {
            body.push_str(if index == 0 { ": supported values: " } else { ", " });
            body.push_str(&item.shown());
        }
        Self::new(path, Reason::NotSupported, body)
    }

    /// `Forbidden: <detail>`.
    pub fn forbidden(path: &Path<'_>, detail: &str) -> Self {
        Self::new(path, Reason::Forbidden, format!("Forbidden: {detail}"))
    }

    /// `Duplicate value: <value>`.
    pub fn duplicate<V: Shown + ?Sized>(path: &Path<'_>, value: &V) -> Self {
        Self::new(path, Reason::Duplicate, format!("Duplicate value: {}", value.shown()))
    }

    /// An error in the words of a schema: the class, the value as it is shown where the class shows one, and
    /// a detail that may be empty.
    pub fn in_words(path: &Path<'_>, reason: Reason, shown: &str, detail: &str) -> Self {
        let (head, shows_value) = match reason {
            Reason::Required => ("Required value", false),
            Reason::Invalid => ("Invalid value", true),
            Reason::NotSupported => ("Unsupported value", true),
            Reason::Forbidden => ("Forbidden", false),
            Reason::Duplicate => ("Duplicate value", true),
            Reason::NotFound => ("Not found", true),
            Reason::TooLong => ("Too long", false),
            Reason::TooMany => ("Too many", true),
            Reason::TypeInvalid => ("Type invalid", true),
            Reason::Internal => ("Internal error", false),
        };
        let mut body = head.to_owned();
        for part in [if shows_value { shown } else { "" }, detail] {
            if !part.is_empty() {
                body.push_str(": ");
                body.push_str(part);
            }
        }
        Self::new(path, reason, body)
    }

    /// `Not found: <value>`.
    pub fn not_found<V: Shown + ?Sized>(path: &Path<'_>, value: &V) -> Self {
        Self::new(path, Reason::NotFound, format!("Not found: {}", value.shown()))
    }

    /// `Too long: may not be more than <max> bytes`; the value itself is never shown.
    pub fn too_long(path: &Path<'_>, max: usize) -> Self {
        let unit = if max == 1 { "byte" } else { "bytes" };
        Self::new(path, Reason::TooLong, format!("Too long: may not be more than {max} {unit}"))
    }

    /// `Too many: <actual>: must have at most <max> items`.
    pub fn too_many(path: &Path<'_>, actual: usize, max: usize) -> Self {
        let unit = if max == 1 { "item" } else { "items" };
        Self::new(path, Reason::TooMany, format!("Too many: {actual}: must have at most {max} {unit}"))
    }

    fn new(path: &Path<'_>, reason: Reason, body: String) -> Self {
        FieldError { field: path.to_string(), reason, body }
    }
}

impl FieldError {
    /// The bytes of its text.
    fn size(&self) -> usize {
        self.field.len() + self.body.len()
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            out.write_str(&self.body)
        } else {
            write!(out, "{}: {}", self.field, self.body)
        }
    }
}

/// The errors and warnings found in one object so far, and what its validators may look at besides the
/// object.
#[derive(Debug)]
pub struct Validation<'v> {
    /// The product words in force; some rules compare values with them.
    pub vocabulary: &'v Vocabulary,
    errors: Vec<FieldError>,
    warnings: Vec<String>,
    /// The bytes of these errors and warnings.
    error_bytes: usize,
    warning_bytes: usize,
    /// Whether errors may have been dropped, so that the object is refused whatever is left of the others.
    overflowed: bool,
}

/// How many errors, and how many warnings, are kept: the answer to a small request must not become large.
const MAX_ERRORS: usize = 1000;

/// How many bytes all errors, and all warnings, may have before no more are kept. One error may be larger: it
/// shows the refused text.
const MAX_BYTES: usize = 256 * 1024;

impl<'v> Validation<'v> {
    /// An empty collection for one object.
    pub fn new(vocabulary: &'v Vocabulary) -> Self {
        Validation {
            vocabulary,
            errors: Vec::new(),
            warnings: Vec::new(),
            error_bytes: 0,
            warning_bytes: 0,
            overflowed: false,
        }
    }

    /// Adds one error. Those after the thousandth are dropped, and those after many bytes: the object is
    /// refused all the same.
    pub fn push(&mut self, error: FieldError) {
        if !self.is_full() {
            self.error_bytes += error.size();
            self.errors.push(error);
            self.overflowed |= self.is_full();
        }
    }

    /// Whether further errors are dropped. Rules that show a whole list for each of its items ask first.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS || self.error_bytes >= MAX_BYTES
    }

    /// Whether an error says that a value is larger than its schema allows, or may do so because it was
    /// dropped. Rules that rely on such bounds are not run then.
    pub fn breaks_bounds(&self) -> bool {
        let breaks = |error: &FieldError| {
            let all = [
                Reason::Required,
                Reason::NotSupported,
                Reason::TooLong,
                Reason::TooMany,
                Reason::TypeInvalid,
            ];
            all.contains(&error.reason)
        };
        self.overflowed || self.errors.iter().any(breaks)
    }

    /// Whether further warnings are dropped.
    pub fn is_full_of_warnings(&self) -> bool {
        self.warnings.len() >= MAX_ERRORS || self.warning_bytes >= MAX_BYTES
    }

    /// Adds `Invalid value` once for each message that a constraint returned for `value`.
    pub fn invalid_all<V: Shown + ?Sized>(&mut self, path: &Path<'_>, value: &V, messages: &[String]) {
        for message in messages {
            self.push(FieldError::invalid(path, value, message));
        }
    }

    /// Adds a warning about something that is accepted and probably not what was meant: `<path>: <text>`. It
    /// is sent in a `Warning` header.
    pub fn warn(&mut self, path: &Path<'_>, text: impl fmt::Display) {
        if !self.is_full_of_warnings() {
            let at = path.to_string();
            let warning = if at.is_empty() { text.to_string() } else { format!("{at}: {text}") };
            self.warning_bytes += warning.len();
            self.warnings.push(warning);
        }
    }

    /// The warnings, in the order in which they were found.
    pub fn take_warnings(&mut self) -> Vec<String> {
        self.warning_bytes = 0;
        std::mem::take(&mut self.warnings)
    }

    /// How many errors and warnings were found so far.
    pub fn found(&self) -> usize {
        self.errors.len() + self.warnings.len()
    }

    /// Whether no error was found, and so none was dropped.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty() && !self.overflowed
    }

    /// Takes the errors found so far out. There is room for others then.
    pub fn take_errors(&mut self) -> Vec<FieldError> {
        self.error_bytes = 0;
        std::mem::take(&mut self.errors)
    }

    /// Puts errors before those found so far.
    pub fn prepend(&mut self, mut errors: Vec<FieldError>) {
        errors.append(&mut self.errors);
        self.errors = errors;
        self.count_bytes();
    }

    fn count_bytes(&mut self) {
        self.error_bytes = self.errors.iter().map(FieldError::size).sum();
    }

    /// Every error found, in the order in which it was found.
    pub fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }
}

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
    fn bodies_are_the_standard_ones() {
        let path = Path::ROOT.field("spec");
        let table = [
            (FieldError::required(&path, ""), "spec: Required value"),
            (FieldError::required(&path, "why"), "spec: Required value: why"),
            (FieldError::invalid(&path, "a\"b", "no"), r#"spec: Invalid value: "a\"b": no"#),
            (
                FieldError::not_supported(&path, "x", &["a", "b"]),
                r#"spec: Unsupported value: "x": supported values: "a", "b""#,
            ),
            (FieldError::not_supported(&path, "x", &[]), r#"spec: Unsupported value: "x""#),
            (FieldError::forbidden(&path, "no"), "spec: Forbidden: no"),
            (FieldError::duplicate(&path, &3_i32), "spec: Duplicate value: 3"),
            (FieldError::not_found(&path, "x"), r#"spec: Not found: "x""#),
            (FieldError::too_long(&path, 5), "spec: Too long: may not be more than 5 bytes"),
            (FieldError::too_long(&path, 1), "spec: Too long: may not be more than 1 byte"),
            (FieldError::too_many(&path, 9, 8), "spec: Too many: 9: must have at most 8 items"),
            (FieldError::too_many(&path, 2, 1), "spec: Too many: 2: must have at most 1 item"),
            (FieldError::forbidden(&Path::ROOT, "no"), "Forbidden: no"),
            (FieldError::in_words(&path, Reason::Required, "1", ""), "spec: Required value"),
            (FieldError::in_words(&path, Reason::Invalid, "1", "no"), "spec: Invalid value: 1: no"),
            (FieldError::in_words(&path, Reason::Duplicate, "1", ""), "spec: Duplicate value: 1"),
            (FieldError::in_words(&path, Reason::Forbidden, "1", "no"), "spec: Forbidden: no"),
        ];
        for (error, text) in table {
            assert_eq!(error.to_string(), text);
        }
    }

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

    #[test]
    fn warnings_name_the_place_and_are_no_errors() {
        let mut cx = Validation::new(&crate::vocabulary::EXAMPLE);
        cx.warn(&Path::ROOT.field("spec").field("colour"), "deprecated");
        cx.warn(&Path::ROOT, "odd");
        assert!(cx.is_empty());
        assert_eq!(cx.take_warnings(), ["spec.colour: deprecated", "odd"]);
        assert_eq!(cx.take_warnings(), [""; 0]);
        for _ in 0..MAX_ERRORS + 5 {
            cx.warn(&Path::ROOT, "more");
        }
        assert_eq!(cx.take_warnings().len(), MAX_ERRORS);
    }

    #[test]
    fn the_number_of_errors_is_bounded() {
        let mut cx = Validation::new(&crate::vocabulary::EXAMPLE);
        assert!(cx.is_empty());
        for _ in 0..MAX_ERRORS + 5 {
            cx.push(FieldError::required(&Path::ROOT, ""));
        }
        cx.invalid_all(&Path::ROOT, "x", &["more".to_owned()]);
        assert!(cx.is_full());
        assert_eq!(cx.into_errors().len(), MAX_ERRORS);
    }

    #[test]
    fn the_bytes_of_errors_are_bounded() {
        let mut cx = Validation::new(&crate::vocabulary::EXAMPLE);
        let large = "x".repeat(MAX_BYTES);
        for _ in 0..3 {
            cx.push(FieldError::invalid(&Path::ROOT, &large, ""));
            cx.warn(&Path::ROOT, &large);
        }
        assert!(cx.is_full() && cx.is_full_of_warnings());
        assert_eq!((cx.take_warnings().len(), cx.into_errors().len()), (1, 1));
    }

    /// Whatever takes errors out of a full collection leaves room for others, and refuses the object.
    #[test]
    fn an_object_with_dropped_errors_is_refused() {
        let at = Path::ROOT.field("a");
        let full = || {
            let mut cx = Validation::new(&crate::vocabulary::EXAMPLE);
            cx.push(FieldError::invalid(&at, &"x".repeat(MAX_BYTES), ""));
            cx
        };
        let take = |cx: &mut Validation<'_>| drop(cx.take_errors());
        let retract = |cx: &mut Validation<'_>| cx.retract(&Path::ROOT.field("a"));
        for empty in [take as fn(&mut Validation<'_>), retract] {
            let mut cx = full();
            empty(&mut cx);
            assert!(!cx.is_empty() && !cx.is_full() && cx.breaks_bounds());
            cx.push(FieldError::required(&at, ""));
            assert_eq!(cx.into_errors().len(), 1);
        }
        let mut cx = full();
        let errors = cx.take_errors();
        cx.push(FieldError::required(&at, ""));
        cx.prepend(errors);
        assert!(cx.is_full());
        assert_eq!(cx.into_errors().len(), 2);
    }
}
