//! Timestamps and durations.

use crate::scalar::Duration;
use jiff::{
    civil::DateTime,
    tz::{Offset, TimeZone, TimeZoneDatabase},
};

use super::{Table, duration, text, timestamp};
use crate::expression::{
    budget::Budget,
    fault::Fault,
    value::{Timestamp, Value},
};

const SECOND: i128 = 1_000_000_000;

/// What it costs to find a time zone by name.
const ZONE_STEPS: usize = 100;

/// The two lines of each part of a date: in UTC, and in a time zone.
macro_rules! parts {
    ($($name:literal: $part:expr),* $(,)?) => {
        &[
            $(
                (concat!("(timestamp).", $name, "() -> int"), |args, _| {
                    part(&args[0], &TimeZone::UTC, $part)
                }),
                (concat!("(timestamp).", $name, "(string) -> int"), |args, budget| {
                    part(&args[0], &zone(text(&args[1])?, budget)?, $part)
                }),
            )*
            ("(duration).getHours() -> int", |args, _| whole(&args[0], 3600 * SECOND)),
            ("(duration).getMinutes() -> int", |args, _| whole(&args[0], 60 * SECOND)),
            ("(duration).getSeconds() -> int", |args, _| whole(&args[0], SECOND)),
            ("(duration).getMilliseconds() -> int", |args, _| {
                Ok(Value::Int(duration(&args[0])?.as_nanos() % 1_000_000_000 / 1_000_000))
            }),
        ]
    };
}

pub(super) const TABLE: Table = parts![
    "getFullYear": |at: DateTime| i64::from(at.year()),
    "getMonth": |at: DateTime| i64::from(at.month()) - 1,
    "getDayOfYear": |at: DateTime| i64::from(at.day_of_year()) - 1,
    "getDayOfMonth": |at: DateTime| i64::from(at.day()) - 1,
    "getDate": |at: DateTime| i64::from(at.day()),
    "getDayOfWeek": |at: DateTime| i64::from(at.weekday().to_sunday_zero_offset()),
    "getHours": |at: DateTime| i64::from(at.hour()),
    "getMinutes": |at: DateTime| i64::from(at.minute()),
    "getSeconds": |at: DateTime| i64::from(at.second()),
    "getMilliseconds": |at: DateTime| i64::from(at.subsec_nanosecond()) / 1_000_000,
];

/// A part of a date, as the functions of the language count it.
fn part(time: &Value, zone: &TimeZone, part: fn(DateTime) -> i64) -> Result<Value, Fault> {
    Ok(Value::Int(part(timestamp(time)?.in_zone(zone))))
}

/// How many whole units a duration has.
fn whole(value: &Value, unit: i128) -> Result<Value, Fault> {
    Ok(Value::Int((i128::from(duration(value)?.as_nanos()) / unit) as i64))
}

/// A time zone by its name, or by its difference to UTC: `-02:30`, `02:00`.
fn zone(name: &str, budget: &mut Budget) -> Result<TimeZone, Fault> {
    let unknown = || Fault::invalid(format!("unknown time zone {name:?}"));
    if let Some((hours, minutes)) = name.split_once(':') {
        let (sign, hours) = match hours.strip_prefix('-') {
            Some(hours) => (-1, hours),
            None => (1, hours.strip_prefix('+').unwrap_or(hours)),
        };
        let number = |text: &str| {
            let is_number = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse::<i32>().ok()).flatten()
        };
        let seconds = number(hours).zip(number(minutes)).map(|(hours, minutes)| hours * 3600 + minutes * 60);
        let offset = seconds.and_then(|seconds| Offset::from_seconds(sign * seconds).ok());
        return offset.map(TimeZone::fixed).ok_or_else(unknown);
    }
    budget.spend(ZONE_STEPS)?;
    TimeZoneDatabase::bundled().get(name).map_err(|_| unknown())
}

