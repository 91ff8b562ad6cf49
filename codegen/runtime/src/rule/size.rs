//! Sizes of texts, lists and maps.

use std::collections::BTreeMap;

use crate::{
    field_error::{FieldError, Validation},
    path::Path,
};

/// At least `min` bytes.
pub fn min_length(value: &str, min: usize, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.len() < min {
        let unit = if min == 1 { "byte" } else { "bytes" };
        cx.push(FieldError::invalid(path, value, &format!("must be at least {min} {unit}")));
    }
}

/// At most `max` bytes. The value is not repeated in the answer.
pub fn max_length(value: &str, max: usize, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.len() > max {
        cx.push(FieldError::too_long(path, max));
    }
}

/// At least `min` items.
pub fn min_items<T>(list: &[T], min: usize, path: &Path<'_>, cx: &mut Validation<'_>) {
    at_least(list.len(), min, path, cx);
}

/// At most `max` items.
pub fn max_items<T>(list: &[T], max: usize, path: &Path<'_>, cx: &mut Validation<'_>) {
    at_most(list.len(), max, path, cx);
}

/// At least `min` entries.
pub fn min_properties<V>(map: &BTreeMap<String, V>, min: usize, path: &Path<'_>, cx: &mut Validation<'_>) {
    at_least(map.len(), min, path, cx);
}

/// At most `max` entries.
pub fn max_properties<V>(map: &BTreeMap<String, V>, max: usize, path: &Path<'_>, cx: &mut Validation<'_>) {
    at_most(map.len(), max, path, cx);
}

fn at_least(actual: usize, min: usize, path: &Path<'_>, cx: &mut Validation<'_>) {
    if actual < min {
        let unit = if min == 1 { "item" } else { "items" };
        cx.push(FieldError::invalid(path, &actual, &format!("must have at least {min} {unit}")));
    }
}

fn at_most(actual: usize, max: usize, path: &Path<'_>, cx: &mut Validation<'_>) {
    if actual > max {
        cx.push(FieldError::too_many(path, actual, max));
    }
}
