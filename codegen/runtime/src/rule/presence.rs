//! Values that must be given.

use crate::{
    field_error::{FieldError, Validation},
    path::Path,
};

/// A text that must be given; an empty one counts as absent.
pub fn required_string(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.is_empty() {
        cx.push(FieldError::required(path, ""));
    }
}

/// A value that must be given.
pub fn required<T>(value: &Option<T>, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.is_none() {
        cx.push(FieldError::required(path, ""));
    }
}
