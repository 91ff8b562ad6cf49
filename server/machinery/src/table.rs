//! Objects as a table, which command line tools print: the columns of the kind, and a row for each object.
//!
//! A table is written row by row; no row is kept in memory.

mod cell;

use orch_runtime::{
    Tree,
    resource_def::{ColumnDef, ColumnValue},
    type_def::TypeDef,
};

pub use self::cell::cells;
use crate::{
    json::encode::encode_values,
    partial::{ListMeta, write_partial_object},
};

/// The columns of kinds that define none.
static DEFAULT_COLUMNS: &[ColumnDef] = &[
    ColumnDef {
        name: "Name",
        column_type: "string",
        format: "name",
        description: "The name of the object, unique among objects of its kind and namespace.",
        priority: 0,
        empty: "",
        value: ColumnValue::Path(&["metadata", "name"]),
    },
    ColumnDef {
        name: "Created At",
        column_type: "date",
        format: "",
        description: "When the server created the object, in UTC.",
        priority: 0,
        empty: "",
        value: ColumnValue::Path(&["metadata", "creationTimestamp"]),
    },
];

/// The columns of a kind, or the default ones.
pub fn columns_of(columns: &'static [ColumnDef]) -> &'static [ColumnDef] {
    if columns.is_empty() { DEFAULT_COLUMNS } else { columns }
}

/// The query parameter `includeObject`: what a row holds besides its cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    /// The object's metadata.
    #[default]
    Metadata,
    /// The whole object.
    Object,
    /// Nothing.
    None,
}

impl IncludeObject {
    /// Reads the query parameter; none for an unknown value.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "" | "Metadata" => Some(IncludeObject::Metadata),
            "Object" => Some(IncludeObject::Object),
            "None" => Some(IncludeObject::None),
            _ => None,
        }
    }
}

/// One row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// One value per column, from [`cells`].
    pub cells: &'a [Tree],
    /// The object.
    pub tree: &'a Tree,
    /// The object in its stored form.
    pub bytes: &'a [u8],
    /// The object's type.
    pub def: &'static TypeDef,
    /// What else is to be known of the row, such as that its object has done its work.
    pub condition: Option<RowCondition>,
}

/// A condition of a row that is true. Tools hide rows by it.
#[derive(Clone, Copy, Debug)]
pub struct RowCondition {
    /// `Completed`: the object has reached its end.
    pub type_: &'static str,
    /// The reason as one word.
    pub reason: &'static str,
    /// The reason as text.
    pub message: &'static str,
}

/// Writes one table.
#[derive(Debug)]
pub struct TableWriter<'a> {
    api_version: &'a str,
    include: IncludeObject,
    rows: usize,
}

impl<'a> TableWriter<'a> {
    /// Begins a table. `api_version` is the version of the table, and of the metadata in its rows. Without
    /// `columns` the column definitions are `null`: a watch sends them only with its first event.
    pub fn start(
        api_version: &'a str,
        include: IncludeObject,
        meta: ListMeta<'_>,
        columns: Option<&[ColumnDef]>,
        out: &mut Vec<u8>,
    ) -> Self {
        write_head(api_version, meta, columns, out);
        out.push(b'[');
        TableWriter { api_version, include, rows: 0 }
    }

    /// Writes a table without rows, for a kind with these columns. As in the reference, the rows are `null`
    /// where the columns are the default ones.
    pub fn empty(api_version: &'a str, meta: ListMeta<'_>, columns: &[ColumnDef], out: &mut Vec<u8>) {
        write_head(api_version, meta, Some(columns), out);
        let names = |columns: &[ColumnDef]| columns.iter().map(|column| column.name).collect::<Vec<_>>();
        let is_default = names(columns) == names(DEFAULT_COLUMNS);
        out.extend_from_slice(if is_default { b"null}" } else { b"[]}" });
    }

    /// Continues a table that has this many rows: a long table is written in several pieces.
    pub fn resume(api_version: &'a str, include: IncludeObject, rows: usize) -> Self {
        TableWriter { api_version, include, rows }
    }

