//! Points in time.

use std::fmt::{self, Display};

use jiff::{SignedDuration, civil::DateTime, tz::TimeZone};

/// 0001-01-01T00:00:00Z and the second after 9999-12-31T23:59:59Z, in seconds since 1970.
const FIRST_SECOND: i64 = -62_135_596_800;
const END_SECOND: i64 = 253_402_300_800;

const SECOND: i128 = 1_000_000_000;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// A point in time in the years 1 to 9999 in UTC, to the nanosecond.
///
/// (`jiff::Timestamp` ends a day earlier, so that every time zone can show it.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    seconds: i64,
    nanos: u32,
}

impl Timestamp {
    /// From nanoseconds since 1970; `None` outside of the years.
    pub fn from_nanos(nanos: i128) -> Option<Self> {
        let seconds = i64::try_from(nanos.div_euclid(SECOND)).ok()?;
        let is_in_range = (FIRST_SECOND..END_SECOND).contains(&seconds);
        is_in_range.then_some(Timestamp { seconds, nanos: nanos.rem_euclid(SECOND) as u32 })
    }

    /// Nanoseconds since 1970.
    pub fn as_nanos(self) -> i128 {
        i128::from(self.seconds) * SECOND + i128::from(self.nanos)
    }

    /// Whole seconds since 1970; before that, a second that has begun counts.
    pub fn as_seconds(self) -> i64 {
        self.seconds
    }

    /// A date and a time of day in UTC, as nanoseconds since 1970.
    pub(crate) fn nanos_of(utc: DateTime) -> i128 {
        utc.duration_since(EPOCH).as_nanos()
    }

    /// What clocks in a time zone show. At the ends of the years they stand still.
    pub(crate) fn in_zone(self, zone: &TimeZone) -> DateTime {
        let (first, last) = (jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
        let near = jiff::Timestamp::from_second(self.seconds.clamp(first, last)).unwrap_or_default();
        let local = self.seconds + i64::from(zone.to_offset(near).seconds());
        EPOCH.saturating_add(SignedDuration::new(local, self.nanos as i32))
    }
}

impl Display for Timestamp {
    /// RFC 3339 in UTC, without zeros at the end of the fraction.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let utc = self.in_zone(&TimeZone::UTC);
        write!(out, "{:04}-{:02}-{:02}", utc.year(), utc.month(), utc.day())?;
        write!(out, "T{:02}:{:02}:{:02}", utc.hour(), utc.minute(), utc.second())?;
        if self.nanos > 0 {
            let fraction = format!("{:09}", self.nanos);
            write!(out, ".{}", fraction.trim_end_matches('0'))?;
        }
        out.write_str("Z")
    }
}
