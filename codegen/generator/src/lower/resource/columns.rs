//! Columns of the Table form.

use crate::{
    idl::{ColumnExtension, ColumnType, ResourceExtension, Word},
    lower::Scope,
    model::{Column, ColumnValue},
};

impl Scope<'_, '_> {
    /// The columns as written, or Name and Age.
    pub(super) fn columns(&mut self, written: &ResourceExtension) -> Vec<Column> {
        match &written.columns {
            Some(columns) => columns.iter().filter_map(|column| self.column(column)).collect(),
            None => default_columns(),
        }
    }

    fn column(&mut self, written: &ColumnExtension) -> Option<Column> {
        let (column_type, value) = match (&written.path, &written.count, &written.age) {
            (Some(path), None, None) => (ColumnType::String, ColumnValue::Path(self.path(path)?)),
            (None, Some(paths), None) => (ColumnType::Integer, ColumnValue::Count(self.paths(paths))),
            (None, None, Some(path)) => (ColumnType::String, ColumnValue::Age(self.path(path)?)),
            _ => {
                let message = format!("the column `{}` has not exactly one source", written.name.value);
                let help = "give it one of `path: .a.b`, `count: [.a, .b]` and `age: .a.b`";
                self.diagnostics.error(&written.span, message, help);
                return None;
            }
        };
        let column_type = written.column_type.as_ref().map_or(column_type, |word| word.value);
        Some(Column {
            name: written.name.value.clone(),
            column_type: word(column_type).to_owned(),
            format: written.format.as_ref().map(|text| text.value.clone()).unwrap_or_default(),
            description: written.description.as_ref().map(|text| text.value.clone()).unwrap_or_default(),
            priority: written.priority.as_ref().map_or(0, |priority| priority.value),
            value,
        })
    }
}

/// What a kind without columns shows.
fn default_columns() -> Vec<Column> {
    let path = |name: &str| vec!["metadata".to_owned(), name.to_owned()];
    let column = |name: &str, format: &str, value| Column {
        name: name.to_owned(),
        column_type: "string".to_owned(),
        format: format.to_owned(),
        description: String::new(),
        priority: 0,
        value,
    };
    vec![
        column("Name", "name", ColumnValue::Path(path("name"))),
        column("Age", "", ColumnValue::Age(path("creationTimestamp"))),
    ]
}

fn word(column_type: ColumnType) -> &'static str {
    ColumnType::WORDS.iter().find(|(_, known)| *known == column_type).map_or("", |(word, _)| word)
}
