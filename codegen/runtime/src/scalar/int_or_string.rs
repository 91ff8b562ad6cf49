//! A number, or a text that mostly is a percentage or a name.

use std::{
    fmt::{self, Display},
    str::FromStr,
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};

use super::ScalarError;
use crate::field_error::Shown;

/// A JSON number of 32 bits, or a JSON string.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntOrString {
    /// A count, a port ...
    Int(i32),
    /// `50%`, a port's name ...
    String(String),
}

impl IntOrString {
    /// The number, or the percentage of `total`; parts of one are rounded up or down.
    ///
    /// # Errors
    /// [`ScalarError::NotAPercentage`] for any other text, [`ScalarError::ShareRange`] if the result does not
    /// fit.
    pub fn scaled_value(&self, total: i32, round_up: bool) -> Result<i32, ScalarError> {
        let text = match self {
            IntOrString::Int(value) => return Ok(*value),
            IntOrString::String(text) => text,
        };
        let percent = self.percentage().ok_or_else(|| ScalarError::NotAPercentage(text.clone()))?;
        let hundredfold = i64::from(percent) * i64::from(total);
        let share = hundredfold.div_euclid(100) + i64::from(round_up && hundredfold.rem_euclid(100) != 0);
        i32::try_from(share).map_err(|_| ScalarError::ShareRange)
    }

    /// The number before the percent sign, if this is a percentage: a whole number and `%`, nothing else.
    pub fn percentage(&self) -> Option<i32> {
        match self {
            IntOrString::Int(_) => None,
            IntOrString::String(text) => text.strip_suffix('%')?.parse().ok(),
        }
    }
}

impl Default for IntOrString {
    fn default() -> Self {
        IntOrString::Int(0)
    }
}

impl From<i32> for IntOrString {
    fn from(value: i32) -> Self {
        IntOrString::Int(value)
    }
}

impl From<&str> for IntOrString {
    fn from(text: &str) -> Self {
        IntOrString::String(text.to_owned())
    }
}

impl FromStr for IntOrString {
    type Err = std::convert::Infallible;

    /// A whole number of 32 bits is taken as a number, everything else as a text.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(|_| IntOrString::String(text.to_owned()), IntOrString::Int))
    }
}

impl Display for IntOrString {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntOrString::Int(value) => Display::fmt(value, out),
            IntOrString::String(text) => out.write_str(text),
        }
    }
}

impl Shown for IntOrString {
    fn shown(&self) -> String {
        match self {
            IntOrString::Int(value) => value.shown(),
            IntOrString::String(text) => text.shown(),
        }
    }
}

impl Serialize for IntOrString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            IntOrString::Int(value) => serializer.serialize_i32(*value),
            IntOrString::String(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for IntOrString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntOrStringVisitor)
    }
}

struct IntOrStringVisitor;

impl Visitor<'_> for IntOrStringVisitor {
    type Value = IntOrString;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an integer of 32 bits or a string")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<IntOrString, E> {
        let value =
            i32::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))?;
        Ok(IntOrString::Int(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<IntOrString, E> {
        let value =
            i32::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))?;
        Ok(IntOrString::Int(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<IntOrString, E> {
        Ok(IntOrString::String(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<IntOrString, E> {
        Ok(IntOrString::String(text))
    }
}
