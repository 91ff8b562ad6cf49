//! How far along a version is, and which of several versions is preferred.

use std::cmp::Reverse;

/// From less to more stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stability {
    /// `v1alpha1`: may change and go at any time.
    Alpha,
    /// `v1beta1`: goes after a time.
    Beta,
    /// `v1`: stays.
    Stable,
}

impl Stability {
    /// That of a version.
    pub fn of(version: &str) -> Self {
        if version.contains("alpha") {
            Stability::Alpha
        } else if version.contains("beta") {
            Stability::Beta
        } else {
            Stability::Stable
        }
    }

    /// As people say it.
    pub fn word(self) -> &'static str {
        match self {
            Stability::Alpha => "alpha",
            Stability::Beta => "beta",
            Stability::Stable => "stable",
        }
    }
}

/// Sorts versions from the preferred one on: the most stable first, then the highest numbers.
pub fn preference(version: &str) -> impl Ord + use<> {
    let numbers: Vec<u64> = version
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap_or(u64::MAX))
        .collect();
    Reverse((Stability::of(version), numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_are_preferred_then_high_ones() {
        let mut versions = ["v1alpha1", "v2beta1", "v1", "v1beta2", "v10", "v2", "v1beta10"];
        versions.sort_by_key(|version| preference(version));
        assert_eq!(versions, ["v10", "v2", "v1", "v2beta1", "v1beta10", "v1beta2", "v1alpha1"]);
    }
}
