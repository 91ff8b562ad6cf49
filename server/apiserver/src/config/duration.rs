//! Durations on the command line: `300ms`, `90s`, `5m`, `1h30m`.

use std::time::Duration;

use jiff::SignedDuration;

/// A duration of at least a millisecond.
pub fn positive(text: &str) -> Result<Duration, &'static str> {
    let duration: SignedDuration = text.parse().map_err(|_| "not a duration such as 90s, 5m or 1h30m")?;
    match Duration::try_from(duration) {
        Ok(duration) if duration >= Duration::from_millis(1) => Ok(duration),
        _ => Err("must be at least 1ms"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::positive;

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
}
