//! Bounds of numbers.

use std::fmt::Display;

use crate::{
    field_error::{FieldError, Shown, Validation},
    path::Path,
    scalar::Quantity,
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
    /// Decimal steps such as 0.1 have no exact binary form, so a quotient counts as whole when it differs
    /// from a whole number by rounding errors only.
    fn is_multiple_of(self, step: Self) -> bool {
        let quotient = self / step;
        (quotient - quotient.round()).abs() <= quotient.abs() * (4.0 * f64::EPSILON)
    }
}

/// An amount is not below zero.
pub fn not_negative(value: &Quantity, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.sign() < 0 {
        cx.push(FieldError::invalid(path, &value.to_string(), "must be greater than or equal to 0"));
    }
}

/// An amount is above zero.
pub fn positive(value: &Quantity, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.sign() <= 0 {
        cx.push(FieldError::invalid(path, &value.to_string(), "must be greater than 0"));
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

/// `min <= value <= max`.
pub fn between<N: Number>(value: N, min: N, max: N, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value < min || value > max {
        let detail = format!("must be between {min} and {max}, inclusive");
        cx.push(FieldError::invalid(path, &value, &detail));
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{field_error::Reason, rule::tests::reported};

    type Rule<N> = fn(N, N, &Path<'_>, &mut Validation<'_>);

    fn check<N: Number>(rule: Rule<N>, correct: &[(N, N)], wrong: &[(N, N, &str)]) {
        for (value, limit) in correct {
            assert_eq!(reported(|path, cx| rule(*value, *limit, path, cx)), [], "{value} by {limit}");
        }
        for (value, limit, text) in wrong {
            let expected = (Reason::Invalid, format!("spec: Invalid value: {text}"));
            assert_eq!(reported(|path, cx| rule(*value, *limit, path, cx)), [expected]);
        }
    }

    #[test]
    fn bounds() {
        check::<i32>(minimum, &[(0, 0), (1, 0)], &[(-2, 0, "-2: must be greater than or equal to 0")]);
        check::<i64>(maximum, &[(5, 5), (4, 5)], &[(6, 5, "6: must be less than or equal to 5")]);
        check::<i32>(exclusive_minimum, &[(1, 0)], &[(0, 0, "0: must be greater than 0")]);
        check::<i32>(exclusive_maximum, &[(4, 5)], &[(5, 5, "5: must be less than 5")]);
        check::<f64>(minimum, &[(0.5, 0.5)], &[(0.25, 0.5, "0.25: must be greater than or equal to 0.5")]);
        check::<f64>(maximum, &[(1e6, 1e6)], &[(2e6, 1e6, "2e+06: must be less than or equal to 1000000")]);
    }

    #[test]
    fn amounts() {
        let amount = |text: &str| text.parse::<Quantity>().unwrap();
        assert_eq!(reported(|path, cx| not_negative(&amount("0"), path, cx)), []);
        assert_eq!(reported(|path, cx| positive(&amount("1m"), path, cx)), []);
        let wrong = |text: &str| vec![(Reason::Invalid, format!("spec: Invalid value: {text}"))];
        assert_eq!(
            reported(|path, cx| not_negative(&amount("-1Gi"), path, cx)),
            wrong("\"-1Gi\": must be greater than or equal to 0")
        );
        assert_eq!(
            reported(|path, cx| positive(&amount("0"), path, cx)),
            wrong("\"0\": must be greater than 0")
        );
    }

    #[test]
    fn ranges() {
        let port = |value: i32| reported(|path, cx| between(value, 1, 65535, path, cx));
        for value in [1, 80, 65535] {
            assert_eq!(port(value), []);
        }
        for value in [-1, 0, 65536] {
            let expected = format!("spec: Invalid value: {value}: must be between 1 and 65535, inclusive");
            assert_eq!(port(value), [(Reason::Invalid, expected)]);
        }
    }

    #[test]
    fn multiples() {
        check::<i32>(
            multiple_of,
            &[(0, 5), (10, 5), (-10, 5), (i32::MIN, -1)],
            &[(7, 5, "7: must be a multiple of 5")],
        );
        check::<i64>(multiple_of, &[(i64::MIN, -1), (i64::MAX, 7)], &[(1, 2, "1: must be a multiple of 2")]);
        check::<f64>(
            multiple_of,
            &[(0.3, 0.1), (1.1, 0.1), (0.0, 0.1), (-2.5, 0.5), (1e15, 0.1)],
            &[(0.35, 0.1, "0.35: must be a multiple of 0.1"), (0.05, 0.1, "0.05: must be a multiple of 0.1")],
        );
    }
}
