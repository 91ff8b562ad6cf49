//! Which plain scalars are read as something other than text in YAML 1.1 or 1.2: words, numbers, times.

/// Words that are booleans, null or special numbers.
const WORDS: &[&str] = &[
    "", "~", "null", "Null", "NULL", "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON",
    "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", ".nan", ".NaN", ".NAN",
    ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
];

/// Whether a text without quotes is read as something other than this text.
pub(super) fn means_something_else(text: &str) -> bool {
    if WORDS.contains(&text) {
        return true;
    }
    match text.as_bytes()[0] {
        b'.' => is_decimal(text),
        b'+' | b'-' | b'0'..=b'9' => {
            let plain = text.replace('_', "");
            is_time(text) || is_integer(&plain) || is_decimal(&plain) || is_base_60(text)
        }
        _ => false,
    }
}

/// An integer: `12`, `0x1F`, `0o17`, `017`, `-0b101`, within 64 bits.
fn is_integer(text: &str) -> bool {
    let (is_signed, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let prefix = digits.get(..2).unwrap_or_default().to_ascii_lowercase();
    let (radix, digits) = match prefix.as_str() {
        "0x" => (16, &digits[2..]),
        "0o" => (8, &digits[2..]),
        "0b" => (2, &digits[2..]),
        _ => (10, digits),
    };
    if !digits.starts_with(|ch: char| ch.is_ascii_alphanumeric()) {
        return false;
    }
    match u64::from_str_radix(digits, radix) {
        Ok(value) => {
            !is_signed || i64::try_from(value).is_ok() || (text.starts_with('-') && value == 1 << 63)
        }
        Err(_) => false,
    }
}

/// A number with a fraction or an exponent: `1.5`, `.5`, `1.`, `1e3`, `-1.5E-3`, within the range of a
/// double.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_made_of_digits = digits.starts_with(|ch: char| ch.is_ascii_digit() || ch == '.');
    is_made_of_digits && digits.parse::<f64>().is_ok_and(f64::is_finite)
}

/// A number with base 60 in YAML 1.1: `190:20:30`.
fn is_base_60(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut parts = whole.split(':');
    let first = parts.next().unwrap_or_default();
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let is_sixtieth = |part: &str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [tens, digit] => matches!(tens, b'0'..=b'5') && digit.is_ascii_digit(),
        _ => false,
    };
    let rest: Vec<&str> = parts.collect();
    first.starts_with(|ch: char| ch.is_ascii_digit())
        && is_number(first)
        && is_number(fraction)
        && !rest.is_empty()
        && rest.into_iter().all(is_sixtieth)
}

/// A date or time: `2026-11-20`, `2026-11-20 15:04:05.5`, `2026-11-20T15:04:05Z`. Its parts may have one
/// digit.
fn is_time(text: &str) -> bool {
    let (date, time) = match text.find(['T', 't', ' ']) {
        None => (text, None),
        Some(at) => (&text[..at], Some((&text[at..=at], &text[at + 1..]))),
    };
    is_date(date)
        && match time {
            None => true,
            Some((" ", clock)) => is_clock(clock),
            Some((_, clock)) => without_zone(clock).is_some_and(is_clock),
        }
}

fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut part = || parts.next().unwrap_or_default();
    let (year, month, day) = (part(), part(), part());
    if year.len() != 4 {
        return false;
    }
    let (Some(year), Some(month), Some(day)) = (digits(year), short(month), short(day)) else { return false };
    let days = match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_clock(text: &str) -> bool {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let parts: Vec<Option<u32>> = whole.split(':').map(short).collect();
    matches!(parts[..], [Some(0..=23), Some(0..=59), Some(0..=59)])
        && fraction.is_none_or(|fraction| digits(fraction).is_some())
}

/// The time of day, with `Z` or an offset such as `+01:30`.
fn without_zone(text: &str) -> Option<&str> {
    if let Some(clock) = text.strip_suffix('Z') {
        return Some(clock);
    }
    let (clock, zone) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let (hours, minutes) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
    let is_zone = hours.len() == 2 && digits(hours)? <= 24 && digits(minutes)? < 60;
    is_zone.then_some(clock)
}

/// One or two digits.
fn short(text: &str) -> Option<u32> {
    digits(text).filter(|_| text.len() <= 2)
}

/// The value of the first nine digits of a text that has only digits.
fn digits(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.get(..text.len().min(9))?.parse().ok())?
}
