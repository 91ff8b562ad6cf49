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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{field_error::Reason, rule::tests::reported};

    #[test]
    fn texts_are_measured_in_bytes() {
        assert_eq!(reported(|path, cx| min_length("ab", 2, path, cx)), []);
        assert_eq!(reported(|path, cx| max_length("ab", 2, path, cx)), []);
        assert_eq!(
            reported(|path, cx| min_length("", 1, path, cx)),
            [(Reason::Invalid, "spec: Invalid value: \"\": must be at least 1 byte".to_owned())]
        );
        assert_eq!(
            reported(|path, cx| min_length("é", 3, path, cx)),
            [(Reason::Invalid, "spec: Invalid value: \"é\": must be at least 3 bytes".to_owned())]
        );
        assert_eq!(
            reported(|path, cx| max_length("éé", 3, path, cx)),
            [(Reason::TooLong, "spec: Too long: may not be more than 3 bytes".to_owned())]
        );
    }

    #[test]
    fn items_and_entries_are_counted() {
        let map = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]);
        let few = |min| format!("spec: Invalid value: 2: must have at least {min} items");
        assert_eq!(reported(|path, cx| min_items(&[1, 2], 2, path, cx)), []);
        assert_eq!(reported(|path, cx| max_items(&[1, 2], 2, path, cx)), []);
        assert_eq!(reported(|path, cx| min_properties(&map, 2, path, cx)), []);
        assert_eq!(reported(|path, cx| max_properties(&map, 2, path, cx)), []);
        assert_eq!(reported(|path, cx| min_items(&[1, 2], 3, path, cx)), [(Reason::Invalid, few(3))]);
        assert_eq!(reported(|path, cx| min_properties(&map, 4, path, cx)), [(Reason::Invalid, few(4))]);
        assert_eq!(
            reported(|path, cx| min_items::<i32>(&[], 1, path, cx)),
            [(Reason::Invalid, "spec: Invalid value: 0: must have at least 1 item".to_owned())]
        );
        let many = [(Reason::TooMany, "spec: Too many: 2: must have at most 1 item".to_owned())];
        assert_eq!(reported(|path, cx| max_items(&[1, 2], 1, path, cx)), many);
        assert_eq!(reported(|path, cx| max_properties(&map, 1, path, cx)), many);
    }
}
