//! Reading a quantity.

use super::{ONE, Quantity, QuantityFormat};
use crate::scalar::ScalarError;

/// Ten to the power of the exponent, or two to the power of the exponent.
#[derive(Clone, Copy)]
enum Unit {
    Decimal(i64),
    Binary(u32),
}

/// All suffixes; the exponent form is no suffix.
const SUFFIXES: &[(&str, Unit)] = &[
    ("", Unit::Decimal(0)),
    ("n", Unit::Decimal(-9)),
    ("u", Unit::Decimal(-6)),
    ("m", Unit::Decimal(-3)),
    ("k", Unit::Decimal(3)),
    ("M", Unit::Decimal(6)),
    ("G", Unit::Decimal(9)),
    ("T", Unit::Decimal(12)),
    ("P", Unit::Decimal(15)),
    ("E", Unit::Decimal(18)),
    ("Ki", Unit::Binary(10)),
    ("Mi", Unit::Binary(20)),
    ("Gi", Unit::Binary(30)),
    ("Ti", Unit::Binary(40)),
    ("Pi", Unit::Binary(50)),
    ("Ei", Unit::Binary(60)),
];

/// The largest quantity with a binary suffix: 2^63-1.
const BINARY_MAX: u128 = i64::MAX as u128 * ONE as u128;

/// A text in its parts.
struct Parts<'t> {
    negative: bool,
    /// Without zeros at its beginning; empty for a number below one.
    whole: &'t str,
    fraction: &'t str,
    suffix: &'t str,
}

pub(super) fn parse(text: &str) -> Result<Quantity, ScalarError> {
    let parts = split(text).ok_or(ScalarError::QuantityShape)?;
    let (unit, format) = unit(parts.suffix).ok_or(ScalarError::QuantitySuffix)?;
    let (nanos, kept) = match unit {
        Unit::Decimal(exponent) => (decimal_nanos(&parts, exponent), looks_canonical(&parts, exponent)),
        Unit::Binary(exponent) => {
            (Some(binary_nanos(&parts, exponent)), looks_canonical_binary(&parts, exponent))
        }
    };
    let nanos = nanos.and_then(|nanos| i128::try_from(nanos).ok()).ok_or(ScalarError::QuantityRange)?;
    let below_one = 0 < nanos && nanos < ONE;
    Ok(Quantity {
        nanos: if parts.negative { -nanos } else { nanos },
        format: if format == QuantityFormat::BinarySi && below_one {
            QuantityFormat::DecimalSi
        } else {
            format
        },
        text: kept.then(|| text.into()),
    })
}

/// `[+-]?` digits `[.` digits`]` and letters, sign and digits that may be a suffix. At least one digit must
/// stand before the suffix.
fn split(text: &str) -> Option<Parts<'_>> {
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, after) = split_digits(unsigned);
    let (fraction, suffix) = after.strip_prefix('.').map_or(("", after), split_digits);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let exponent = suffix.trim_start_matches(|ch| "eEinumkKMGTP".contains(ch));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let (_, rest) = split_digits(exponent);
    rest.is_empty().then_some(Parts { negative, whole: whole.trim_start_matches('0'), fraction, suffix })
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

fn unit(suffix: &str) -> Option<(Unit, QuantityFormat)> {
    if let Some((_, unit)) = SUFFIXES.iter().find(|(known, _)| *known == suffix) {
        let format = match unit {
            Unit::Decimal(_) => QuantityFormat::DecimalSi,
            Unit::Binary(_) => QuantityFormat::BinarySi,
        };
        return Some((*unit, format));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some((Unit::Decimal(exponent), QuantityFormat::DecimalExponent))
}

/// Billionths of a decimal number: its digits, with the point moved. Nothing if they are too many.
fn decimal_nanos(parts: &Parts<'_>, exponent: i64) -> Option<u128> {
    // How many digits stand before the point, when counting in billionths.
    let mut before_point = (parts.whole.len() as i64).saturating_add(exponent).saturating_add(9);
    let (mut nanos, mut finer) = (0_u128, false);
    for digit in parts.whole.bytes().chain(parts.fraction.bytes()).map(|digit| digit - b'0') {
        if before_point > 0 {
            nanos = nanos.checked_mul(10)?.checked_add(digit.into())?;
            before_point -= 1;
        } else {
            finer |= digit != 0;
        }
    }
    while before_point > 0 && nanos > 0 {
        nanos = nanos.checked_mul(10)?;
        before_point -= 1;
    }
    nanos.checked_add(finer.into())
}

/// Billionths of a number of binary units, capped.
fn binary_nanos(parts: &Parts<'_>, exponent: u32) -> u128 {
    let unit = (ONE as u128) << exponent;
    let whole = parts
        .whole
        .bytes()
        .try_fold(0_u128, |whole, digit| whole.checked_mul(10)?.checked_add((digit - b'0').into()))
        .and_then(|whole| whole.checked_mul(unit));
    // From the last digit to the first: each step divides by ten, and what a division leaves over tells only
    // whether something finer remains.
    let (fraction, finer) = parts.fraction.bytes().rev().fold((0, false), |(sum, finer), digit| {
        let sum = u128::from(digit - b'0') * unit + sum;
        (sum / 10, finer || !sum.is_multiple_of(10))
    });
    whole
        .and_then(|whole| whole.checked_add(fraction + u128::from(finer)))
        .map_or(BINARY_MAX, |nanos| nanos.min(BINARY_MAX))
}

/// Whether a decimal text is kept: at most 18 digits, none of them finer than nano, so many behind the point
/// that the exponent is one with a suffix of its own, and without zeros that a larger suffix would save.
fn looks_canonical(parts: &Parts<'_>, exponent: i64) -> bool {
    let fraction = parts.fraction.len();
    if parts.whole.is_empty() || parts.whole.len() + fraction > 18 {
        return false;
    }
    let scale = exponent.saturating_sub(fraction as i64);
    let zeros =
        parts.whole.bytes().chain(parts.fraction.bytes()).rev().take_while(|digit| *digit == b'0').count();
    scale >= -9 && scale % 3 == 0 && zeros < 3
}

/// Whether a text with a binary suffix is kept: a whole number that is not divisible by 8, and not so large
/// that its value has more than about 15 digits.
fn looks_canonical_binary(parts: &Parts<'_>, exponent: u32) -> bool {
    let digits = parts.whole.len() + exponent as usize * 3 / 10;
    parts.fraction.is_empty()
        && digits <= 14
        && parts.whole.parse().is_ok_and(|whole: u64| !whole.is_multiple_of(8))
}
