//! Values with a canonical text form of their own.
//!
//! Each type reads and writes its wire form through serde, and the same text through [`FromStr`] and
//! [`Display`]; it can be [`Shown`] in messages. No operation panics or wraps: what
//! does not fit is an error, or is brought into range where that is documented.
//!
//! [`FromStr`]: std::str::FromStr
//! [`Display`]: std::fmt::Display

mod byte_string;
mod duration;
mod int_or_string;
mod micro_time;
mod quantity;
mod rfc3339;
mod time;

use serde::de::{self, Visitor};
use thiserror::Error;

use crate::field_error::Shown;

pub use self::{
    byte_string::ByteString,
    duration::Duration,
    int_or_string::IntOrString,
    micro_time::MicroTime,
    quantity::{Quantity, QuantityFormat},
    time::Time,
};

/// A text in a message about times: in quotes, and each byte that is no visible ASCII character as a number.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for ch in text.chars() {
        match ch {
            '"' | '\\' => quoted.extend(['\\', ch]),
            ' '..='\x7f' => quoted.push(ch),
            other => {
                let mut buffer = [0; 4];
                let bytes = other.encode_utf8(&mut buffer).bytes();
                quoted.extend(bytes.map(|byte| format!("\\x{byte:02x}")));
            }
        }
    }
    quoted + "\""
}

/// Why a text is not a value of a scalar type. The messages are those of the Kubernetes API.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScalarError {
    /// Not built like a quantity at all.
    #[error(
        "quantities must match the regular expression \
         '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    QuantityShape,
    /// A number with an ending that is neither a suffix nor an exponent.
    #[error("unable to parse quantity's suffix")]
    QuantitySuffix,
    /// A quantity of more than about 1.7e29.
    #[error("quantity is out of range")]
    QuantityRange,
    /// A time with something else where `expected` should stand.
    #[error(
        "parsing time {} as {}: cannot parse {} as {}",
        quoted(text),
        quoted(layout),
        quoted(rest),
        quoted(expected)
    )]
    TimeShape {
        /// What was read.
        text: String,
        /// The form that it should have, as an example.
        layout: &'static str,
        /// The text from the unexpected place on.
        rest: String,
        /// The part of the layout that should stand there.
        expected: &'static str,
    },
    /// A time with a number that the calendar or the clock does not have.
    #[error("parsing time {}: {part} out of range", quoted(text))]
    TimeRange {
        /// What was read.
        text: String,
        /// What the number counts: `month`, `hour` ...
        part: &'static str,
    },
    /// A time with something after it.
    #[error("parsing time {}: extra text: {}", quoted(text), quoted(rest))]
    TimeExtra {
        /// What was read.
        text: String,
        /// What follows the time.
        rest: String,
    },
    /// Not built like a duration, or one of more than 292 years.
    #[error("time: invalid duration {}", quoted(.0))]
    Duration(String),
    /// A duration with a number that has no unit.
    #[error("time: missing unit in duration {}", quoted(.0))]
    DurationUnitMissing(String),
    /// A duration with a unit that does not exist.
    #[error("time: unknown unit {} in duration {}", quoted(unit), quoted(text))]
    DurationUnitUnknown {
        /// What stands in the unit's place.
        unit: String,
        /// What was read.
        text: String,
    },
    /// Not base64 with padding.
    #[error("illegal base64 data at input byte {at}")]
    Base64 {
        /// Offset of the first byte that does not belong there.
        at: usize,
    },
    /// A text where a number or a percentage is needed.
    #[error("invalid value for IntOrString: {} is not a percentage", .0.shown())]
    NotAPercentage(String),
    /// A share of a total that does not fit in 32 bits.
    #[error("invalid value for IntOrString: the result is out of range")]
    ShareRange,
}

/// Reads a scalar whose only wire form is a JSON string.
struct TextVisitor<T> {
    expecting: &'static str,
    parse: fn(&str) -> Result<T, ScalarError>,
    /// What JSON `null` stands for, where it is accepted.
    null: Option<fn() -> T>,
}

impl<T> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }

    fn visit_unit<E: de::Error>(self) -> Result<T, E> {
        match self.null {
            Some(null) => Ok(null()),
            None => Err(E::invalid_type(de::Unexpected::Unit, &self)),
        }
    }

    fn visit_none<E: de::Error>(self) -> Result<T, E> {
        self.visit_unit()
    }
}
