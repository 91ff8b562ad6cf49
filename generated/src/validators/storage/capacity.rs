//! Amounts and names of classes, as capacities, claims and volumes give them.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Shown, Validation},
    path::Path,
    scalar::Quantity,
};

/// The name of a class, which is a DNS subdomain.
pub fn class_name(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    cx.invalid_all(path, value, &constraint::dns_subdomain(value));
}

/// An amount that is not less than nothing.
pub fn quantity_not_negative(value: &Quantity, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.sign() < 0 {
        let shown = Rendered(value.to_string().shown());
        cx.push(FieldError::invalid(path, &shown, "must be greater than or equal to 0"));
    }
}

/// An amount that is more than nothing.
pub(super) fn quantity_positive(value: &Quantity, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.sign() <= 0 {
        let shown = Rendered(value.to_string().shown());
        cx.push(FieldError::invalid(path, &shown, "must be greater than zero"));
    }
}
