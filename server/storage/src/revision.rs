//! The revision: one number for the whole store, one higher with every write.

use std::fmt;
use std::str::FromStr;

/// The position of a write in the store's single order of writes.
///
/// Clients see it as an opaque string (`metadata.resourceVersion`): the decimal digits of the number.
/// A store that has never been written to is at [`Revision::FIRST`], so no answer ever carries zero, which
/// clients read as "any".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(u64);

/// A text that is not a revision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a revision: {0:?}")]
pub struct InvalidRevision(String);

impl Revision {
    /// Before everything: no write has it.
    pub const ZERO: Self = Self(0);
    /// Where an empty store stands. The first write is the one after it.
    pub const FIRST: Self = Self(1);
    /// The largest revision a database can hold (its integers are signed).
    pub const MAX: Self = Self(i64::MAX as u64);

    /// The revision with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The revision of the next write.
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Revision {
    type Err = InvalidRevision;

    /// Decimal digits and nothing else: no sign, no space, at most [`Revision::MAX`].
    fn from_str(text: &str) -> Result<Self, InvalidRevision> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if digits && number <= Self::MAX.0 => Ok(Self(number)),
            _ => Err(InvalidRevision(text.chars().take(64).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_digits_only() {
        for (text, want) in [
            ("0", Some(0)),
            ("1", Some(1)),
            ("9223372036854775807", Some(i64::MAX as u64)),
            ("9223372036854775808", None),
            ("18446744073709551616", None),
            ("", None),
            ("+1", None),
            ("-1", None),
            (" 1", None),
            ("1.0", None),
            ("a", None),
        ] {
            assert_eq!(text.parse().ok(), want.map(Revision::new), "{text:?}");
        }
        assert_eq!(Revision::new(42).to_string(), "42");
    }
}
