//! Paths of files and keys of data, as volumes and variables name them.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::validators::path_without_backsteps;

/// The permission bits that a file may have: 0777 in octal notation.
const MODE_MAX: i32 = 0o777;

/// A relative path that leads nowhere up.
pub fn path_below(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.starts_with('/') {
        cx.push(FieldError::invalid(path, value, "must be a relative path"));
    }
    path_without_backsteps(value, path, cx);
}

/// A relative path that leads nowhere up, and whose name is not reserved for the volume's own use.
pub fn file_path(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    path_below(value, path, cx);
    let has_steps_up = value.split('/').any(|step| step == "..");
    if value.starts_with("..") && !has_steps_up {
        cx.push(FieldError::invalid(path, value, "must not start with '..'"));
    }
}

/// Permission bits of a file.
pub fn file_mode(value: &i32, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !(0..=MODE_MAX).contains(value) {
        let detail = "must be a number between 0 and 0777 (octal), both inclusive";
        cx.push(FieldError::invalid(path, value, detail));
    }
}
