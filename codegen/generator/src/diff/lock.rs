//! `schema.lock.json`: the state of a schema folder as it was released, written on purpose and checked in.
//!
//! ```text
//! {
//!   "lock": 1,
//!   "releases": {"1.32": "2024-12-11"},
//!   "accepted": [{"code": "B202", "at": "example.orch.io.v1.WidgetSpec.size", "reason": "..."}],
//!   "types": {"example.orch.io.v1.Widget": {"x-orch-resource": {...}, "properties": {...}}}
//! }
//! ```
//!
//! Where the folder has a `surface.yaml`, it is there too, as `surface`. Protobuf tags of fields that are
//! gone are listed as `retired`: `{"type": .., "tag": 5, "field": "size"}`. Types are as in the schema files,
//! without what is documentation alone. A field is a line, so that a review sees what changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{
    releases::Releases,
    state::{Accepted, Declared, Retired, State},
    surface::Surface,
};
use crate::{
    diagnostic::{Diagnostics, Span},
    idl::{Read as _, Schema},
    source::{self, Node, Value},
};

/// The name of the file, in the schema folder.
pub const FILE: &str = "schema.lock.json";

/// The form of the file. A newer one is not read.
const FORMAT: i64 = 1;

/// Keywords that are documentation alone.
const DOCUMENTATION: &[&str] = &["title", "description", "example", "examples", "deprecated"];

/// Maps below this depth stand on one line.
const LINES: usize = 4;

/// The text of a lock.
pub fn text(state: &State) -> String {
    let releases: Vec<String> =
        state.releases.dates().map(|(release, date)| format!("    \"{release}\": \"{date}\"")).collect();
    let accepted = state.accepted.iter().map(|accepted| {
        let Accepted { code, at, reason } = accepted;
        let [code, at, reason] = [code, at, reason].map(|text| quoted(text));
        format!("    {{\"code\": {code}, \"at\": {at}, \"reason\": {reason}}}")
    });
    let types = state.types.iter().map(|(name, ty)| {
        let mut text = format!("    {}: ", quoted(name));
        write(&ty.schema, 2, true, LINES, &mut text);
        text
    });
    let mut surface = String::new();
    if let Some(node) = &state.surface.node {
        surface.push_str(",\n  \"surface\": ");
        write(node, 1, false, LINES - 1, &mut surface);
    }
    let retired: Vec<String> = state.retired.iter().map(retired_line).collect();
    let mut blocks = vec![
        format!("  \"lock\": {FORMAT}"),
        block("releases", "{", &releases, "}"),
        block("accepted", "[", &accepted.collect::<Vec<_>>(), "]"),
    ];
    if !retired.is_empty() {
        blocks.push(block("retired", "[", &retired, "]"));
    }
    blocks.push(block("types", "{", &types.collect::<Vec<_>>(), "}"));
    format!("{{\n{}{surface}\n}}\n", blocks.join(",\n"))
}

fn retired_line(retired: &Retired) -> String {
    let Retired { ty, inline, tag, field } = retired;
    let inline = inline.map_or_else(String::new, |inline| format!("\"inline\": {inline}, "));
    format!("    {{\"type\": {}, {inline}\"tag\": {tag}, \"field\": {}}}", quoted(ty), quoted(field))
}

fn block(key: &str, open: &str, lines: &[String], close: &str) -> String {
    if lines.is_empty() {
        return format!("  \"{key}\": {open}{close}");
    }
    format!("  \"{key}\": {open}\n{}\n  {close}", lines.join(",\n"))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes a value at a depth; maps that are deeper than `lines` stand on one line. The keys of a schema are
/// keywords, of which some are documentation.
fn write(node: &Node, depth: usize, is_schema: bool, lines: usize, out: &mut String) {
    match &node.value {
        Value::Map(entries) => {
            // In `lifecycle` a release stands there.
            let is_release = |node: &Node| matches!(node.value, Value::String(_));
            let kept = |key: &str, node: &Node| {
                let is_documentation = is_schema && DOCUMENTATION.contains(&key);
                !is_documentation || (key == "deprecated" && is_release(node))
            };
            let entries: Vec<_> = entries.iter().filter(|(key, node)| kept(&key.value, node)).collect();
            let (line, end, separator) = if depth < lines && !entries.is_empty() {
                (format!("\n{}", "  ".repeat(depth + 1)), format!("\n{}", "  ".repeat(depth)), ",")
            } else {
                (String::new(), String::new(), ", ")
            };
            out.push('{');
            for (index, (key, node)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push_str(separator);
                }
                out.push_str(&line);
                out.push_str(&quoted(&key.value));
                out.push_str(": ");
                write(node, depth + 1, holds_schema(&key.value, is_schema), lines, out);
            }
            out.push_str(&end);
            out.push('}');
        }
        Value::List(items) => {
            out.push('[');
            for (index, node) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write(node, lines, false, lines, out);
            }
            out.push(']');
        }
        _ => out.push_str(&node.to_json().to_string()),
    }
}