/// A timestamp as RFC 3339 writes it. What is finer than a nanosecond is dropped.
pub(super) fn read_timestamp(text: &str) -> Result<Value, Fault> {
    let nanos = if has_rfc3339_shape(text.as_bytes()) { rfc3339_nanos(text) } else { None };
    nanos.ok_or_else(|| Fault::invalid(format!("{text:?} is no timestamp"))).and_then(of_nanos)
}

/// The nanoseconds since 1970, where the text has the right shape.
fn rfc3339_nanos(text: &str) -> Option<i128> {
    let local: DateTime = text[..19].parse().ok()?;
    let zone = text.len() - if text.ends_with('Z') { 1 } else { 6 };
    let fraction = text[19..zone].trim_start_matches('.');
    let fraction = format!("{:0<9}", &fraction[..fraction.len().min(9)]);
    let mut nanos = Timestamp::nanos_of(local) + fraction.parse::<i128>().ok()?;
    if let Some((hours, minutes)) = text[zone..].split_once(':') {
        let (hours, minutes) = (hours.parse::<i128>().ok()?, minutes.parse::<i128>().ok()?);
        if hours.abs() > 23 || minutes > 59 {
            return None;
        }
        let minutes = hours.abs() * 60 + minutes;
        nanos -= if text[zone..].starts_with('-') { -minutes } else { minutes } * 60 * SECOND;
    }
    Some(nanos)
}

/// `jiff` reads other forms too: this looks at the places of digits and signs, and leaves the date to it.
fn has_rfc3339_shape(text: &[u8]) -> bool {
    let Some((date, rest)) = text.split_at_checked(19) else { return false };
    let matches = |text: &[u8], shape: &[u8]| {
        let fits = |(byte, wanted): (&u8, &u8)| match wanted {
            b'0' => byte.is_ascii_digit(),
            _ => byte == wanted,
        };
        text.len() == shape.len() && text.iter().zip(shape).all(fits)
    };
    let zone = match rest.strip_prefix(b".") {
        Some(fraction) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            &fraction[digits..]
        }
        None => rest,
    };
    let is_whole_minute = date[17..] != *b"60";
    matches(date, b"0000-00-00T00:00:00")
        && is_whole_minute
        && (zone == b"Z" || matches(zone, b"+00:00") || matches(zone, b"-00:00"))
}

/// Seconds since 1970.
pub(super) fn from_seconds(seconds: i64) -> Result<Value, Fault> {
    of_nanos(i128::from(seconds) * SECOND)
}

/// A timestamp, so many nanoseconds later.
pub(super) fn moved(timestamp: Timestamp, nanos: i128) -> Result<Value, Fault> {
    of_nanos(timestamp.as_nanos() + nanos)
}

/// Nanoseconds since 1970.
fn of_nanos(nanos: i128) -> Result<Value, Fault> {
    Timestamp::from_nanos(nanos).map(Value::Timestamp).ok_or(Fault::Overflow("timestamp"))
}

/// A duration of so many nanoseconds.
pub(super) fn length(nanos: i128) -> Result<Value, Fault> {
    let nanos = i64::try_from(nanos).map_err(|_| Fault::Overflow("duration"))?;
    Ok(Value::Duration(Duration::from_nanos(nanos)))
}

/// A duration in seconds: `90s`, `1.5s`.
pub(super) fn seconds_text(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    let sign = if nanos < 0 { "-" } else { "" };
    let (whole, rest) = (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    let text = format!("{sign}{whole}.{rest:09}");
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::has_rfc3339_shape;

    #[test]
    fn only_rfc3339_is_read() {
        for (text, is_right) in [
            ("2009-02-13T23:31:30Z", true),
            ("2009-02-13T23:31:30.5+02:00", true),
            ("2009-02-13T23:31:30", false),
            ("2009-02-13 23:31:30Z", false),
            ("2009-02-13T23:31:60Z", false),
            ("2009-02-13T23:31:30.Z", false),
            ("2009-02-13T23:31:30Z[UTC]", false),
            ("20090213T233130Z", false),
            ("+02009-02-13T23:31:30Z", false),
            ("", false),
        ] {
            assert_eq!(has_rfc3339_shape(text.as_bytes()), is_right, "{text}");
        }
    }
}
