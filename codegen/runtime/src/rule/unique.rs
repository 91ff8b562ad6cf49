//! Lists whose items must differ.
//!
//! Items are compared by their rendered text, in time linear in the list: quadratic comparison would let one
//! request with a long list stop the server.

use std::collections::HashSet;

use crate::{
    field_error::{FieldError, Rendered, Shown, Validation},
    path::Path,
};

/// No scalar occurs twice; each repetition is reported at its place. Costs one text per item.
pub fn unique_scalars<T: Shown>(list: &[T], path: &Path<'_>, cx: &mut Validation<'_>) {
    unique_keys(list, T::shown, path, cx);
}

/// No key occurs twice among objects; each repetition is reported at the item: `ports[2]`. `key` renders an
/// item's key fields as they shall be shown.
pub fn unique_keys<T>(list: &[T], key: impl Fn(&T) -> String, path: &Path<'_>, cx: &mut Validation<'_>) {
    for (index, key) in repetitions(list, key) {
        cx.push(FieldError::duplicate(&path.index(index), &Rendered(key)));
    }
}

/// [`unique_keys`] for a key of one field: each repetition is reported at that field: `ports[2].name`.
pub fn unique_key<T>(
    list: &[T],
    field: &str,
    key: impl Fn(&T) -> String,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    for (index, key) in repetitions(list, key) {
        cx.push(FieldError::duplicate(&path.index(index).field(field), &Rendered(key)));
    }
}

/// The items whose key occurred before, with their places.
fn repetitions<T>(list: &[T], key: impl Fn(&T) -> String) -> Vec<(usize, String)> {
    if list.len() < 2 {
        return Vec::new();
    }
    let mut seen = HashSet::with_capacity(list.len());
    let mut repetitions = Vec::new();
    for (index, key) in list.iter().map(key).enumerate() {
        if seen.contains(&key) {
            repetitions.push((index, key));
        } else {
            seen.insert(key);
        }
    }
    repetitions
}
