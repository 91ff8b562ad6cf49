//! Reading and writing RFC 3339, as strictly as clients may rely on: the shape is checked here, byte by byte;
//! the calendar is left to `jiff`, whose own parser accepts many other forms.

use std::fmt;

use jiff::{
    SignedDuration,
    civil::{Date, DateTime, Time},
};

use super::ScalarError;

/// 0000-01-01T00:00:00Z in seconds since 1970: the first time that can be written.
pub(super) const MIN_SECONDS: i64 = -62_167_219_200;
/// 9999-12-31T23:59:59Z in seconds since 1970: the last time that can be written.
pub(super) const MAX_SECONDS: i64 = 253_402_300_799;
/// 0001-01-01T00:00:00Z in seconds since 1970: the zero time, which is written as `null`.
pub(super) const ZERO_SECONDS: i64 = -62_135_596_800;

const SECONDS_OF_DAY: i64 = 86_400;

const EPOCH: Date = Date::constant(1970, 1, 1);

/// What the seconds of a text look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fraction {
    /// Whole, or with any number of digits after a dot.
    Any,
    /// Always with six digits after a dot.
    Six,
}

impl Fraction {
    /// The form of the text, as an example; error messages name it.
    fn layout(self) -> &'static str {
        match self {
            Fraction::Any => "2006-01-02T15:04:05Z07:00",
            Fraction::Six => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// Reads a text as seconds since 1970 and microseconds after those; finer digits are dropped.
pub(super) fn parse(text: &str, fraction: Fraction) -> Result<(i64, u32), ScalarError> {
    let mut scan = Scan { text, at: 0, fraction };
    let year = scan.number("2006", None)?;
    scan.symbol("-")?;
    let month = scan.number("01", Some(("month", 1..=12)))?;
    scan.symbol("-")?;
    let day = scan.number("02", None)?;
    scan.symbol("T")?;
    let hour = scan.number("15", Some(("hour", 0..=23)))?;
    scan.symbol(":")?;
    let minute = scan.number("04", Some(("minute", 0..=59)))?;
    scan.symbol(":")?;
    let second = scan.number("05", Some(("second", 0..=59)))?;
    let micros = scan.micros()?;
    let offset = scan.offset()?;
    if scan.at < text.len() {
        return Err(ScalarError::TimeExtra { text: text.to_owned(), rest: scan.rest().to_owned() });
    }
    let local = DateTime::new(
        i16::try_from(year).expect("four digits"),
        month as i8,
        i8::try_from(day).map_err(|_| scan.out_of_range("day"))?,
        hour as i8,
        minute as i8,
        second as i8,
        0,
    )
    .map_err(|_| scan.out_of_range("day"))?;
    let seconds = local.duration_since(EPOCH.to_datetime(Time::midnight())).as_secs() - offset;
    if (MIN_SECONDS..=MAX_SECONDS).contains(&seconds) {
        Ok((seconds, micros))
    } else {
        Err(scan.out_of_range("year"))
    }
}

/// A written time as errors show it, in the form of the reference: `2026-11-20 15:14:38.5 +0000 UTC`.
pub(super) fn shown(written: &str) -> String {
    let plain = written.trim_end_matches('Z').replacen('T', " ", 1);
    let plain = if plain.contains('.') { plain.trim_end_matches('0').trim_end_matches('.') } else { &plain };
    format!("{plain} +0000 UTC")
}

/// Writes a time in UTC, with six digits of fraction if there are microseconds to write. `seconds` is within
/// [`MIN_SECONDS`] and [`MAX_SECONDS`].
pub(super) fn write(out: &mut fmt::Formatter<'_>, seconds: i64, micros: Option<u32>) -> fmt::Result {
    // By hand, because every write has several times to write and formatting numbers one by one shows in
    // profiles.
    let mut text = *b"0000-00-00T00:00:00.000000Z";
    let days = SignedDuration::from_hours(24 * seconds.div_euclid(SECONDS_OF_DAY));
    let date = EPOCH.checked_add(days).map_err(|_| fmt::Error)?;
    set(&mut text[..4], date.year().unsigned_abs().into());
    set(&mut text[5..7], date.month().unsigned_abs().into());
    set(&mut text[8..10], date.day().unsigned_abs().into());
    let second = seconds.rem_euclid(SECONDS_OF_DAY) as u32;
    set(&mut text[11..13], second / 3600);
    set(&mut text[14..16], second / 60 % 60);
    set(&mut text[17..19], second % 60);
    let text = if let Some(micros) = micros {
        set(&mut text[20..26], micros);
        &text[..]
    } else {
        text[19] = b'Z';
        &text[..20]
    };
    out.write_str(std::str::from_utf8(text).map_err(|_| fmt::Error)?)
}

/// Writes a number into that many digits.
fn set(digits: &mut [u8], mut number: u32) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    fraction: Fraction,
}

impl<'t> Scan<'t> {
    /// As many digits as `form` has; the number must be in the range, if there is one to be in.
    fn number(
        &mut self,
        form: &'static str,
        range: Option<(&'static str, std::ops::RangeInclusive<u32>)>,
    ) -> Result<u32, ScalarError> {
        let number = digits(self.rest(), form.len()).ok_or_else(|| self.expected(form))?;
        if let Some((part, range)) = range
            && !range.contains(&number)
        {
            return Err(self.out_of_range(part));
        }
        self.at += form.len();
        Ok(number)
    }

    fn symbol(&mut self, symbol: &'static str) -> Result<(), ScalarError> {
        if !self.rest().starts_with(symbol) {
            return Err(self.expected(symbol));
        }
        self.at += symbol.len();
        Ok(())
    }

    fn micros(&mut self) -> Result<u32, ScalarError> {
        let fraction = self.rest().strip_prefix('.').unwrap_or_default();
        if self.fraction == Fraction::Six {
            let micros = digits(fraction, 6).ok_or_else(|| self.expected(".000000"))?;
            self.at += ".000000".len();
            return Ok(micros);
        }
        // A dot without digits stays where it is, and is refused as an offset.
        let len = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if len > 0 {
            self.at += 1 + len;
        }
        let first_six = fraction[..len].bytes().chain(std::iter::repeat(b'0')).take(6);
        Ok(first_six.fold(0, |micros, digit| micros * 10 + u32::from(digit - b'0')))
    }

    /// `Z`, or the distance from UTC in seconds, positive in the east.
    fn offset(&mut self) -> Result<i64, ScalarError> {
        let sign = match self.rest().bytes().next() {
            Some(b'Z') => {
                self.at += 1;
                return Ok(0);
            }
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(self.expected("Z07:00")),
        };
        let parts = self.rest().get(1..6).and_then(|rest| rest.split_once(':'));
        let (hours, minutes) = parts
            .and_then(|(hours, minutes)| Some((exactly_two(hours)?, exactly_two(minutes)?)))
            .ok_or_else(|| self.expected("Z07:00"))?;
        if hours > 23 {
            return Err(self.out_of_range("time zone offset hour"));
        }
        if minutes > 59 {
            return Err(self.out_of_range("time zone offset minute"));
        }
        self.at += 6;
        Ok(sign * i64::from(hours * 3600 + minutes * 60))
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn expected(&self, expected: &'static str) -> ScalarError {
        ScalarError::TimeShape {
            text: self.text.to_owned(),
            layout: self.fraction.layout(),
            rest: self.rest().to_owned(),
            expected,
        }
    }

    fn out_of_range(&self, part: &'static str) -> ScalarError {
        ScalarError::TimeRange { text: self.text.to_owned(), part }
    }
}

/// The number that the first `len` bytes form, all of them digits.
fn digits(text: &str, len: usize) -> Option<u32> {
    let digits = text.as_bytes().get(..len)?;
    digits
        .iter()
        .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0')))
}

fn exactly_two(text: &str) -> Option<u32> {
    if text.len() == 2 { digits(text, 2) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: &str = "2006-01-02T15:04:05Z07:00";
    const SIX: &str = "2006-01-02T15:04:05.000000Z07:00";

    #[test]
    fn reads_offsets_and_fractions() {
        let table = [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("1970-01-01T00:00:01.5Z", 1, 500_000),
            ("1970-01-01T00:00:01.1234567891Z", 1, 123_456),
            ("1969-12-31T23:59:59.9Z", -1, 900_000),
            ("1970-01-01T01:00:00+01:00", 0, 0),
            ("1969-12-31T18:29:00-05:31", 0, 0),
            ("2020-01-01T00:00:00-00:00", 1_577_836_800, 0),
            ("2024-02-29T12:00:00Z", 1_709_208_000, 0),
            ("0001-01-01T00:00:00Z", ZERO_SECONDS, 0),
            ("0000-01-01T00:00:00Z", MIN_SECONDS, 0),
            ("9999-12-31T23:59:59.999999Z", MAX_SECONDS, 999_999),
        ];
        for (text, seconds, micros) in table {
            assert_eq!(parse(text, Fraction::Any), Ok((seconds, micros)), "{text}");
        }
        assert_eq!(parse("1970-01-01T00:00:01.000007+00:00", Fraction::Six), Ok((1, 7)));
    }

    #[test]
    fn refuses_other_shapes_with_the_words_that_clients_know() {
        let table = [
            ("", ANY, "", "2006"),
            ("2020", ANY, "", "-"),
            ("20200101T000000Z", ANY, "0101T000000Z", "-"),
            ("-001-01-01T00:00:00Z", ANY, "-001-01-01T00:00:00Z", "2006"),
            ("2020-1-01T00:00:00Z", ANY, "1-01T00:00:00Z", "01"),
            ("2020-01-01 00:00:00Z", ANY, " 00:00:00Z", "T"),
            ("2020-01-01t00:00:00Z", ANY, "t00:00:00Z", "T"),
            ("2020-01-01T0:00:00Z", ANY, "0:00:00Z", "15"),
            ("2020-01-01T00:00Z", ANY, "Z", ":"),
            ("2020-01-01T00:00:0", ANY, "0", "05"),
            ("2020-01-01T00:00:00", ANY, "", "Z07:00"),
            ("2020-01-01T00:00:00z", ANY, "z", "Z07:00"),
            ("2020-01-01T00:00:00.Z", ANY, ".Z", "Z07:00"),
            ("2020-01-01T00:00:00,5Z", ANY, ",5Z", "Z07:00"),
            ("2020-01-01T00:00:00+0100", ANY, "+0100", "Z07:00"),
            ("2020-01-01T00:00:00+1:000", ANY, "+1:000", "Z07:00"),
            ("2020-01-01T00:00:00+01", ANY, "+01", "Z07:00"),
            ("2020-01-01T00:00:00[UTC]", ANY, "[UTC]", "Z07:00"),
            ("2020-01-01T00:00:00+é1:00", ANY, "+é1:00", "Z07:00"),
            ("é", ANY, "é", "2006"),
            ("2020-01-01T00:00:00Z", SIX, "Z", ".000000"),
            ("2020-01-01T00:00:00.12345Z", SIX, ".12345Z", ".000000"),
            ("2020-01-01T00:00:00.1234567Z", SIX, "7Z", "Z07:00"),
        ];
        for (text, layout, rest, expected) in table {
            let fraction = if layout == SIX { Fraction::Six } else { Fraction::Any };
            assert_eq!(
                parse(text, fraction).unwrap_err().to_string(),
                format!("parsing time \"{text}\" as \"{layout}\": cannot parse \"{rest}\" as \"{expected}\"")
                    .replace('é', r"\xc3\xa9")
            );
        }
    }

    #[test]
    fn refuses_what_no_calendar_or_clock_has() {
        let table = [
            ("2020-00-01T00:00:00Z", "month"),
            ("2020-13-01T00:00:00Z", "month"),
            ("2020-01-00T00:00:00Z", "day"),
            ("2020-04-31T00:00:00Z", "day"),
            ("2021-02-29T00:00:00Z", "day"),
            ("2020-01-99T00:00:00Z", "day"),
            ("2020-01-01T24:00:00Z", "hour"),
            ("2020-01-01T00:60:00Z", "minute"),
            ("2020-01-01T00:00:60Z", "second"),
            ("2020-01-01T00:00:00+24:00", "time zone offset hour"),
            ("2020-01-01T00:00:00+01:60", "time zone offset minute"),
            ("9999-12-31T23:59:59-00:01", "year"),
            ("0000-01-01T00:00:00+00:01", "year"),
        ];
        for (text, part) in table {
            assert_eq!(
                parse(text, Fraction::Any).unwrap_err().to_string(),
                format!("parsing time \"{text}\": {part} out of range")
            );
        }
        assert_eq!(
            parse("2020-01-01T00:00:00Zx", Fraction::Any).unwrap_err().to_string(),
            "parsing time \"2020-01-01T00:00:00Zx\": extra text: \"x\""
        );
    }
}
