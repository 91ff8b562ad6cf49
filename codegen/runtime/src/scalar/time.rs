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
/// Texts with an offset or a fraction are read too; the fraction is dropped. The default is the zero time,
/// the first second of year 1: it stands for "no time" and is written as `null`.
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
        rfc3339::shown(&self.to_string())
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn is_written_in_utc_and_whole_seconds() {
        let table = [
            ("2026-11-20T15:14:38Z", "2026-11-20T15:14:38Z"),
            ("2026-11-20T15:14:38.999999Z", "2026-11-20T15:14:38Z"),
            ("1969-12-31T23:59:59.9Z", "1969-12-31T23:59:59Z"),
            ("2026-11-20T01:14:38+02:30", "2026-11-19T22:44:38Z"),
        ];
        for (text, written) in table {
            let time: Time = serde_json::from_value(json!(text)).unwrap();
            assert_eq!(serde_json::to_value(time).unwrap(), json!(written));
        }
    }

    #[test]
    fn the_zero_time_is_null() {
        assert_eq!(serde_json::to_value(Time::default()).unwrap(), json!(null));
        assert_eq!(serde_json::from_value::<Time>(json!(null)).unwrap(), Time::default());
        assert_eq!(serde_json::from_value::<Time>(json!("0001-01-01T00:00:00Z")).unwrap(), Time::default());
        assert!(Time::default().is_zero() && !Time::from_unix_seconds(0).is_zero());
        assert_eq!(serde_json::to_value(Time::from_unix_seconds(0)).unwrap(), json!("1970-01-01T00:00:00Z"));
        assert_eq!(
            (Time::default().shown(), Time::from_unix_seconds(0).shown()),
            ("0001-01-01 00:00:00 +0000 UTC".into(), "1970-01-01 00:00:00 +0000 UTC".into())
        );
    }

    #[test]
    fn an_empty_string_or_a_number_is_no_time() {
        let error = serde_json::from_value::<Time>(json!("")).unwrap_err().to_string();
        assert_eq!(error, r#"parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006""#);
        assert!(serde_json::from_value::<Time>(json!(0)).is_err());
    }

    #[test]
    fn seconds_are_brought_into_the_years_that_can_be_written() {
        assert_eq!(Time::from_unix_seconds(i64::MAX).to_string(), "9999-12-31T23:59:59Z");
        assert_eq!(Time::from_unix_seconds(i64::MIN).to_string(), "0000-01-01T00:00:00Z");
        assert_eq!(Time::from_unix_seconds(7).as_unix_seconds(), 7);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(seconds in MIN_SECONDS..=MAX_SECONDS) {
            let time = Time::from_unix_seconds(seconds);
            prop_assert_eq!(time.to_string().parse::<Time>(), Ok(time));
        }

        #[test]
        fn the_order_is_that_of_the_texts(a in MIN_SECONDS..=MAX_SECONDS, b in MIN_SECONDS..=MAX_SECONDS) {
            let (a, b) = (Time::from_unix_seconds(a), Time::from_unix_seconds(b));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }
    }
}
