//! An amount of something, with a unit prefix: `100m`, `1.5Gi`, `12e6`.
//!
//! # Value
//! A quantity is a whole number of billionths (nano), of at most about 1.7e29 in magnitude; larger ones are
//! refused. What is finer than a billionth is rounded up, away from zero: an amount that is not zero never
//! becomes zero. A quantity with a binary suffix is at most 2^63-1. Within these bounds every value is exact,
//! whatever its number of digits.
//!
//! # Text
//! A text is kept as it came when it looks canonical already, else the canonical text is made from the value:
//! whole digits and the largest suffix that needs no fraction, in the [format](QuantityFormat) of the text.
//! `1.5` becomes `1500m`, `1024Ki` becomes `1Mi`, and `1.500` stays. "Looks canonical" is the rule of thumb
//! of the Kubernetes API; the `parse` module has it.
//!
//! # Comparison
//! Equality and order are those of the values: `1` equals `1000m`.

mod canonical;
mod parse;

use std::{
    cmp::Ordering,
    fmt::{self, Debug, Display},
    str::FromStr,
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};

use super::ScalarError;
use crate::field_error::Shown;

/// Billionths in one.
const ONE: i128 = 1_000_000_000;
/// Billionths in a thousandth.
const MILLI: i128 = 1_000_000;

/// How a quantity is written; taken over from the text that it was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuantityFormat {
    /// Powers of 1000 as letters: `100m`, `5`, `12M`.
    #[default]
    DecimalSi,
    /// Powers of 1024 as letters: `64Mi`. Amounts below 1024, and those that are not whole, are written as
    /// [`QuantityFormat::DecimalSi`].
    BinarySi,
    /// Powers of 1000 as exponents: `12e6`.
    DecimalExponent,
}

/// An amount of something.
///
/// A whole number of billionths; finer amounts are rounded up, away from zero. Equality and order are those
/// of the amounts: `1` equals `1000m`.
#[derive(Clone, Default)]
pub struct Quantity {
    nanos: i128,
    format: QuantityFormat,
    /// The text that it was read from, where that is kept.
    text: Option<Box<str>>,
}

impl Quantity {
    /// A whole amount.
    pub fn new(value: i64, format: QuantityFormat) -> Self {
        Quantity { nanos: i128::from(value) * ONE, format, text: None }
    }

    /// How the quantity is written.
    pub fn format(&self) -> QuantityFormat {
        self.format
    }

    /// Whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        self.nanos.signum() as i32
    }

    /// The amount, rounded away from zero to a whole number; at the ends of the range if it does not fit.
    pub fn value(&self) -> i64 {
        saturate(rounded_up(self.nanos, ONE))
    }

    /// The amount in thousandths, rounded away from zero; at the ends of the range if it does not fit.
    pub fn milli_value(&self) -> i64 {
        saturate(rounded_up(self.nanos, MILLI))
    }

    /// The nearest number with a fraction.
    pub fn approximate(&self) -> f64 {
        self.nanos as f64 / ONE as f64
    }

    /// Whether the amount is a whole number, when what is finer than a thousandth is rounded away from zero.
    pub fn is_whole(&self) -> bool {
        rounded_up(self.nanos, MILLI) % (ONE / MILLI) == 0
    }

    /// Rounds the amount away from zero to whole thousandths. The text is kept where this changes nothing.
    pub fn round_up_to_milli(&mut self) {
        let rounded = rounded_up(self.nanos, MILLI).saturating_mul(MILLI);
        if rounded != self.nanos {
            self.nanos = rounded;
            self.text = None;
        }
    }

    /// The sum, in the format of `self`, or in that of `other` if `self` is zero; nothing if it is too large.
    pub fn checked_add(&self, other: &Quantity) -> Option<Quantity> {
        let nanos = self.nanos.checked_add(other.nanos)?;
        Some(Quantity { nanos, format: self.joint_format(other), text: None })
    }

    /// The difference, in the format of `self`, or in that of `other` if `self` is zero; nothing if it is too
    /// large.
    pub fn checked_sub(&self, other: &Quantity) -> Option<Quantity> {
        let nanos = self.nanos.checked_sub(other.nanos)?;
        Some(Quantity { nanos, format: self.joint_format(other), text: None })
    }

    fn joint_format(&self, other: &Quantity) -> QuantityFormat {
        if self.is_zero() { other.format } else { self.format }
    }
}

fn rounded_up(nanos: i128, unit: i128) -> i128 {
    nanos / unit + (nanos % unit).signum()
}

fn saturate(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

impl FromStr for Quantity {
    type Err = ScalarError;

    fn from_str(text: &str) -> Result<Self, ScalarError> {
        parse::parse(text)
    }
}

impl Display for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) => out.write_str(text),
            None => canonical::write(out, self.nanos, self.format),
        }
    }
}

impl Debug for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Quantity({self})")
    }
}

impl Shown for Quantity {
    fn shown(&self) -> String {
        self.to_string().shown()
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    /// A string (blanks around it are dropped) or a number, which is read as its shortest decimal text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

struct QuantityVisitor;

impl Visitor<'_> for QuantityVisitor {
    type Value = Quantity;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a quantity such as \"500m\" or 2")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity, E> {
        text.trim_ascii().parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Quantity, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Quantity, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Quantity, E> {
        self.visit_str(&value.to_string())
    }
}

#[cfg(test)]
mod tests;
