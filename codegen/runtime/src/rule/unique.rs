//! Lists whose items must differ.
//!
//! Time is linear in the list: quadratic comparison would let one request with a long list stop the server.
//! Nothing is allocated for a correct list of up to 16 items.

use std::hash::Hash;

use super::Seen;
use crate::{
    field_error::{FieldError, Rendered, Shown, Validation},
    path::Path,
};

/// No scalar occurs twice; each repetition is reported at its place.
pub fn unique_scalars<T: Eq + Hash + Shown>(list: &[T], path: &Path<'_>, cx: &mut Validation<'_>) {
    unique_keys(list, |item| item, T::shown, path, cx);
}

/// No key occurs twice among objects; each repetition is reported at the item: `ports[2]`. `shown` is the
/// text of a key in errors.
pub fn unique_keys<'l, T, K: Copy + Eq + Hash>(
    list: &'l [T],
    key: impl Fn(&'l T) -> K,
    shown: impl Fn(K) -> String,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    for (index, key) in repetitions(list, key) {
        cx.push(FieldError::duplicate(&path.index(index), &Rendered(shown(key))));
    }
}

/// [`unique_keys`] for a key of one field: each repetition is reported at that field: `ports[2].name`.
pub fn unique_key<'l, T, K: Copy + Eq + Hash + Shown>(
    list: &'l [T],
    field: &str,
    key: impl Fn(&'l T) -> K,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    for (index, key) in repetitions(list, key) {
        cx.push(FieldError::duplicate(&path.index(index).field(field), &key));
    }
}

/// The items whose key occurred before, with their places.
fn repetitions<'l, T, K: Copy + Eq + Hash>(
    list: &'l [T],
    key: impl Fn(&'l T) -> K,
) -> impl Iterator<Item = (usize, K)> {
    let mut seen = Seen::new();
    list.iter().map(key).enumerate().filter(move |(_, key)| !seen.insert(*key))
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
            reported(|path, cx| unique_key(&ports, "name", |port| &port.0, path, cx)),
            [duplicate("spec[2].name: Duplicate value: \"a\"")]
        );
        assert_eq!(
            reported(|path, cx| unique_keys(
                &ports,
                |port| port.1,
                |port| format!("{{\"port\":{port}}}"),
                path,
                cx
            )),
            [duplicate("spec[1]: Duplicate value: {\"port\":80}")]
        );
        assert_eq!(
            reported(|path, cx| unique_keys(
                &ports,
                |port| (port.0, port.1),
                |key| format!("{key:?}"),
                path,
                cx
            )),
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
