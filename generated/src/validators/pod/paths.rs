//! Paths and permission bits of files in volumes.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::validators::volume_source::path_without_backsteps;

/// All permission bits that a file can have: 0777 in octal notation.
const MODE_MAX: i32 = 0o777;

/// A relative path without `..`.
pub fn path_below(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.starts_with('/') {
        cx.push(FieldError::invalid(path, value, "must be a relative path"));
    }
    path_without_backsteps(value, path, cx);
}

/// A relative path without `..`, whose first name does not begin with two dots: volumes use such names.
pub fn file_path(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    path_below(value, path, cx);
    let has_steps_up = value.split('/').any(|step| step == "..");
    if value.starts_with("..") && !has_steps_up {
        cx.push(FieldError::invalid(path, value, "must not start with '..'"));
    }
}

/// Permission bits of a file: from 0 to 0777.
pub fn file_mode(value: &i32, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !(0..=MODE_MAX).contains(value) {
        let detail = "must be a number between 0 and 0777 (octal), both inclusive";
        cx.push(FieldError::invalid(path, value, detail));
    }
}
