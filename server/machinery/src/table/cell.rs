//! The cells of a row: values from the object, as people read them.

use orch_runtime::{
    Tree,
    resource_def::{ColumnDef, ColumnValue},
    scalar::Time,
};

use crate::tree::at;

/// The cells of one object. Single values stay what they are; lists and maps become `a,b` and `a=1,b=2`. What is
/// absent is an empty text in columns of text and `null` in others.
pub fn cells(columns: &[ColumnDef], tree: &Tree, now: Time) -> Vec<Tree> {
    columns.iter().map(|column| cell(column, tree, now)).collect()
}

fn cell(column: &ColumnDef, tree: &Tree, now: Time) -> Tree {
    match column.value {
        ColumnValue::Path(path) => match at(tree, path) {
            None | Some(Tree::Null) if matches!(column.column_type, "string" | "date") => Tree::from(""),
            None => Tree::Null,
            Some(value) => shown(value),
        },
        ColumnValue::Count(paths) => {
            let count: usize = paths.iter().filter_map(|path| at(tree, path)).map(entries).sum();
            Tree::from(count)
        }
        ColumnValue::Age(path) => {
            let since = at(tree, path).and_then(Tree::as_str).and_then(|text| text.parse::<Time>().ok());
            match since.filter(|time| !time.is_zero()) {
                None => Tree::from("<unknown>"),
                Some(time) => Tree::from(age_text(now.as_unix_seconds() - time.as_unix_seconds())),
            }
        }
    }
}

fn shown(value: &Tree) -> Tree {
    match value {
        Tree::Array(items) => joined(items.iter().map(text)),
        Tree::Object(map) => joined(map.iter().map(|(key, value)| format!("{key}={}", text(value)))),
        single => single.clone(),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> Tree {
    Tree::from(parts.collect::<Vec<_>>().join(","))
}

fn text(value: &Tree) -> String {
    match value {
        Tree::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn entries(value: &Tree) -> usize {
    match value {
        Tree::Array(items) => items.len(),
        Tree::Object(map) => map.len(),
        _ => 0,
    }
}

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// How long something has been, in one or two units: `90s`, `5m30s`, `3h`, `2d4h`, `400d`, `3y200d`. Clocks may
/// differ by a second; times further in the future are `<invalid>`.
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
    use serde_json::json;

    use super::*;

    const fn column(column_type: &'static str, value: ColumnValue) -> ColumnDef {
        ColumnDef { name: "", column_type, format: "", description: "", priority: 0, value }
    }

    #[test]
    fn cells_are_what_the_columns_say() {
        let tree = json!({
            "metadata": {"name": "a", "creationTimestamp": "2026-11-20T15:14:48Z"},
            "spec": {"modes": ["A", "B"], "selector": {"b": "2", "a": "1"}, "on": true, "weight": 7, "odd": [{"x": 1}]},
            "data": {"k": "1"}, "binaryData": {"x": "", "y": ""},
        });
        let now: Time = "2026-11-20T15:20:18Z".parse().unwrap();
        let cases = [
            (column("string", ColumnValue::Path(&["metadata", "name"])), json!("a")),
            (column("string", ColumnValue::Path(&["spec", "modes"])), json!("A,B")),
            (column("string", ColumnValue::Path(&["spec", "selector"])), json!("a=1,b=2")),
            (column("boolean", ColumnValue::Path(&["spec", "on"])), json!(true)),
            (column("integer", ColumnValue::Path(&["spec", "weight"])), json!(7)),
            (column("string", ColumnValue::Path(&["spec", "weight"])), json!(7)),
            (column("string", ColumnValue::Path(&["spec", "odd"])), json!("{\"x\":1}")),
            (column("string", ColumnValue::Path(&["spec", "none"])), json!("")),
            (column("date", ColumnValue::Path(&["spec", "none"])), json!("")),
            (column("integer", ColumnValue::Path(&["spec", "none", "deeper"])), json!(null)),
            (column("string", ColumnValue::Count(&[&["data"], &["binaryData"], &["none"]])), json!(3)),
            (column("integer", ColumnValue::Count(&[&["spec", "modes"]])), json!(2)),
            (column("string", ColumnValue::Age(&["metadata", "creationTimestamp"])), json!("5m30s")),
            (column("string", ColumnValue::Age(&["metadata", "none"])), json!("<unknown>")),
            (column("string", ColumnValue::Age(&["metadata", "name"])), json!("<unknown>")),
        ];
        for (column, expected) in cases {
            assert_eq!(cells(std::slice::from_ref(&column), &tree, now), [expected], "{column:?}");
        }
    }

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