/// Whether the map under a key is a schema: that of a field, or what a keyword holds.
fn holds_schema(key: &str, is_schema: bool) -> bool {
    !is_schema || matches!(key, "items" | "additionalProperties" | "propertyNames")
}

/// Reads a lock; `None` where it is something else, which is reported.
pub fn read(path: &Path, diagnostics: &mut Diagnostics) -> Option<State> {
    let mut found = Diagnostics::default();
    let node = source::read(path, &mut found);
    let state = node.and_then(|node| state(&node, path, &mut found));
    found.forget_warnings();
    let is_good = !found.has_errors();
    diagnostics.append(found);
    state.filter(|_| is_good)
}

fn state(node: &Node, path: &Path, diagnostics: &mut Diagnostics) -> Option<State> {
    let format = node.get("lock").and_then(|format| format.to_json().as_i64());
    if format != Some(FORMAT) {
        let message = match format {
            Some(format) => format!("a lock of the form {format}, which is newer than this program"),
            None => "not a lock of schema files".to_owned(),
        };
        diagnostics
            .error(node.place("lock"), message, "`orch-codegen lock` writes one that this program reads")
            .code("E0132");
        return None;
    }
    let releases = Releases::read(node, diagnostics);
    let surface = node.get("surface").map(|node| Surface::read(node, diagnostics)).unwrap_or_default();
    let (accepted, retired) = (accepted(node, diagnostics), retired(node, diagnostics));
    let types = types(node, diagnostics);
    Some(State { types, releases, surface, accepted, retired, span: Span::whole_file(path) })
}

fn text_of(node: &Node, key: &str) -> Option<String> {
    Some(node.get(key)?.text()?.to_owned())
}

/// The breaking changes that are allowed.
fn accepted(node: &Node, diagnostics: &mut Diagnostics) -> Vec<Accepted> {
    let mut accepted = Vec::new();
    for entry in node.get("accepted").map(Node::items).unwrap_or_default() {
        let read = || {
            Some(Accepted {
                code: text_of(entry, "code")?,
                at: text_of(entry, "at")?,
                reason: text_of(entry, "reason")?,
            })
        };
        match read() {
            Some(entry) => accepted.push(entry),
            None => {
                diagnostics
                    .error(&entry.span, "an accepted change has `code`, `at` and `reason`", "add them")
                    .code("E0132");
            }
        }
    }
    accepted
}

/// The tags of fields that are gone.
fn retired(node: &Node, diagnostics: &mut Diagnostics) -> BTreeSet<Retired> {
    let mut retired = BTreeSet::new();
    for entry in node.get("retired").map(Node::items).unwrap_or_default() {
        let number = |key: &str| entry.get(key).and_then(|number| number.to_json().as_i64());
        let read = || {
            let (ty, field) = (text_of(entry, "type")?, text_of(entry, "field")?);
            Some(Retired { ty, field, inline: number("inline"), tag: number("tag")? })
        };
        match read() {
            Some(entry) => drop(retired.insert(entry)),
            None => {
                diagnostics
                    .error(&entry.span, "a retired tag has `type`, `tag` and `field`", "add them")
                    .code("E0132");
            }
        }
    }
    retired
}

/// What is promised of each type.
fn types(node: &Node, diagnostics: &mut Diagnostics) -> BTreeMap<String, Declared> {
    let mut types = BTreeMap::new();
    for (name, schema) in node.get("types").map(Node::entries).unwrap_or_default() {
        // Read as the schema language reads it, so that no part of it goes unnoticed.
        Schema::read(schema, diagnostics);
        match Declared::new(&name.value, name.span.clone(), schema.clone()) {
            Some(declared) => {
                types.insert(name.value.clone(), declared);
            }
            None => {
                diagnostics
                    .error(&name.span, "not the qualified name of a type", "write it like core.v1.Pod")
                    .code("E0132");
            }
        }
    }
    types
}
