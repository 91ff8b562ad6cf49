//! `lifecycle` of a kind.

use std::{fmt, str::FromStr};

use orch_runtime::release::Release;

/// Since when, until when.
#[derive(Debug, Default)]
pub struct Lifecycle {
    /// First release with it.
    pub introduced: Option<Release>,
    /// First release that warns.
    pub deprecated: Option<Release>,
    /// First release without it.
    pub removed: Option<Release>,
    /// What to use instead.
    pub replacement: Option<Replacement>,
}

/// The kind to use instead of another one: `example.orch.io/v2 Widget`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Empty for the core group.
    pub group: String,
    /// `v2`.
    pub version: String,
    /// `Widget`.
    pub kind: String,
}

impl FromStr for Replacement {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (api_version, kind) = text.split_once(' ').ok_or(())?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_word = |text: &str| !text.is_empty() && !text.contains([' ', '/']);
        let is_kind = is_word(version) && is_word(kind) && (is_word(group) || !api_version.contains('/'));
        let [group, version, kind] = [group, version, kind].map(str::to_owned);
        is_kind.then_some(Replacement { group, version, kind }).ok_or(())
    }
}

impl fmt::Display for Replacement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Replacement { group, version, kind } = self;
        let slash = if group.is_empty() { "" } else { "/" };
        write!(out, "{group}{slash}{version} {kind}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_is_a_kind_with_its_version() {
        for (text, group, version) in
            [("example.orch.io/v2 Widget", "example.orch.io", "v2"), ("v1 Widget", "", "v1")]
        {
            let replacement: Replacement = text.parse().unwrap();
            let (group, version, kind) = (group.to_owned(), version.to_owned(), "Widget".to_owned());
            assert_eq!(replacement, Replacement { group, version, kind });
            assert_eq!(replacement.to_string(), text);
        }
        for text in
            ["", "Widget", "example.orch.io/v2", "/v2 Widget", "a/b/v2 Widget", "v2  Widget", "v2 Widget s"]
        {
            assert!(text.parse::<Replacement>().is_err(), "{text}");
        }
    }
}
