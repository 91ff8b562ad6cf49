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

/// An amount of whole units that is not less than nothing, in the words of capacities.
pub(super) fn basic_quantity(value: &Quantity, path: &Path<'_>, cx: &mut Validation<'_>) {
    // Parts of a unit count as a whole one, so that what is less than nothing by a part counts as nothing.
    let units = value.milli_value().div_euclid(1000) + i64::from(value.milli_value().rem_euclid(1000) != 0);
    if units < 0 {
        cx.push(FieldError::invalid(path, &units, "must be a valid resource quantity"));
    }
}
