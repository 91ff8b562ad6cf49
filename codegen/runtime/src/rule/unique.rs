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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{field_error::Reason, rule::tests::reported};

    fn duplicate(text: &str) -> (Reason, String) {
        (Reason::Duplicate, text.to_owned())
    }

    #[test]
    fn scalars() {
        assert_eq!(reported(|path, cx| unique_scalars::<i32>(&[], path, cx)), []);
        assert_eq!(reported(|path, cx| unique_scalars(&["a", "b", ""], path, cx)), []);
        assert_eq!(
            reported(|path, cx| unique_scalars(&["a", "b", "a", "a"], path, cx)),
            [duplicate("spec[2]: Duplicate value: \"a\""), duplicate("spec[3]: Duplicate value: \"a\"")]
        );
        assert_eq!(
            reported(|path, cx| unique_scalars(&[1_i64, 1], path, cx)),
            [duplicate("spec[1]: Duplicate value: 1")]
        );
    }

    #[test]
    fn keys() {
        let ports = [("a", 80), ("b", 80), ("a", 443)];
        assert_eq!(
            reported(|path, cx| unique_key(&ports, "name", |port| port.0.shown(), path, cx)),
            [duplicate("spec[2].name: Duplicate value: \"a\"")]
        );
        assert_eq!(
            reported(|path, cx| unique_keys(&ports, |port| format!("{{\"port\":{}}}", port.1), path, cx)),
            [duplicate("spec[1]: Duplicate value: {\"port\":80}")]
        );
        assert_eq!(
            reported(|path, cx| unique_keys(&ports, |port| format!("{}:{}", port.0, port.1), path, cx)),
            []
        );
    }

    #[test]
    fn long_lists_are_compared_in_linear_time() {
        // Quadratic comparison of this list would not end within the time of a test run.
        let list: Vec<i64> = (0..200_000).collect();
        assert_eq!(reported(|path, cx| unique_scalars(&list, path, cx)), []);
    }
}
