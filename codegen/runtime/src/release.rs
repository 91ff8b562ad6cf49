//! Releases of a product, by which kinds come and go.

use std::{fmt, str::FromStr};

/// A release: `1.32`. A later one is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// 1.
    pub major: u32,
    /// 32.
    pub minor: u32,
}

impl Release {
    /// For tables.
    pub const fn new(major: u32, minor: u32) -> Self {
        Release { major, minor }
    }
}

/// The text of a release is not two numbers with a dot between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a release is two numbers: 1.32")]
pub struct NoRelease;

impl FromStr for Release {
    type Err = NoRelease;

    fn from_str(text: &str) -> Result<Self, NoRelease> {
        let (major, minor) = text.split_once('.').ok_or(NoRelease)?;
        let number = |text: &str| {
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| is_plain).ok_or(NoRelease)
        };
        Ok(Release { major: number(major)?, minor: number(minor)? })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_two_numbers_in_order() {
        for (text, release) in [
            ("1.32", Some(Release::new(1, 32))),
            ("0.0", Some(Release::new(0, 0))),
            ("", None),
            ("1", None),
            ("v1.2", None),
            ("1.2.3", None),
            ("1.x", None),
            ("1.+2", None),
            ("1.99999999999", None),
        ] {
            assert_eq!(text.parse().ok(), release, "{text}");
            if let Some(release) = release {
                assert_eq!(release.to_string(), text);
            }
        }
        assert!(Release::new(1, 9) < Release::new(1, 10));
        assert!(Release::new(1, 99) < Release::new(2, 0));
    }
}
