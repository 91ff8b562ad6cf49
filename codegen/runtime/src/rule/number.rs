//! Bounds of numbers.

use std::fmt::Display;

use crate::{
    field_error::{FieldError, Shown, Validation},
    path::Path,
};

/// The number types of schemas: `int32`, `int64` and `double`.
pub trait Number: Copy + PartialOrd + Shown + Display {
    /// Whether the number is a whole multiple of `step`, which is not zero.
    fn is_multiple_of(self, step: Self) -> bool;
}

impl Number for i32 {
    fn is_multiple_of(self, step: Self) -> bool {
        i64::from(self).is_multiple_of(i64::from(step))
    }
}

impl Number for i64 {
    fn is_multiple_of(self, step: Self) -> bool {
        // The one remainder that does not exist for a step other than zero is that of MIN by -1.
        self.checked_rem(step).is_none_or(|rest| rest == 0)
    }
}

impl Number for f64 {
    /// Decimal steps such as 0.1 have no exact binary form, so a quotient counts as whole when it differs from a
    /// whole number by rounding errors only.
    fn is_multiple_of(self, step: Self) -> bool {
        let quotient = self / step;
        (quotient - quotient.round()).abs() <= quotient.abs() * (4.0 * f64::EPSILON)
    }
}

/// `value >= min`.
pub fn minimum<N: Number>(value: N, min: N, path: &Path<'_>, cx: &mut Validation<'_>) {
    bound(value >= min, value, "greater than or equal to", min, path, cx);
}

/// `value <= max`.
pub fn maximum<N: Number>(value: N, max: N, path: &Path<'_>, cx: &mut Validation<'_>) {
    bound(value <= max, value, "less than or equal to", max, path, cx);
}

/// `value > min`.
pub fn exclusive_minimum<N: Number>(value: N, min: N, path: &Path<'_>, cx: &mut Validation<'_>) {
    bound(value > min, value, "greater than", min, path, cx);
}

/// `value < max`.
pub fn exclusive_maximum<N: Number>(value: N, max: N, path: &Path<'_>, cx: &mut Validation<'_>) {
    bound(value < max, value, "less than", max, path, cx);
}

/// `value` is a whole multiple of `step`, which is not zero.
pub fn multiple_of<N: Number>(value: N, step: N, path: &Path<'_>, cx: &mut Validation<'_>) {
    bound(value.is_multiple_of(step), value, "a multiple of", step, path, cx);
}

fn bound<N: Number>(
    holds: bool,
    value: N,
    relation: &str,
    limit: N,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if !holds {
        cx.push(FieldError::invalid(path, &value, &format!("must be {relation} {limit}")));
    }
}
