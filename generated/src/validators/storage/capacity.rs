//! Quantities, as volumes and claims have them: Rust, because amounts are shown in rounded units.

use orch_runtime::{
    field_error::{FieldError, Rendered, Shown, Validation},
    path::Path,
    scalar::Quantity,
};

/// A quantity of more than zero.
pub(super) fn quantity_positive(value: &Quantity, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.sign() <= 0 {
        let shown = Rendered(value.to_string().shown());
        cx.push(FieldError::invalid(path, &shown, "must be greater than zero"));
    }
}

/// A quantity that is at least zero after rounding up to whole units, with the error text of capacities.
pub(super) fn basic_quantity(value: &Quantity, path: &Path<'_>, cx: &mut Validation<'_>) {
    // -0.5 is rounded up to 0, and so is accepted.
    let units = value.milli_value().div_euclid(1000) + i64::from(value.milli_value().rem_euclid(1000) != 0);
    if units < 0 {
        cx.push(FieldError::invalid(path, &units, "must be a valid resource quantity"));
    }
}
