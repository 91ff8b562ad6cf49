//! A point in time, in microseconds.

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

const PER_SECOND: i64 = 1_000_000;

/// A point in time in UTC, always with six digits of fraction: `2026-11-20T15:14:38.000000Z`.
///
/// Texts with an offset are read too. The default is the zero time, the first moment of year 1: it stands for
/// "no time" and is written as `null`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroTime {
    unix_micros: i64,
}

impl MicroTime {
    /// From microseconds since 1970. Brought into the years 0 to 9999, which are all that can be written.
    pub fn from_unix_micros(micros: i64) -> Self {
        let (first, last) = (MIN_SECONDS * PER_SECOND, MAX_SECONDS * PER_SECOND + (PER_SECOND - 1));
        MicroTime { unix_micros: micros.clamp(first, last) }
    }

    /// Microseconds since 1970.
    pub fn as_unix_micros(self) -> i64 {
        self.unix_micros
    }

    /// Whether this is the zero time.
    pub fn is_zero(self) -> bool {
        self.unix_micros == ZERO_SECONDS * PER_SECOND
    }
}

impl Default for MicroTime {
    fn default() -> Self {
        MicroTime { unix_micros: ZERO_SECONDS * PER_SECOND }
    }
}

impl FromStr for MicroTime {
    type Err = ScalarError;

    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let (seconds, micros) = rfc3339::parse(text, Fraction::Six)?;
        Ok(MicroTime { unix_micros: seconds * PER_SECOND + i64::from(micros) })
    }
}

impl Display for MicroTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.unix_micros.rem_euclid(PER_SECOND) as u32;
        rfc3339::write(out, self.unix_micros.div_euclid(PER_SECOND), Some(micros))
    }
}

impl Debug for MicroTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "MicroTime({self})")
    }
}

impl Shown for MicroTime {
    fn shown(&self) -> String {
        rfc3339::shown(&self.to_string())
    }
}

impl Serialize for MicroTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_zero() { serializer.serialize_unit() } else { serializer.collect_str(self) }
    }
}

impl<'de> Deserialize<'de> for MicroTime {
    /// `null` is the zero time.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = TextVisitor {
            expecting: "an RFC 3339 time with six digits of fraction",
            parse: MicroTime::from_str,
            null: Some(MicroTime::default),
        };
        deserializer.deserialize_any(visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn is_written_with_six_digits() {
        let table = [
            ("2026-11-20T15:14:38.000000Z", "2026-11-20T15:14:38.000000Z"),
            ("1969-12-31T23:59:59.000001Z", "1969-12-31T23:59:59.000001Z"),
            ("2026-11-20T01:14:38.123456+02:30", "2026-11-19T22:44:38.123456Z"),
        ];
        for (text, written) in table {
            let time: MicroTime = serde_json::from_value(json!(text)).unwrap();
            assert_eq!(serde_json::to_value(time).unwrap(), json!(written));
        }
        for text in ["", "2026-11-20T15:14:38Z", "2026-11-20T15:14:38.5Z", "2026-11-20T15:14:38.1234567Z"] {
            assert!(serde_json::from_value::<MicroTime>(json!(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn the_zero_time_is_null() {
        assert_eq!(serde_json::to_value(MicroTime::default()).unwrap(), json!(null));
        assert_eq!(serde_json::from_value::<MicroTime>(json!(null)).unwrap(), MicroTime::default());
        assert_eq!("0001-01-01T00:00:00.000000Z".parse(), Ok(MicroTime::default()));
        assert!(MicroTime::default().is_zero() && !MicroTime::from_unix_micros(0).is_zero());
        assert_eq!(MicroTime::default().shown(), "0001-01-01 00:00:00 +0000 UTC");
        assert_eq!(MicroTime::from_unix_micros(1_500_000).shown(), "1970-01-01 00:00:01.5 +0000 UTC");
    }

    #[test]
    fn micros_are_brought_into_the_years_that_can_be_written() {
        assert_eq!(MicroTime::from_unix_micros(i64::MAX).to_string(), "9999-12-31T23:59:59.999999Z");
        assert_eq!(MicroTime::from_unix_micros(i64::MIN).to_string(), "0000-01-01T00:00:00.000000Z");
        assert_eq!(MicroTime::from_unix_micros(-7).as_unix_micros(), -7);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(micros: i64) {
            let time = MicroTime::from_unix_micros(micros);
            prop_assert_eq!(time.to_string().parse::<MicroTime>(), Ok(time));
        }
    }
}
