//! `releases.yaml`: the releases of a product and their dates, by which the deprecation policy counts.
//!
//! ```yaml
//! releases:
//!   "1.31": 2024-08-13
//!   "1.32": 2024-12-11
//! ```
//!
//! The last one is the release that the schema files are of.

use std::{collections::BTreeMap, fmt, path::Path, str::FromStr};

pub use orch_runtime::release::Release;

use crate::{
    diagnostic::Diagnostics,
    load::RELEASES,
    source::{self, Node},
};

/// A day: `2024-12-11`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u32,
    month: u32,
    day: u32,
}

impl FromStr for Date {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let parts: Vec<u32> = text.split('-').map_while(|part| part.parse().ok()).collect();
        let [year, month, day] = parts[..] else { return Err(()) };
        let is_day = text.len() == 10 && (1..=12).contains(&month) && (1..=31).contains(&day);
        is_day.then_some(Date { year, month, day }).ok_or(())
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Date {
    /// The same day some months later.
    fn plus_months(self, months: u32) -> Date {
        let month = self.month - 1 + months;
        Date { year: self.year + month / 12, month: month % 12 + 1, day: self.day }
    }
}

/// How long something stays: both spans have to be over, because the longer of the two counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// In months.
    pub months: u32,
    /// In minor releases.
    pub releases: u32,
}

impl fmt::Display for Period {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: u32| if count == 1 { "" } else { "s" };
        let Period { months, releases } = *self;
        write!(formatter, "{months} month{} and {releases} release{}", plural(months), plural(releases))
    }
}

/// How long a beta version lives until it is deprecated, and from then until it is removed.
pub const BETA: Period = Period { months: 9, releases: 3 };

/// A deprecation that is said to have begun before this release, and before what was said of it: with both.
pub fn backdated(
    before: Option<Release>,
    now: Option<Release>,
    current: Option<Release>,
) -> Option<(Release, Release)> {
    let (now, current) = now.zip(current)?;
    (now < current && before.is_none_or(|before| now < before)).then_some((now, current))
}

/// The releases of a product.
#[derive(Debug, Default)]
pub struct Releases {
    dates: BTreeMap<Release, Date>,
}

impl Releases {
    /// Those that a schema folder states; none where it has no such file.
    pub fn of_folder(folder: &Path, diagnostics: &mut Diagnostics) -> Self {
        let path = folder.join(RELEASES);
        if !path.exists() {
            return Releases::default();
        }
        let node = source::read(&path, diagnostics);
        node.map(|node| Releases::read(&node, diagnostics)).unwrap_or_default()
    }

    /// Reads `{releases: {"1.32": 2024-12-11}}`.
    pub fn read(node: &Node, diagnostics: &mut Diagnostics) -> Self {
        let mut dates = BTreeMap::new();
        let Some(releases) = node.get("releases") else {
            let help = "write `releases: {\"1.32\": 2024-12-11}`";
            diagnostics.error(&node.span, "the file names no releases", help).code("E0131");
            return Releases::default();
        };
        for (name, date) in releases.entries() {
            let Ok(release) = name.value.parse::<Release>() else {
                let message = format!("`{}` is not a release", name.value);
                diagnostics
                    .error(&name.span, message, "a release is two numbers in quotes: \"1.2\"")
                    .code("E0131");
                continue;
            };
            let Some(date) = date.text().and_then(|text| text.parse::<Date>().ok()) else {
                let message = format!("the date of `{release}` is none");
                diagnostics.error(&date.span, message, "write it like 2024-12-11").code("E0131");
                continue;
            };
            dates.insert(release, date);
        }
        let by_date: Vec<(&Release, &Date)> = dates.iter().collect();
        if let Some(pair) = by_date.windows(2).find(|pair| pair[0].1 > pair[1].1) {
            let message = format!("`{}` is older than `{}`", pair[1].0, pair[0].0);
            diagnostics.error(&releases.span, message, "a later release has a later date").code("E0131");
        }
        Releases { dates }
    }

    /// The release that the schema files are of.
    pub fn current(&self) -> Option<Release> {
        self.dates.keys().next_back().copied()
    }

    /// Each release with its date.
    pub fn dates(&self) -> impl Iterator<Item = (Release, Date)> {
        self.dates.iter().map(|(release, date)| (*release, *date))
    }

    /// Whether a period is over between two releases. A release that has no date yet counts by its number
    /// alone; the numbers of another major version say nothing about how many there are between.
    pub fn is_over(&self, period: Period, from: Release, to: Release) -> bool {
        let enough_releases = to.major > from.major || to.minor >= from.minor + period.releases;
        let enough_months = match (self.dates.get(&from), self.dates.get(&to)) {
            (Some(from), Some(to)) => *to >= from.plus_months(period.months),
            _ => true,
        };
        enough_releases && enough_months
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Releases {
        let dates =
            [("1.1", "2024-01-10"), ("1.2", "2024-05-10"), ("1.3", "2024-09-10"), ("1.4", "2024-10-10")];
        Releases { dates: dates.map(|(name, date)| (name.parse().unwrap(), date.parse().unwrap())).into() }
    }

    #[test]
    fn the_longer_of_both_spans_counts() {
        let is_over = |months, releases, from: &str, to: &str| {
            let period = Period { months, releases };
            known().is_over(period, from.parse().unwrap(), to.parse().unwrap())
        };
        for (months, releases, from, to, expected) in [
            (9, 3, "1.1", "1.4", true),
            // Nine months are the ninth of October and a day more.
            (9, 3, "1.2", "1.4", false),
            (4, 3, "1.1", "1.2", false),
            (5, 1, "1.1", "1.2", false),
            (4, 1, "1.1", "1.2", true),
            // Not out yet: counted in releases.
            (9, 3, "1.4", "1.7", true),
            (9, 3, "1.4", "1.6", false),
            (9, 3, "1.4", "2.0", true),
        ] {
            assert_eq!(is_over(months, releases, from, to), expected, "{months} {releases} {from} {to}");
        }
        assert_eq!(known().current(), "1.4".parse().ok());
    }

    #[test]
    fn dates_are_read() {
        for (text, good) in [("2024-12-11", true), ("2024-13-11", false), ("2024-1-1", false), ("", false)] {
            assert_eq!(text.parse::<Date>().is_ok(), good, "{text}");
        }
        let date: Date = "2024-12-11".parse().unwrap();
        assert_eq!(date.plus_months(9).to_string(), "2025-09-11");
    }
}
