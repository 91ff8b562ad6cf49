//! Query parameters: decoding, and the rules for numbers and booleans.

use std::{
    num::{IntErrorKind, ParseIntError},
    time::Duration,
};

use orch_registry::error::{ApiError, Result};
use orch_runtime::{field_error::Shown as _, scalar};
use percent_encoding::percent_decode_str;

/// The parameters of one request, decoded, in their order. Unknown ones are kept and ignored.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Reads the part of a URL behind `?`. As in the reference, a pair with a semicolon, or with a percent
    /// sign that begins no escape, does not count.
    pub fn parse(text: Option<&str>) -> Self {
        let pairs = text
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty() && !pair.contains(';') && has_whole_escapes(pair))
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decode(name), decode(value))
            })
            .collect();
        Query { pairs }
    }

    /// The first value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The first value of a parameter; empty where it is absent.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// Every value of a parameter.
    pub fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        self.pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A boolean: present with any value but `0` and `false` (in any case) is true, the empty value too.
    pub fn flag(&self, name: &str) -> bool {
        self.optional_flag(name).unwrap_or(false)
    }

    /// Like [`flag`](Query::flag), but `None` where it is absent.
    pub fn optional_flag(&self, name: &str) -> Option<bool> {
        self.get(name).map(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// A boolean of which only a few spellings count: what is neither true nor false is false.
    pub fn strict_flag(&self, name: &str) -> Option<bool> {
        self.get(name).map(|value| matches!(value, "1" | "t" | "T" | "TRUE" | "true" | "True"))
    }

    /// An integer, if there is one.
    ///
    /// # Errors
    /// 400 where the value is not an integer of 64 bits; an empty one is not.
    pub fn integer(&self, name: &str) -> Result<Option<i64>> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => value.parse().map(Some).map_err(|error: ParseIntError| {
                let fault = match error.kind() {
                    IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
                    _ => "invalid syntax",
                };
                ApiError::BadRequest(format!("strconv.ParseInt: parsing {}: {fault}", value.shown()))
            }),
        }
    }

    /// `timeout`: how long the client waits for the answer; `None` if it is absent, or 0 or less.
    ///
    /// # Errors
    /// 400 where it is not a duration.
    pub fn timeout(&self) -> Result<Option<Duration>> {
        let text = self.text("timeout");
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse::<scalar::Duration>() {
            Ok(timeout) => Ok(timeout.to_std().filter(|timeout| !timeout.is_zero())),
            Err(error) => {
                Err(ApiError::BadRequest(format!("invalid timeout specified in the request URL - {error}")))
            }
        }
    }
}

/// Whether every percent sign begins an escape.
fn has_whole_escapes(text: &str) -> bool {
    let is_hex = |byte: &u8| byte.is_ascii_hexdigit();
    text.split('%')
        .skip(1)
        .all(|rest| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(is_hex)))
}

fn decode(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::Query;

    #[test]
    fn booleans_have_many_spellings() {
        for (query, expected) in [
            ("", None),
            ("watch", Some(true)),
            ("watch=", Some(true)),
            ("watch=1", Some(true)),
            ("watch=maybe", Some(true)),
            ("watch=0", Some(false)),
            ("watch=False", Some(false)),
        ] {
            assert_eq!(Query::parse(Some(query)).optional_flag("watch"), expected, "{query}");
        }
    }

    #[test]
    fn a_client_says_how_long_it_waits() {
        let seconds =
            |text: &str| Query::parse(Some(text)).timeout().map(|time| time.map(|time| time.as_secs()));
        for (query, expected) in [
            ("", None),
            ("timeout=", None),
            ("timeout=32s", Some(32)),
            ("timeout=1m30s", Some(90)),
            ("timeout=0", None),
            ("timeout=0s", None),
            ("timeout=-5s", None),
        ] {
            assert_eq!(seconds(query), Ok(expected), "{query}");
        }
        for query in ["timeout=x", "timeout=5", "timeout=5y"] {
            assert!(seconds(query).is_err(), "{query}");
        }
    }

    #[test]
    fn values_are_decoded() {
        let query = Query::parse(Some("labelSelector=a%3Db%2Cc+in+%28d%29&x=1&x=2"));
        assert_eq!(query.get("labelSelector"), Some("a=b,c in (d)"));
        assert_eq!(query.all("x").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(query.integer("x"), Ok(Some(1)));
        for bad in ["limit=x", "limit=", "limit", "limit=1.0", "limit=9223372036854775808"] {
            assert!(Query::parse(Some(bad)).integer("limit").is_err(), "{bad}");
        }
        assert_eq!(Query::parse(Some("limit=-1")).integer("limit"), Ok(Some(-1)));
        assert_eq!(Query::parse(None).integer("limit"), Ok(None));
    }
}
