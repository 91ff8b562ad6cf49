//! The cells of a row: values of the object, in a form for people.

use orch_runtime::{
    Tree,
    age::age_text,
    resource_def::{CellContext, ColumnDef, ColumnValue},
    scalar::Time,
};

use crate::{json::encode::text_of, tree::at};

/// The cells of one object. Single values are not changed; lists and maps become `a,b` and `a=1,b=2`. An
/// absent value becomes the column's `empty` text if it has one. Otherwise it becomes an empty text in
/// columns of text, and `null` in others.
pub fn cells(columns: &[ColumnDef], tree: &Tree, context: &CellContext<'_>) -> Vec<Tree> {
    columns.iter().map(|column| or_empty(column, cell(column, tree, context))).collect()
}

fn or_empty(column: &ColumnDef, cell: Tree) -> Tree {
    let is_empty = cell.is_null() || cell.as_str() == Some("");
    if is_empty && !column.empty.is_empty() { Tree::from(column.empty) } else { cell }
}

fn cell(column: &ColumnDef, tree: &Tree, context: &CellContext<'_>) -> Tree {
    match column.value {
        ColumnValue::Computed(function) => function(tree, context),
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
                Some(time) => Tree::from(age_text(context.now.as_unix_seconds() - time.as_unix_seconds())),
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
        other => text_of(other),
    }
}

fn entries(value: &Tree) -> usize {
    match value {
        Tree::Array(items) => items.len(),
        Tree::Object(map) => map.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::context;

    const fn column(column_type: &'static str, value: ColumnValue) -> ColumnDef {
        ColumnDef { name: "", column_type, format: "", description: "", priority: 0, empty: "", value }
    }

    #[test]
    fn cells_follow_their_columns() {
        let tree = json!({
            "metadata": {"name": "a", "creationTimestamp": "2026-11-20T15:14:48Z"},
            "spec": {
                "modes": ["A", "B"], "selector": {"b": "2", "a": "1"}, "on": true, "weight": 7,
                "objects": [{"x": 1}],
            },
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
            (column("string", ColumnValue::Path(&["spec", "objects"])), json!("{\"x\":1}")),
            (column("string", ColumnValue::Path(&["spec", "none"])), json!("")),
            (column("date", ColumnValue::Path(&["spec", "none"])), json!("")),
            (column("integer", ColumnValue::Path(&["spec", "none", "deeper"])), json!(null)),
            (column("string", ColumnValue::Count(&[&["data"], &["binaryData"], &["none"]])), json!(3)),
            (column("integer", ColumnValue::Count(&[&["spec", "modes"]])), json!(2)),
            (column("string", ColumnValue::Age(&["metadata", "creationTimestamp"])), json!("5m30s")),
            (column("string", ColumnValue::Age(&["metadata", "none"])), json!("<unknown>")),
            (column("string", ColumnValue::Age(&["metadata", "name"])), json!("<unknown>")),
        ];
        let computed = |tree: &Tree, context: &CellContext<'_>| {
            json!(format!("{} in {}", tree["spec"]["weight"], context.vocabulary.label_domain))
        };
        let or_none = |value| ColumnDef { empty: "<none>", ..column("string", value) };
        let cases = cases.into_iter().chain([
            (column("string", ColumnValue::Computed(computed)), json!("7 in example.com")),
            (or_none(ColumnValue::Path(&["spec", "none"])), json!("<none>")),
            (or_none(ColumnValue::Path(&["spec", "modes"])), json!("A,B")),
            (or_none(ColumnValue::Computed(|_, _| json!(""))), json!("<none>")),
        ]);
        for (column, expected) in cases {
            assert_eq!(cells(std::slice::from_ref(&column), &tree, &context(now)), [expected], "{column:?}");
        }
    }
}
