//! Rules about the change of a value.

use std::collections::BTreeMap;

use crate::{
    field_error::{FieldError, Rendered, Shown, Validation},
    path::Path,
};

const IMMUTABLE: &str = "field is immutable";
const ONCE_SET: &str = "field is immutable once set";

/// The value never changes.
pub fn immutable<T: PartialEq + Shown>(new: &T, old: &T, path: &Path<'_>, cx: &mut Validation<'_>) {
    immutable_shown(new != old, || new.shown(), path, cx);
}

/// [`immutable`] for objects, lists and maps: the caller compares, and renders the new value if asked to
/// (see [`json`](crate::field_error::json)).
pub fn immutable_shown(
    changed: bool,
    shown: impl FnOnce() -> String,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if changed {
        cx.push(FieldError::invalid(path, &Rendered(shown()), IMMUTABLE));
    }
}

/// The value may be given later than the object, and never changes from then on.
pub fn once_set<T: PartialEq + Shown + Emptiness>(
    new: &T,
    old: &T,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    once_set_shown(old.is_given() && new != old, || new.shown(), path, cx);
}

/// [`once_set`] for objects, lists and maps. `changed` says that a value was given before and is another one
/// now.
pub fn once_set_shown(
    changed: bool,
    shown: impl FnOnce() -> String,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if changed {
        cx.push(FieldError::invalid(path, &Rendered(shown()), ONCE_SET));
    }
}

/// Whether a field holds a value, in the forms that fields have in generated structs.
pub trait Emptiness {
    /// Whether there is a value: for texts, lists and maps, one that is not empty.
    fn is_given(&self) -> bool;
}

impl<T> Emptiness for Option<T> {
    fn is_given(&self) -> bool {
        self.is_some()
    }
}

impl Emptiness for String {
    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

impl<T> Emptiness for Vec<T> {
    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

impl<V> Emptiness for BTreeMap<String, V> {
    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        field_error::{Reason, json},
        rule::tests::reported,
    };

    fn invalid(text: &str) -> [(Reason, String); 1] {
        [(Reason::Invalid, format!("spec: Invalid value: {text}"))]
    }

    #[test]
    fn immutable_values_do_not_change() {
        assert_eq!(reported(|path, cx| immutable(&1, &1, path, cx)), []);
        assert_eq!(
            reported(|path, cx| immutable(&false, &true, path, cx)),
            invalid("false: field is immutable")
        );
        assert_eq!(
            reported(|path, cx| immutable(&None, &Some("a".to_owned()), path, cx)),
            invalid("\"null\": field is immutable")
        );
        let (new, old) = (vec!["b"], vec!["a"]);
        assert_eq!(
            reported(|path, cx| immutable_shown(new != old, || json(&new), path, cx)),
            invalid("[]string{\"b\"}: field is immutable")
        );
        assert_eq!(
            reported(|path, cx| immutable_shown(false, || unreachable!("nothing to show"), path, cx)),
            []
        );
    }

    #[test]
    fn values_that_are_set_once_do_not_change_after_that() {
        let text = str::to_owned;
        assert_eq!(reported(|path, cx| once_set(&text("a"), &text(""), path, cx)), []);
        assert_eq!(reported(|path, cx| once_set(&text("a"), &text("a"), path, cx)), []);
        assert_eq!(reported(|path, cx| once_set(&Some(1), &None, path, cx)), []);
        assert_eq!(
            reported(|path, cx| once_set(&text(""), &text("a"), path, cx)),
            invalid("\"\": field is immutable once set")
        );
        assert_eq!(
            reported(|path, cx| once_set(&Some(0), &Some(1), path, cx)),
            invalid("0: field is immutable once set")
        );
        let (new, old) = (Vec::<String>::new(), vec![text("a")]);
        assert_eq!(
            reported(|path, cx| once_set_shown(old.is_given() && new != old, || json(&new), path, cx)),
            invalid("[]: field is immutable once set")
        );
        assert!(!new.is_given() && !BTreeMap::<String, i32>::new().is_given());
        assert!(BTreeMap::from([(text("a"), 1)]).is_given());
    }
}
