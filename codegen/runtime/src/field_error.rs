//! What is wrong with one field, in the words of the Kubernetes API (`k8s.io/apimachinery`,
//! `util/validation/field`).
//!
//! Each constructor of [`FieldError`] renders one of the standard bodies (`Required value`,
//! `Invalid value: "x": <detail>` ...). All errors of one object are collected in a [`Validation`] and are
//! reported together.

mod order;
mod shown;

pub use self::{
    order::Order,
    shown::{Rendered, Shown, is_printable, json},
};

use std::fmt;

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

#[cfg(test)]
mod tests {
    use super::*;

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
