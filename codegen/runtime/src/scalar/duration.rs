//! A length of time, as people write it: `1h30m0s`.

use std::{
    fmt::{self, Debug, Display, Write as _},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ScalarError, TextVisitor};
use crate::field_error::Shown;

/// Nanoseconds of each unit. `μ` (Greek letter) and `µ` (sign) are both in use for micro.
const UNITS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];
const SECOND: u64 = 1_000_000_000;

/// A signed length of time in nanoseconds, at most about 292 years.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration {
    nanos: i64,
}

impl Duration {
    /// From nanoseconds.
    pub const fn from_nanos(nanos: i64) -> Self {
        Duration { nanos }
    }

    /// All of it, in nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.nanos
    }

    /// For clocks and timers; nothing for a negative duration.
    pub fn to_std(self) -> Option<std::time::Duration> {
        u64::try_from(self.nanos).ok().map(std::time::Duration::from_nanos)
    }
}

impl FromStr for Duration {
    type Err = ScalarError;

    /// A sign and a row of decimal numbers, each with a unit, which are added up; or `0`. What is finer than
    /// a nanosecond is dropped from each number.
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let invalid = || ScalarError::Duration(text.to_owned());
        let (negative, mut rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        if rest == "0" {
            return Ok(Duration::default());
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut nanos = 0_u64;
        while !rest.is_empty() {
            let (whole, after) = split_where(rest, |ch| !ch.is_ascii_digit());
            let (fraction, after) = match after.strip_prefix('.') {
                Some(after) => split_where(after, |ch| !ch.is_ascii_digit()),
                None => ("", after),
            };
            if whole.is_empty() && fraction.is_empty() {
                return Err(invalid());
            }
            let (name, after) = split_where(after, |ch| ch == '.' || ch.is_ascii_digit());
            if name.is_empty() {
                return Err(ScalarError::DurationUnitMissing(text.to_owned()));
            }
            let unit =
                UNITS.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit).ok_or_else(|| {
                    ScalarError::DurationUnitUnknown { unit: name.to_owned(), text: text.to_owned() }
                })?;
            nanos = in_nanos(whole, fraction, unit)
                .and_then(|part| nanos.checked_add(part))
                .ok_or_else(invalid)?;
            rest = after;
        }
        let signed =
            if negative { 0_i64.checked_sub_unsigned(nanos) } else { 0_i64.checked_add_unsigned(nanos) };
        signed.map(Duration::from_nanos).ok_or_else(invalid)
    }
}

/// The nanoseconds of one number with its unit.
fn in_nanos(whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // From the last digit to the first, so that no digit is lost to rounding: dropping a remainder on the way
    // changes nothing in the whole nanoseconds.
    let fraction = fraction.bytes().rev().fold(0, |sum, digit| (u64::from(digit - b'0') * unit + sum) / 10);
    whole.checked_mul(unit)?.checked_add(fraction)
}

fn split_where(text: &str, stop: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(stop).unwrap_or(text.len()))
}

impl Display for Duration {
    /// Hours, minutes and seconds from one second on, else one number in the largest unit that is whole.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.nanos.unsigned_abs();
        if self.nanos < 0 {
            out.write_char('-')?;
        }
        match nanos {
            0 => return out.write_str("0s"),
            1..1_000 => return write!(out, "{nanos}ns"),
            1_000..1_000_000 => return write_decimal(out, nanos, 1_000, "µs"),
            1_000_000..SECOND => return write_decimal(out, nanos, 1_000_000, "ms"),
            _ => {}
        }
        let minutes = nanos / (60 * SECOND);
        if minutes >= 60 {
            write!(out, "{}h", minutes / 60)?;
        }
        if minutes > 0 {
            write!(out, "{}m", minutes % 60)?;
        }
        write_decimal(out, nanos % (60 * SECOND), SECOND, "s")
    }
}

/// `nanos` in a unit of that many nanoseconds, without zeros at the end of the fraction.
fn write_decimal(out: &mut fmt::Formatter<'_>, nanos: u64, unit: u64, name: &str) -> fmt::Result {
    write!(out, "{}", nanos / unit)?;
    if !nanos.is_multiple_of(unit) {
        let digits = unit.ilog10() as usize;
        let fraction = format!("{:0digits$}", nanos % unit);
        write!(out, ".{}", fraction.trim_end_matches('0'))?;
    }
    out.write_str(name)
}

