//! What the golden schemas call by name.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::{
    checks::v1::{Child, Kept},
    rules::v1::Rules,
    updates::v1::Updates,
};

/// Refuses one particular name.
pub fn first_rules(value: &Rules, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.name == "firstly" {
        cx.push(FieldError::forbidden(path, "first_rules was called"));
    }
}

/// Called by name.
pub fn whole_rules(value: &Rules, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.name == "whole" {
        cx.push(FieldError::forbidden(path, "whole_rules was called"));
    }
}

/// Refuses one particular text.
pub fn checked_text(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value == "bad" {
        cx.push(FieldError::forbidden(path, "checked_text was called"));
    }
}

/// Refuses odd numbers.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "all of these functions take references")]
pub fn even_percent(value: &i32, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value % 2 != 0 {
        cx.push(FieldError::forbidden(path, "even_percent was called"));
    }
}

/// Refuses one particular change.
pub fn whole_update(new: &Updates, old: &Updates, path: &Path<'_>, cx: &mut Validation<'_>) {
    if (old.free.as_str(), new.free.as_str()) == ("old", "bad") {
        cx.push(FieldError::forbidden(path, "whole_update was called"));
    }
}

/// Refuses one particular text.
pub fn child(value: &Child, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.text == "child" {
        cx.push(FieldError::invalid(path, &value.text, "is the type"));
    }
}

/// Refuses one particular change.
pub fn kept_change(new: &Kept, old: &Kept, path: &Path<'_>, cx: &mut Validation<'_>) {
    if old.spec.count == Some(7) && new.spec.count != old.spec.count {
        let spec = path.field("spec");
        cx.push(FieldError::forbidden(&spec.field("count"), "seven stays"));
    }
}
