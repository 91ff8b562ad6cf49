//! Every keyword of the language is used by a kind that people can look at, in `schema` or `examples`.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use orch_codegen::{diagnostic::Diagnostics, source};
use serde_json::Value;

const FOLDERS: &[&str] = &["../../schema", "../../examples"];

/// Keywords that name functions for which no kind has a use now. `tests/golden` uses them.
const UNUSED: &[&str] = &["x-orch-default", "x-orch-first-validator"];

#[test]
fn every_keyword_is_used_by_a_shipped_kind_or_by_an_example() {
    let language: Value =
        serde_json::from_str(&fs::read_to_string("../../schema/idl.schema.json").unwrap()).unwrap();
    let mut keywords = BTreeSet::new();
    collect(&language, &mut keywords);
    let mut used = BTreeSet::new();
    for file in FOLDERS.iter().flat_map(|folder| files(Path::new(folder))) {
        keys(&file, &mut used);
    }
    let unused: Vec<&String> = keywords.iter().filter(|keyword| !used.contains(*keyword)).collect();
    assert_eq!(unused, UNUSED);
}

/// The keywords of a JSON schema.
fn collect(schema: &Value, keywords: &mut BTreeSet<String>) {
    match schema {
        Value::Object(entries) => {
            for (key, value) in entries {
                if let ("properties", Some(properties)) = (key.as_str(), value.as_object()) {
                    keywords.extend(properties.keys().cloned());
                }
                collect(value, keywords);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, keywords)),
        _ => {}
    }
}

/// The keys of all maps of a YAML file.
fn keys(file: &Path, used: &mut BTreeSet<String>) {
    let node = source::read(file, &mut Diagnostics::default());
    walk(&node.unwrap_or_else(|| panic!("{} is YAML", file.display())), used);
}

fn walk(node: &source::Node, used: &mut BTreeSet<String>) {
    for (key, value) in node.entries() {
        used.insert(key.value.clone());
        walk(value, used);
    }
    node.items().iter().for_each(|item| walk(item, used));
}

/// The YAML files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect()
}
