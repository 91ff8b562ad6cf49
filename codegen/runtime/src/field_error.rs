//! What is wrong with one field, in the standard words that clients match on.
//!
//! Each constructor of [`FieldError`] renders one of the standard bodies (`Required value`,
//! `Invalid value: "x": <detail>` ...). All errors of one object are collected in a [`Validation`] and are
//! reported together.

use std::fmt::{self, Write as _};

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

impl fmt::Display for FieldError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            out.write_str(&self.body)
        } else {
            write!(out, "{}: {}", self.field, self.body)
        }
    }
}

/// The errors found in one object so far, and what its validators may look at besides the object.
#[derive(Debug)]
pub struct Validation<'v> {
    /// The product words in force; some rules compare values with them.
    pub vocabulary: &'v Vocabulary,
    errors: Vec<FieldError>,
}

impl<'v> Validation<'v> {
    /// An empty collection for one object.
    pub fn new(vocabulary: &'v Vocabulary) -> Self {
        Validation { vocabulary, errors: Vec::new() }
    }

    /// Adds one error.
    pub fn push(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    /// Adds `Invalid value` once for each message that a constraint returned for `value`.
    pub fn invalid_all<V: Shown + ?Sized>(&mut self, path: &Path<'_>, value: &V, messages: &[String]) {
        for message in messages {
            self.push(FieldError::invalid(path, value, message));
        }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Everything found, in the order in which it was found.
    pub fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }
}

/// Renders a refused value as clients expect it: strings quoted, numbers and booleans bare.
pub trait Shown {
    /// The text of the value inside a message.
    fn shown(&self) -> String;
}

impl Shown for str {
    fn shown(&self) -> String {
        let mut text = String::with_capacity(self.len() + 2);
        text.push('"');
        for ch in self.chars() {
            match ch {
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                ch if (ch as u32) < 0x20 || ch as u32 == 0x7f => {
                    let _ = write!(text, "\\x{:02x}", ch as u32);
                }
                ch => text.push(ch),
            }
        }
        text.push('"');
        text
    }
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

impl<T: Shown> Shown for Option<T> {
    fn shown(&self) -> String {
        self.as_ref().map_or_else(|| "null".to_owned(), Shown::shown)
    }
}

/// Objects and lists are shown as JSON.
impl Shown for serde_json::Value {
    fn shown(&self) -> String {
        match self {
            serde_json::Value::String(text) => text.shown(),
            other => other.to_string(),
        }
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

/// Renders a value without a text form of its own: objects, lists and maps, as JSON.
pub fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value).map_or_else(|error| format!("<{error}>"), |tree| tree.shown())
}

macro_rules! shown_by_display {
    ($($number:ty),*) => {$(
        impl Shown for $number {
            fn shown(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
shown_by_display!(bool, i32, i64, u32, u64, usize, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_the_standard_ones() {
        let path = Path::ROOT.field("spec");
        assert_eq!(FieldError::required(&path, "").to_string(), "spec: Required value");
        assert_eq!(
            FieldError::invalid(&path, "a\"b", "no").to_string(),
            r#"spec: Invalid value: "a\"b": no"#
        );
        assert_eq!(
            FieldError::not_supported(&path, "x", &["a", "b"]).to_string(),
            r#"spec: Unsupported value: "x": supported values: "a", "b""#
        );
        assert_eq!(FieldError::too_long(&path, 5).body, "Too long: may not be more than 5 bytes");
        assert_eq!(FieldError::duplicate(&path, &3_i32).body, "Duplicate value: 3");
    }
}
