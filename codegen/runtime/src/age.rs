//! How long something has been, as people read it.

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// How long something has been, in one or two units: `90s`, `5m30s`, `3h`, `2d4h`, `400d`, `3y200d`. Clocks
/// may differ by a second; times further in the future are `<invalid>`.
pub fn age_text(seconds: i64) -> String {
    // Up to when a span is told in two units, in one, and which.
    let (unit, name, rest) = match seconds {
        i64::MIN..-1 => return "<invalid>".to_owned(),
        -1..0 => return "0s".to_owned(),
        seconds if seconds < 2 * MINUTE => (1, "s", None),
        seconds if seconds < 10 * MINUTE => (MINUTE, "m", Some((1, "s"))),
        seconds if seconds < 3 * HOUR => (MINUTE, "m", None),
        seconds if seconds < 8 * HOUR => (HOUR, "h", Some((MINUTE, "m"))),
        seconds if seconds < 2 * DAY => (HOUR, "h", None),
        seconds if seconds < 8 * DAY => (DAY, "d", Some((HOUR, "h"))),
        seconds if seconds < 2 * YEAR => (DAY, "d", None),
        seconds if seconds < 8 * YEAR => (YEAR, "y", Some((DAY, "d"))),
        _ => (YEAR, "y", None),
    };
    let first = format!("{}{name}", seconds / unit);
    match rest.map(|(smaller, name)| (seconds % unit / smaller, name)) {
        Some((count, name)) if count > 0 => format!("{first}{count}{name}"),
        _ => first,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ages_are_told_in_one_or_two_units() {
        let cases = [
            (i64::MIN, "<invalid>"),
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (600, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (8 * HOUR - 60, "7h59m"),
            (8 * HOUR, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (3 * DAY + 4 * HOUR, "3d4h"),
            (8 * DAY, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (3 * YEAR + 5 * DAY, "3y5d"),
            (8 * YEAR, "8y"),
            (i64::MAX, "292471208677y"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(age_text(seconds), expected, "{seconds}");
        }
    }

    proptest! {
        #[test]
        fn an_age_never_claims_more_than_has_passed(seconds in 0..(20 * YEAR)) {
            let text = age_text(seconds);
            let told: i64 = text
                .split_inclusive(|ch: char| ch.is_alphabetic())
                .map(|part| {
                    let (count, unit) = part.split_at(part.len() - 1);
                    let unit = match unit { "s" => 1, "m" => MINUTE, "h" => HOUR, "d" => DAY, _ => YEAR };
                    count.parse::<i64>().unwrap() * unit
                })
                .sum();
            prop_assert!(told <= seconds && seconds - told < seconds / 2 + 60, "{text} for {seconds}");
        }
    }
}
