//! Durations on the command line: `300ms`, `90s`, `5m`, `1h30m`.

use std::time::Duration;

use jiff::SignedDuration;

/// A duration of at least a millisecond.
pub fn positive(text: &str) -> Result<Duration, &'static str> {
    match Duration::try_from(read(text)?) {
        Ok(duration) if duration >= Duration::from_millis(1) => Ok(duration),
        _ => Err("must be at least 1ms"),
    }
}

/// The longest time that [`or_seconds`] takes.
const LONGEST: Duration = Duration::from_hours(24 * 30);

/// A duration, or a number of seconds, of at least one second and at most 30 days.
pub fn or_seconds(text: &str) -> Result<Duration, &'static str> {
    let duration = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => positive(text)?,
    };
    if (Duration::from_secs(1)..=LONGEST).contains(&duration) {
        Ok(duration)
    } else {
        Err("must be between 1s and 720h")
    }
}

/// A duration that may be zero.
pub fn any(text: &str) -> Result<Duration, &'static str> {
    Duration::try_from(read(text)?).map_err(|_| "must not be negative")
}

fn read(text: &str) -> Result<SignedDuration, &'static str> {
    text.parse().map_err(|_| "not a duration such as 90s, 5m or 1h30m")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{any, or_seconds, positive};

    #[test]
    fn some_durations_can_be_numbers_of_seconds() {
        const SIZE: Result<Duration, &str> = Err("must be between 1s and 720h");
        for (text, expected) in [
            ("1800", Ok(Duration::from_mins(30))),
            ("30m", Ok(Duration::from_mins(30))),
            ("1s", Ok(Duration::from_secs(1))),
            ("0", SIZE),
            ("999ms", SIZE),
            ("721h", SIZE),
            ("18446744073709551615", SIZE),
            ("-1", Err("not a duration such as 90s, 5m or 1h30m")),
            ("99999999999999999999", Err("not a duration such as 90s, 5m or 1h30m")),
        ] {
            assert_eq!(or_seconds(text), expected, "{text:?}");
        }
    }

    #[test]
    fn durations_are_read_as_operators_write_them() {
        const SHAPE: Result<Duration, &str> = Err("not a duration such as 90s, 5m or 1h30m");
        const SIZE: Result<Duration, &str> = Err("must be at least 1ms");
        for (text, expected) in [
            ("300ms", Ok(Duration::from_millis(300))),
            ("1.5s", Ok(Duration::from_millis(1500))),
            ("5m", Ok(Duration::from_mins(5))),
            ("5m0s", Ok(Duration::from_mins(5))),
            ("1h30m", Ok(Duration::from_mins(90))),
            ("0s", SIZE),
            ("10us", SIZE),
            ("-5m", SIZE),
            ("300", SHAPE),
            ("", SHAPE),
            ("5 parsecs", SHAPE),
            ("99999999999999999999h", SHAPE),
        ] {
            assert_eq!(positive(text), expected, "{text:?}");
        }
    }

    #[test]
    fn some_durations_may_be_zero() {
        assert_eq!(any("0s"), Ok(Duration::ZERO));
        assert_eq!(any("70s"), Ok(Duration::from_secs(70)));
        assert_eq!(any("-1s"), Err("must not be negative"));
        assert!(any("1").is_err());
    }
}
