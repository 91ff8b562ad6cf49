//! Entries of `metadata.managedFields`. An entry has the fields of one manager.

use std::collections::HashSet;

use orch_runtime::{Tree, TreeMap};

use crate::{
    fieldset::{FieldSet, FieldSetError},
    json::encode::{ObjectWriter, write_string},
};

/// The fields of one manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'t> {
    /// The manager's name.
    pub manager: String,
    /// The operation that set them.
    pub operation: Operation,
    /// The API version in which the fields are named.
    pub api_version: String,
    /// The time of the last change of the set, RFC 3339 in UTC; may be empty.
    pub time: String,
    /// The subresource through which they were set; empty for the object itself.
    pub subresource: String,
    /// The fields.
    pub fields: FieldSet<'t>,
}

/// How fields were set. Applies come first in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// By an apply: the set has the fields of the last configuration.
    Apply,
    /// By any other write: the set has the fields that the manager changed last.
    Update,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        }
    }
}

/// An entry that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ManagedFieldsError(String);

impl Entry<'_> {
    /// Whether both are entries of one manager. For an apply the version does not count.
    pub fn is_same_manager(&self, other: &Entry<'_>) -> bool {
        self.identity() == other.identity()
    }

    /// What all entries of one manager have in common.
    fn identity(&self) -> (&str, Operation, &str, &str) {
        let api_version = if self.operation == Operation::Apply { "" } else { &self.api_version };
        (&self.manager, self.operation, &self.subresource, api_version)
    }
}

/// Reads all entries. If two are of one manager, the later counts.
pub fn parse_entries(list: &[Tree]) -> Result<Vec<Entry<'_>>, ManagedFieldsError> {
    read_entries(list, FieldSet::parse)
}

/// Reads all entries of a stored object, which this server has written.
pub(crate) fn stored_entries(list: &[Tree]) -> Result<Vec<Entry<'_>>, ManagedFieldsError> {
    read_entries(list, FieldSet::of_stored)
}

/// Reads a set of fields.
type ReadFields<'t> = fn(&'t Tree) -> Result<FieldSet<'t>, FieldSetError>;

fn read_entries<'t>(list: &'t [Tree], fields: ReadFields<'t>) -> Result<Vec<Entry<'t>>, ManagedFieldsError> {
    let mut entries: Vec<Entry<'t>> =
        list.iter().map(|item| read_entry(item, fields)).collect::<Result<_, _>>()?;
    let mut known = HashSet::with_capacity(entries.len());
    let mut is_last: Vec<bool> = entries.iter().rev().map(|entry| known.insert(entry.identity())).collect();
    entries.retain(|_| is_last.pop().unwrap_or(true));
    Ok(entries)
}

/// The entries in their written form, in the given order.
pub fn write_entries(entries: Vec<Entry<'_>>) -> Vec<Tree> {
    entries.into_iter().map(write_entry).collect()
}

/// Sorts by operation, time, manager, version and subresource.
pub(super) fn sort(entries: &mut [Entry<'_>]) {
    entries.sort_by(|left, right| rank(left).cmp(&rank(right)));
}

/// The same order for entries in their written form.
pub(super) fn sort_written(entries: &mut [Tree]) {
    entries.sort_by(|left, right| written_rank(left).cmp(&written_rank(right)));
}

fn written_rank(entry: &Tree) -> (&str, [&str; 4]) {
    let text = |name: &str| entry.get(name).and_then(Tree::as_str).unwrap_or_default();
    // The order of the operations is that of their names.
    (text("operation"), ["time", "manager", "apiVersion", "subresource"].map(text))
}

/// Canonical times sort as text.
fn rank<'e>(entry: &'e Entry<'_>) -> (Operation, [&'e str; 4]) {
    (entry.operation, [&entry.time, &entry.manager, &entry.api_version, &entry.subresource])
}

fn read_entry<'t>(item: &'t Tree, fields: ReadFields<'t>) -> Result<Entry<'t>, ManagedFieldsError> {
    let entry = parse_head(item)?;
    let fields = match item.get("fieldsV1") {
        None | Some(Tree::Null) => FieldSet::new(),
        Some(written) => fields(written).map_err(|error| ManagedFieldsError(error.to_string()))?,
    };
    Ok(Entry { fields, ..entry })
}

/// Reads an entry without its fields.
pub(super) fn parse_head<'t>(item: &Tree) -> Result<Entry<'t>, ManagedFieldsError> {
    let text = |name: &str| item.get(name).and_then(Tree::as_str).unwrap_or_default();
    let operation = match text("operation") {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        other => return Err(ManagedFieldsError(format!("{other:?} is not an operation of managed fields"))),
    };
    if text("apiVersion").is_empty() {
        return Err(ManagedFieldsError("managed fields name the version of their fields".to_owned()));
    }
    if text("fieldsType") != "FieldsV1" {
        return Err(ManagedFieldsError("the type of managed fields must be FieldsV1".to_owned()));
    }
    Ok(Entry {
        manager: text("manager").to_owned(),
        operation,
        api_version: text("apiVersion").to_owned(),
        time: text("time").to_owned(),
        subresource: text("subresource").to_owned(),
        fields: FieldSet::new(),
    })
}

/// Writes the entries as JSON, in the field order of their type. No entries give an empty text.
pub(super) fn write_json(entries: &[Entry<'_>]) -> String {
    let mut out = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        out.push(if index == 0 { b'[' } else { b',' });
        let mut object = ObjectWriter::open(&mut out);
        let Entry { manager, operation, api_version, time, subresource, fields } = entry;
        let texts = [
            ("manager", &**manager),
            ("operation", operation.name()),
            ("apiVersion", api_version),
            ("time", time),
            ("fieldsType", "FieldsV1"),
        ];
        for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            write_string(text, object.value_of(name));
        }
        fields.write(object.value_of("fieldsV1"));
        if !subresource.is_empty() {
            write_string(subresource, object.value_of("subresource"));
        }
        object.close();
    }
    if !entries.is_empty() {
        out.push(b']');
    }
    String::from_utf8(out).expect("JSON is made of texts")
}

pub(super) fn write_entry(entry: Entry<'_>) -> Tree {
    let mut tree = TreeMap::new();
    let texts = [
        ("manager", entry.manager),
        ("operation", entry.operation.name().to_owned()),
        ("apiVersion", entry.api_version),
        ("time", entry.time),
        ("fieldsType", "FieldsV1".to_owned()),
        ("subresource", entry.subresource),
    ];
    for (name, value) in texts.into_iter().filter(|(_, value)| !value.is_empty()) {
        tree.insert(name.to_owned(), value.into());
    }
    tree.insert("fieldsV1".to_owned(), entry.fields.to_tree());
    Tree::Object(tree)
}
