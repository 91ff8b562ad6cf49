//! Warnings of fractional amounts of what is counted in bytes.

use std::collections::BTreeMap;

use orch_runtime::{
    field_error::{Shown, Validation},
    path::Path,
    scalar::Quantity,
};

/// Resources that are counted in bytes, and so cannot be fractional.
const BYTE_RESOURCES: &[&str] = &["memory", "ephemeral-storage"];

/// Warns of fractional amounts of resources that are counted in bytes.
pub(super) fn warn_of_fractional_resources(
    amounts: &BTreeMap<String, Quantity>,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    for name in BYTE_RESOURCES {
        if let Some(amount) = amounts.get(*name) {
            warn_of_fractional_bytes(amount, &path.key(name), cx);
        }
    }
}

/// Warns of a fractional number of bytes.
pub(super) fn warn_of_fractional_bytes(amount: &Quantity, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !amount.is_whole() {
        let shown = amount.to_string();
        cx.warn(path, format_args!("fractional byte value {} is invalid, must be an integer", shown.shown()));
    }
}