impl Debug for Duration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Duration({self})")
    }
}

impl Shown for Duration {
    fn shown(&self) -> String {
        self.to_string().shown()
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor =
            TextVisitor { expecting: "a duration such as \"1h30m\"", parse: Duration::from_str, null: None };
        deserializer.deserialize_str(visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn reads_numbers_with_units() {
        let table = [
            ("0", 0, "0s"),
            ("-0", 0, "0s"),
            ("0h", 0, "0s"),
            ("1h", 3_600_000_000_000, "1h0m0s"),
            ("1h30m", 5_400_000_000_000, "1h30m0s"),
            ("1.5h", 5_400_000_000_000, "1h30m0s"),
            ("90s", 90_000_000_000, "1m30s"),
            ("300ms", 300_000_000, "300ms"),
            ("1500us", 1_500_000, "1.5ms"),
            ("1µs", 1_000, "1µs"),
            ("1μs", 1_000, "1µs"),
            ("-1.5s", -1_500_000_000, "-1.5s"),
            ("+5s", 5_000_000_000, "5s"),
            (".5s", 500_000_000, "500ms"),
            ("5.s", 5_000_000_000, "5s"),
            ("1h1h", 7_200_000_000_000, "2h0m0s"),
            ("0.1ns", 0, "0s"),
            ("1.0000000001s", 1_000_000_000, "1s"),
            ("0.830103483285477580700h", 2_988_372_539_827, "49m48.372539827s"),
            ("9223372036854775807ns", i64::MAX, "2562047h47m16.854775807s"),
            ("-9223372036854775808ns", i64::MIN, "-2562047h47m16.854775808s"),
        ];
        for (text, nanos, written) in table {
            let duration: Duration = serde_json::from_value(json!(text)).unwrap();
            assert_eq!(duration.as_nanos(), nanos, "{text}");
            assert_eq!(serde_json::to_value(duration).unwrap(), json!(written), "{text}");
            assert_eq!(duration.shown(), format!("\"{written}\""));
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let table = [
            ("", r#"time: invalid duration """#),
            ("-", r#"time: invalid duration "-""#),
            ("s", r#"time: invalid duration "s""#),
            (".s", r#"time: invalid duration ".s""#),
            ("--1s", r#"time: invalid duration "--1s""#),
            ("é", r#"time: invalid duration "\xc3\xa9""#),
            ("a\tb\"", r#"time: invalid duration "a\x09b\"""#),
            ("1é", r#"time: unknown unit "\xc3\xa9" in duration "1\xc3\xa9""#),
            ("9223372036854775808ns", r#"time: invalid duration "9223372036854775808ns""#),
            ("3000000h", r#"time: invalid duration "3000000h""#),
            ("99999999999999999999s", r#"time: invalid duration "99999999999999999999s""#),
            ("1", r#"time: missing unit in duration "1""#),
            ("1h2", r#"time: missing unit in duration "1h2""#),
            ("1x", r#"time: unknown unit "x" in duration "1x""#),
            ("1 s", r#"time: unknown unit " s" in duration "1 s""#),
            ("1e3s", r#"time: unknown unit "e" in duration "1e3s""#),
            ("1m-1s", r#"time: unknown unit "m-" in duration "1m-1s""#),
        ];
        for (text, error) in table {
            assert_eq!(text.parse::<Duration>().unwrap_err().to_string(), error);
        }
        for wire in [json!(null), json!(5)] {
            assert!(serde_json::from_value::<Duration>(wire).is_err());
        }
    }

    #[test]
    fn for_timers() {
        assert_eq!(Duration::from_nanos(1_500).to_std(), Some(std::time::Duration::from_nanos(1_500)));
        assert_eq!(Duration::from_nanos(-1).to_std(), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(nanos: i64, shift in 0..64_u32) {
            let duration = Duration::from_nanos(nanos >> shift);
            prop_assert_eq!(duration.to_string().parse::<Duration>(), Ok(duration));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[-+]?([0-9]{0,20}[.]?[0-9]{0,25}(ns|us|µs|ms|s|m|h|x)?){0,4}") {
            if let Ok(duration) = text.parse::<Duration>() {
                prop_assert_eq!(duration.to_string().parse::<Duration>(), Ok(duration));
            }
        }
    }
}
