//! Values that must be given.

use crate::{
    field_error::{FieldError, Validation},
    path::Path,
};

/// A text that must be given; an empty one counts as absent.
pub fn required_string(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.is_empty() {
        cx.push(FieldError::required(path, ""));
    }
}

/// A value that must be given.
pub fn required<T>(value: &Option<T>, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.is_none() {
        cx.push(FieldError::required(path, ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{field_error::Reason, rule::tests::reported};

    #[test]
    fn what_is_absent_is_required() {
        let missing = [(Reason::Required, "spec: Required value".to_owned())];
        assert_eq!(reported(|path, cx| required_string("", path, cx)), missing);
        assert_eq!(reported(|path, cx| required::<i32>(&None, path, cx)), missing);
        assert_eq!(reported(|path, cx| required_string(" ", path, cx)), []);
        assert_eq!(reported(|path, cx| required(&Some(0), path, cx)), []);
    }
}
