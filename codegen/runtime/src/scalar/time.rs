//! A point in time, in whole seconds.

use std::{
    fmt::{self, Debug, Display},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    ScalarError, TextVisitor,
    rfc3339::{self, Fraction, MAX_SECONDS, MIN_SECONDS, ZERO_SECONDS},
};
use crate::field_error::Shown;

/// A point in time in UTC, in whole seconds: `2026-11-20T15:14:38Z`.
///
/// Texts with an offset or a fraction are read too; the fraction is dropped. The default is the zero time, the
/// first second of year 1: it stands for "no time" and is written as `null`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    unix_seconds: i64,
}

impl Time {
    /// From seconds since 1970. Brought into the years 0 to 9999, which are all that can be written.
    pub fn from_unix_seconds(seconds: i64) -> Self {
        Time { unix_seconds: seconds.clamp(MIN_SECONDS, MAX_SECONDS) }
    }

    /// Seconds since 1970.
    pub fn as_unix_seconds(self) -> i64 {
        self.unix_seconds
    }

    /// Whether this is the zero time.
    pub fn is_zero(self) -> bool {
        self.unix_seconds == ZERO_SECONDS
    }
}

impl Default for Time {
    fn default() -> Self {
        Time { unix_seconds: ZERO_SECONDS }
    }
}

impl FromStr for Time {
    type Err = ScalarError;

    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let (unix_seconds, _) = rfc3339::parse(text, Fraction::Any)?;
        Ok(Time { unix_seconds })
    }
}

impl Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        rfc3339::write(out, self.unix_seconds, None)
    }
}

impl Debug for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Time({self})")
    }
}

impl Shown for Time {
    fn shown(&self) -> String {
        if self.is_zero() { "null".to_owned() } else { self.to_string().shown() }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_zero() { serializer.serialize_unit() } else { serializer.collect_str(self) }
    }
}

impl<'de> Deserialize<'de> for Time {
    /// `null` is the zero time.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor =
            TextVisitor { expecting: "an RFC 3339 time", parse: Time::from_str, null: Some(Time::default) };
        deserializer.deserialize_any(visitor)
    }
}
