//! Writes a tree as JSON in the field order of its type: `kind`, `apiVersion`, then the fields in the order
//! of the type table (`metadata` first). Maps are written in key order. Write-only fields are left out.
//!
//! A tree that was decoded, or made from the typed form, has only fields that its type has. Other names would
//! be written last, in name order.

use std::io::Write;

use orch_runtime::{
    Tree, TreeMap,
    type_def::{Scalar, Shape, TypeDef},
};
use serde_json::Number;

/// Writes a top-level object, compact.
pub fn encode(tree: &Tree, def: &'static TypeDef, out: &mut Vec<u8>) {
    write_root(tree, def, Instead::default(), out);
}

/// Writes a top-level object, compact, with `owners` (JSON; empty for none) as its `metadata.managedFields`
/// instead of those of the tree.
pub fn encode_owned(tree: &Tree, def: &'static TypeDef, owners: &str, out: &mut Vec<u8>) {
    write_root(tree, def, Instead { owners: Some(owners), revision_at: None }, out);
}

/// Writes a top-level object in its stored form: like [`encode`], with an empty `metadata.resourceVersion`.
/// The second value is the offset between its quotes, where the digits of the revision belong. `owners` is
/// that of [`encode_owned`]; if it is absent, those of the tree are written.
pub fn encode_for_store(tree: &Tree, def: &'static TypeDef, owners: Option<&str>) -> (Vec<u8>, usize) {
    let mut out = Vec::with_capacity(1024);
    let mut revision_at = 0;
    write_root(tree, def, Instead { owners, revision_at: Some(&mut revision_at) }, &mut out);
    (out, revision_at)
}

/// Writes a part of an object, compact: its metadata, or its status.
pub fn encode_part(tree: &Tree, shape: &'static Shape, out: &mut Vec<u8>) {
    match (tree, shape) {
        (Tree::Object(map), Shape::Object(def)) => {
            let mut object = ObjectWriter::open(out);
            write_fields(map, def, &[], &mut object);
            object.close();
        }
        (Tree::Array(items), Shape::List { item, .. }) => {
            out.push(b'[');
            for (index, value) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                encode_part(value, item, out);
            }
            out.push(b']');
        }
        (Tree::Object(map), Shape::Map { value: shape, .. }) => {
            let mut object = ObjectWriter::open(out);
            for (key, value) in map {
                encode_part(value, shape, object.value_of(key));
            }
            object.close();
        }
        (_, Shape::Scalar(Scalar::Double)) => encode_values(tree, out),
        _ => encode_any(tree, out),
    }
}

/// Writes any tree, compact, with names in byte order. Nothing is known of its numbers, so they stay as they
/// were written: `1.0` does not become `1`.
pub fn encode_any(tree: &Tree, out: &mut Vec<u8>) {
    write_any(tree, write_serialized, out);
}

/// The same for values whose types are known: numbers with a fraction are written as those of a type.
pub fn encode_values(tree: &Tree, out: &mut Vec<u8>) {
    write_any(tree, write_number, out);
}

fn write_any(tree: &Tree, number: fn(&Number, &mut Vec<u8>), out: &mut Vec<u8>) {
    match tree {
        Tree::String(text) => write_string(text, out),
        Tree::Array(items) => {
            out.push(b'[');
            for (index, value) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_any(value, number, out);
            }
            out.push(b']');
        }
        Tree::Object(map) => {
            let mut object = ObjectWriter::open(out);
            for (key, value) in map {
                write_any(value, number, object.value_of(key));
            }
            object.close();
        }
        Tree::Number(value) => number(value, out),
        Tree::Null | Tree::Bool(_) => write_serialized(tree, out),
    }
}

/// Writes a number of a type as the reference does: a whole one without a fraction, and one that is very
/// large or very small with an exponent.
fn write_number(number: &Number, out: &mut Vec<u8>) {
    const PLAIN: std::ops::Range<f64> = 1e-6..1e21;
    let Some(value) = number.as_f64().filter(|_| number.is_f64()) else {
        return write_serialized(number, out);
    };
    let size = value.abs();
    let written = if size == 0.0 || PLAIN.contains(&size) {
        write!(out, "{value}")
    } else if size < 1.0 {
        write!(out, "{value:e}")
    } else {
        write!(out, "{}", format!("{value:e}").replace('e', "e+"))
    };
    written.expect("writing to memory does not fail");
}

/// A tree of values whose types are known as compact text.
pub fn text_of(tree: &Tree) -> String {
    let mut out = Vec::new();
    encode_values(tree, &mut out);
    String::from_utf8(out).expect("JSON is made of texts")
}

/// JSON text with the characters escaped that mean something in HTML and scripts, as the reference writes it.
pub(crate) fn with_html_escapes(json: &str) -> String {
    const ESCAPES: [(char, &str); 5] = [
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('&', "\\u0026"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
    ];
    ESCAPES.iter().fold(json.to_owned(), |text, (ch, escape)| text.replace(*ch, escape))
}

pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    write_prefixed("", text, out);
}

