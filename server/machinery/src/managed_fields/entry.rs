//! Entries of `metadata.managedFields`: one manager's fields.

use orch_runtime::{Tree, TreeMap};

use crate::fieldset::FieldSet;

/// The fields of one manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Who.
    pub manager: String,
    /// How they were set.
    pub operation: Operation,
    /// The version that the fields are named in.
    pub api_version: String,
    /// When the set last changed, RFC 3339 in UTC; may be empty.
    pub time: String,
    /// The sub-resource that they were set through; empty for the object itself.
    pub subresource: String,
    /// Which.
    pub fields: FieldSet,
}

/// How fields were set. Applied ones come first in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// By an apply: the set is what the manager wants.
    Apply,
    /// By any other write: the set is what the manager changed last.
    Update,
}

/// An entry that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ManagedFieldsError(String);

impl Entry {
    /// Whether both are of one manager. An applier is the same in all versions.
    pub fn is_same_manager(&self, other: &Entry) -> bool {
        self.manager == other.manager
            && self.operation == other.operation
            && self.subresource == other.subresource
            && (self.operation == Operation::Apply || self.api_version == other.api_version)
    }
}

/// Reads all entries. Of two with one manager the later counts.
pub fn parse_entries(list: &[Tree]) -> Result<Vec<Entry>, ManagedFieldsError> {
    let mut entries: Vec<Entry> = Vec::with_capacity(list.len());
    for item in list {
        let entry = parse_entry(item)?;
        entries.retain(|known| !known.is_same_manager(&entry));
        entries.push(entry);
    }
    Ok(entries)
}

/// The written form of the entries, in the order given.
pub fn write_entries(entries: Vec<Entry>) -> Vec<Tree> {
    entries.into_iter().map(write_entry).collect()
}

/// The order of the list: operation, time, manager, version, sub-resource.
pub(super) fn sort(entries: &mut [Entry]) {
    entries.sort_by(|left, right| rank(left).cmp(&rank(right)));
}

/// The same order, of entries in their written form.
pub(super) fn sort_written(entries: &mut [Tree]) {
    entries.sort_by(|left, right| written_rank(left).cmp(&written_rank(right)));
}

fn written_rank(entry: &Tree) -> (&str, [&str; 4]) {
    let text = |name: &str| entry.get(name).and_then(Tree::as_str).unwrap_or_default();
    // The names of the operations are in their order.
    (text("operation"), ["time", "manager", "apiVersion", "subresource"].map(text))
}

/// Times in their canonical form sort as texts.
fn rank(entry: &Entry) -> (Operation, [&str; 4]) {
    (entry.operation, [&entry.time, &entry.manager, &entry.api_version, &entry.subresource])
}

fn parse_entry(item: &Tree) -> Result<Entry, ManagedFieldsError> {
    let entry = parse_head(item)?;
    let fields = match item.get("fieldsV1") {
        None | Some(Tree::Null) => FieldSet::new(),
        Some(fields) => FieldSet::parse(fields).map_err(|error| ManagedFieldsError(error.to_string()))?,
    };
    Ok(Entry { fields, ..entry })
}

/// An entry without its fields.
pub(super) fn parse_head(item: &Tree) -> Result<Entry, ManagedFieldsError> {
    let text = |name: &str| item.get(name).and_then(Tree::as_str).unwrap_or_default();
    let operation = match text("operation") {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        other => return Err(ManagedFieldsError(format!("{other:?} is not an operation of managed fields"))),
    };
    if !matches!(text("fieldsType"), "FieldsV1" | "") {
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

pub(super) fn write_entry(entry: Entry) -> Tree {
    let operation = match entry.operation {
        Operation::Apply => "Apply",
        Operation::Update => "Update",
    };
    let mut tree = TreeMap::new();
    let texts = [
        ("manager", entry.manager),
        ("operation", operation.to_owned()),
        ("apiVersion", entry.api_version),
        ("time", entry.time),
        ("fieldsType", "FieldsV1".to_owned()),
        ("subresource", entry.subresource),
    ];
    for (name, value) in texts.into_iter().filter(|(_, value)| !value.is_empty()) {
        tree.insert(name.to_owned(), value.into());
    }
    tree.insert("fieldsV1".to_owned(), entry.fields.into_tree());
    Tree::Object(tree)
}