    /// Adds a row.
    pub fn row(&mut self, row: &Row<'_>, out: &mut Vec<u8>) {
        if self.rows > 0 {
            out.push(b',');
        }
        self.rows += 1;
        out.extend_from_slice(br#"{"cells":"#);
        write_list(row.cells, out);
        if let Some(condition) = &row.condition {
            write_condition(condition, out);
        }
        out.extend_from_slice(br#","object":"#);
        match self.include {
            IncludeObject::Metadata => write_partial_object(row.tree, row.def, self.api_version, out),
            IncludeObject::Object => out.extend_from_slice(row.bytes),
            IncludeObject::None => out.extend_from_slice(b"null"),
        }
        out.push(b'}');
    }

    /// Ends the table.
    pub fn end(self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"]}");
    }
}

/// All of a table before its rows.
fn write_head(api_version: &str, meta: ListMeta<'_>, columns: Option<&[ColumnDef]>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"kind":"Table","apiVersion":"#);
    write_json(&api_version, out);
    out.extend_from_slice(br#","metadata":"#);
    meta.write(out);
    out.extend_from_slice(br#","columnDefinitions":"#);
    match columns {
        Some(columns) => write_columns(columns, out),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(br#","rows":"#);
}

fn write_columns(columns: &[ColumnDef], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, column) in columns.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        for (name, value) in [
            (&br#"{"name":"#[..], column.name),
            (br#","type":"#, column.column_type),
            (br#","format":"#, column.format),
            (br#","description":"#, column.description),
        ] {
            out.extend_from_slice(name);
            write_json(&value, out);
        }
        out.extend_from_slice(br#","priority":"#);
        write_json(&column.priority, out);
        out.push(b'}');
    }
    out.push(b']');
}

fn write_condition(condition: &RowCondition, out: &mut Vec<u8>) {
    out.extend_from_slice(br#","conditions":[{"type":"#);
    write_json(&condition.type_, out);
    out.extend_from_slice(br#","status":"True","reason":"#);
    write_json(&condition.reason, out);
    out.extend_from_slice(br#","message":"#);
    write_json(&condition.message, out);
    out.extend_from_slice(b"}]");
}

fn write_list(items: &[Tree], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        encode_values(item, out);
    }
    out.push(b']');
}

fn write_json(value: &impl serde::Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests {
    use orch_runtime::scalar::Time;
    use serde_json::json;

    use super::*;
    use crate::fixture::{BAG, context};

    fn table(include: IncludeObject, columns: Option<&[ColumnDef]>, trees: &[Tree]) -> Tree {
        let mut out = Vec::new();
        let meta = ListMeta { resource_version: "9", ..ListMeta::default() };
        let mut writer = TableWriter::start("meta.example.io/v1", include, meta, columns, &mut out);
        for tree in trees {
            let cells = cells(DEFAULT_COLUMNS, tree, &context(Time::from_unix_seconds(0)));
            let bytes = tree.to_string().into_bytes();
            writer.row(&Row { cells: &cells, tree, bytes: &bytes, def: &BAG, condition: None }, &mut out);
        }
        writer.end(&mut out);
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_table_has_columns_and_rows() {
        let a =
            json!({"kind": "Bag", "metadata": {"name": "a", "creationTimestamp": "2026-11-20T15:14:48Z"}});
        let b = json!({"kind": "Bag", "metadata": {"name": "b"}});
        let meta = table(IncludeObject::Metadata, columns_of(&[]).into(), &[a.clone(), b.clone()]);
        assert_eq!(meta["kind"], "Table");
        assert_eq!(meta["apiVersion"], "meta.example.io/v1");
        assert_eq!(meta["metadata"], json!({"resourceVersion": "9"}));
        assert_eq!(
            meta["columnDefinitions"][0],
            json!({
                "name": "Name", "type": "string", "format": "name", "priority": 0,
                "description": DEFAULT_COLUMNS[0].description,
            })
        );
        assert_eq!(
            meta["rows"],
            json!([
                {"cells": ["a", "2026-11-20T15:14:48Z"], "object": {
                    "kind": "PartialObjectMetadata", "apiVersion": "meta.example.io/v1",
                    "metadata": a["metadata"],
                }},
                {"cells": ["b", ""], "object": {
                    "kind": "PartialObjectMetadata", "apiVersion": "meta.example.io/v1",
                    "metadata": b["metadata"],
                }},
            ])
        );
        assert_eq!(table(IncludeObject::Object, None, std::slice::from_ref(&a))["rows"][0]["object"], a);
        let none = table(IncludeObject::None, None, &[a]);
        assert_eq!((&none["rows"][0]["object"], &none["columnDefinitions"]), (&Tree::Null, &Tree::Null));
        assert_eq!(table(IncludeObject::None, None, &[])["rows"], json!([]));
    }

    #[test]
    fn the_query_parameter_has_four_values() {
        let values = ["", "Metadata", "Object", "None", "Everything", "none"].map(IncludeObject::parse);
        assert_eq!(
            values,
            [
                Some(IncludeObject::Metadata),
                Some(IncludeObject::Metadata),
                Some(IncludeObject::Object),
                Some(IncludeObject::None),
                None,
                None
            ]
        );
    }
}