/// Writes a string in two pieces. `prefix` needs no escapes. Most strings need none, which is found many
/// bytes at a time; only the others are written byte by byte.
fn write_prefixed(prefix: &str, text: &str, out: &mut Vec<u8>) {
    let is_special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    // There is no early exit, so that the compiler can look at many bytes at once.
    if text.as_bytes().iter().fold(false, |found, byte| found | is_special(byte)) {
        let begin = out.len() + 1;
        write_serialized(text, out);
        out.splice(begin..begin, prefix.bytes());
    } else {
        out.reserve(prefix.len() + text.len() + 2);
        out.push(b'"');
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }
}

fn write_serialized<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("writing to memory does not fail and every value is JSON");
}

/// The names that a top-level object has besides its fields, in the order in which they are written.
const TYPE_NAMES: &[&str] = &["kind", "apiVersion"];

/// What is written in the metadata instead of the values of the tree.
#[derive(Default)]
struct Instead<'a> {
    /// `managedFields`, as JSON; empty for none.
    owners: Option<&'a str>,
    /// `resourceVersion` is written empty, and this is set to the offset between its quotes.
    revision_at: Option<&'a mut usize>,
}

fn write_root(tree: &Tree, def: &'static TypeDef, instead: Instead<'_>, out: &mut Vec<u8>) {
    let Tree::Object(map) = tree else { return encode_any(tree, out) };
    let mut object = ObjectWriter::open(out);
    for name in TYPE_NAMES {
        if def.field(name).is_none()
            && let Some(value) = map.get(*name)
        {
            encode_any(value, object.value_of(name));
        }
    }
    if instead.owners.is_none() && instead.revision_at.is_none() {
        write_fields(map, def, TYPE_NAMES, &mut object);
    } else {
        write_fields_instead(map, def, instead, &mut object);
    }
    object.close();
}

/// Writes the fields of `def`, then the other names in the object except `done`. Mostly an object has fewer
/// fields than its type, so that its own fields are sorted in the order of the type.
fn write_fields(map: &TreeMap, def: &'static TypeDef, done: &[&str], object: &mut ObjectWriter<'_>) {
    let mut known = Vec::with_capacity(map.len());
    let mut others = 0;
    for (name, value) in map {
        match def.position(name) {
            Some(index) => known.push((index, value)),
            None => others += usize::from(!done.contains(&name.as_str())),
        }
    }
    known.sort_unstable_by_key(|(index, _)| *index);
    for (index, value) in known {
        let field = &def.fields[index];
        if !field.write_only {
            encode_part(value, &field.shape, object.value_of(field.name));
        }
    }
    if others > 0 {
        write_unknown(map, def, done, object);
    }
}

fn write_unknown(map: &TreeMap, def: &'static TypeDef, done: &[&str], object: &mut ObjectWriter<'_>) {
    for (name, value) in map {
        if !done.contains(&name.as_str()) && def.field(name).is_none() {
            encode_any(value, object.value_of(name));
        }
    }
}

fn write_fields_instead(
    map: &TreeMap,
    def: &'static TypeDef,
    mut instead: Instead<'_>,
    object: &mut ObjectWriter<'_>,
) {
    for field in def.fields {
        match (&field.shape, map.get(field.name)) {
            (Shape::Object(meta), value) if field.name == "metadata" => {
                write_metadata(value, meta, std::mem::take(&mut instead), object.value_of(field.name));
            }
            (shape, Some(value)) if !field.write_only => {
                encode_part(value, shape, object.value_of(field.name));
            }
            _ => {}
        }
    }
    write_unknown(map, def, TYPE_NAMES, object);
}

fn write_metadata(metadata: Option<&Tree>, def: &'static TypeDef, instead: Instead<'_>, out: &mut Vec<u8>) {
    let none = TreeMap::new();
    let map = metadata.and_then(Tree::as_object).unwrap_or(&none);
    let Instead { owners, mut revision_at } = instead;
    let mut object = ObjectWriter::open(out);
    for field in def.fields {
        match (field.name, owners, &mut revision_at) {
            ("resourceVersion", _, Some(revision_at)) => {
                let out = object.value_of(field.name);
                out.push(b'"');
                **revision_at = out.len();
                out.push(b'"');
            }
            ("managedFields", Some(""), _) => {}
            ("managedFields", Some(owners), _) => {
                object.value_of(field.name).extend_from_slice(owners.as_bytes());
            }
            _ => {
                if let Some(value) = map.get(field.name) {
                    encode_part(value, &field.shape, object.value_of(field.name));
                }
            }
        }
    }
    write_unknown(map, def, &[], &mut object);
    object.close();
}

/// Writes a JSON object and puts its commas.
pub(crate) struct ObjectWriter<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl<'o> ObjectWriter<'o> {
    pub(crate) fn open(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        ObjectWriter { out, empty: true }
    }

    /// Writes a name. The caller writes the value into the result.
    pub(crate) fn value_of(&mut self, name: &str) -> &mut Vec<u8> {
        self.value_of_prefixed("", name)
    }

    /// The same for a name in two pieces, of which the first needs no escapes.
    pub(crate) fn value_of_prefixed(&mut self, prefix: &str, name: &str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        write_prefixed(prefix, name, self.out);
        self.out.push(b':');
        self.out
    }

    pub(crate) fn close(self) {
        self.out.push(b'}');
    }
}

#[cfg(test)]
mod tests;
