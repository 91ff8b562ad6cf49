//! The types of existing client libraries, read from the text files beside this one.
//!
//! There is one file for each group and version, and one block for each type; empty lines separate blocks.
//! `Name = a b` is an enum. Otherwise the first line is the name (and `atomic` if merges replace the type as
//! a whole), and each further line is a field: its name (`?`: left out when empty; `!`: required), its
//! protobuf number (`2/1`: number 1 in a message that only protobuf nests, under number 2), its type (`*`:
//! absent and empty differ), and then list type, patch strategy and constant default.

use std::{collections::BTreeMap, fs, path::PathBuf};

/// Shapes that are not types of their own.
const SCALARS: &[&str] = &[
    "string",
    "bool",
    "int32",
    "int64",
    "bytes",
    "Time",
    "MicroTime",
    "Duration",
    "Quantity",
    "IntOrString",
    "Any",
];

/// A type.
#[derive(Debug)]
pub enum Type {
    /// One of these values.
    Enum(Vec<String>),
    /// An object type.
    Object(Object),
}

/// An object type.
#[derive(Debug)]
pub struct Object {
    /// Whether merges replace it as a whole.
    pub atomic: bool,
    /// The fields, in the order in which they are written.
    pub fields: Vec<Field>,
}

/// A field of an object type.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Whether an empty value is left out.
    pub omit_empty: bool,
    /// Whether the published schema says that it is required.
    pub required: bool,
    /// Its protobuf number, as written.
    pub number: String,
    /// Whether absent and empty differ.
    pub pointer: bool,
    /// Its type; object types by their qualified names.
    pub holds: String,
    /// Everything else, as written.
    pub marks: Vec<String>,
}

impl Field {
    /// Whether it is a list or map.
    pub fn is_collection(&self) -> bool {
        self.holds.starts_with("[]") || self.holds.starts_with("map[")
    }

    /// The type without the brackets around it.
    pub fn base(&self) -> &str {
        base(&self.holds)
    }
}

/// All types, by qualified name: `core.v1.ConfigMap`.
pub fn types() -> BTreeMap<String, Type> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/client_types");
    let mut types = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Some(scope) = path.file_name().unwrap().to_str().unwrap().strip_suffix(".txt") else { continue };
        for block in fs::read_to_string(&path).unwrap().split("\n\n").filter(|block| !block.is_empty()) {
            let (name, ty) = read(scope, block);
            assert!(
                types.insert(format!("{scope}.{name}"), ty).is_none(),
                "{scope}.{name} stands there twice"
            );
        }
    }
    types
}

fn read<'b>(scope: &str, block: &'b str) -> (&'b str, Type) {
    if let Some((name, values)) = block.split_once(" = ") {
        return (name, Type::Enum(values.split_whitespace().map(str::to_owned).collect()));
    }
    let mut lines = block.lines();
    let head = lines.next().expect("a block is not empty");
    let (name, atomic) = head.strip_suffix(" atomic").map_or((head, false), |name| (name, true));
    (name, Type::Object(Object { atomic, fields: lines.map(|line| field(scope, line)).collect() }))
}

fn field(scope: &str, line: &str) -> Field {
    let mut words = line.split_whitespace();
    let mut word = || words.next().unwrap_or_else(|| panic!("`{line}` breaks off"));
    let (name, number, holds) = (word(), word(), word());
    let plain = name.trim_end_matches(['?', '!']);
    let flags = &name[plain.len()..];
    let target = holds.trim_start_matches('*');
    Field {
        name: plain.to_owned(),
        omit_empty: flags.contains('?'),
        required: flags.contains('!'),
        number: number.to_owned(),
        pointer: holds.starts_with('*'),
        holds: qualified(scope, target),
        marks: words.map(str::to_owned).collect(),
    }
}

fn qualified(scope: &str, holds: &str) -> String {
    let base = base(holds);
    if SCALARS.contains(&base) || base.contains('.') {
        return holds.to_owned();
    }
    format!("{}{scope}.{base}", &holds[..holds.len() - base.len()])
}

fn base(holds: &str) -> &str {
    holds.rsplit(']').next().unwrap_or(holds)
}
