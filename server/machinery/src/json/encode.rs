//! Writes a tree as JSON in the field order of its type: `kind`, `apiVersion`, then the fields as the table lists
//! them (`metadata` first). Free maps are written in key order. Write-only fields are left out.
//!
//! A tree that came from decoding, or from the typed form, holds no names that its table lacks; should one occur
//! it is written last, in name order, rather than lost.

use orch_runtime::{
    Tree, TreeMap,
    type_def::{Shape, TypeDef},
};

/// Writes a top-level object, compact.
pub fn encode(tree: &Tree, def: &'static TypeDef, out: &mut Vec<u8>) {
    write_root(tree, def, None, out);
}

/// Writes a top-level object for the store: like [`encode`], with an empty `metadata.resourceVersion` whatever the
/// tree has there. The second value is the offset between its quotes, where the digits of the revision belong.
pub fn encode_for_store(tree: &Tree, def: &'static TypeDef) -> (Vec<u8>, usize) {
    let mut out = Vec::with_capacity(1024);
    let mut revision_at = 0;
    write_root(tree, def, Some(&mut revision_at), &mut out);
    (out, revision_at)
}

/// Writes a part of an object, compact: its metadata alone, a status.
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
        _ => encode_any(tree, out),
    }
}

/// Writes any tree, compact, names in byte order.
pub fn encode_any(tree: &Tree, out: &mut Vec<u8>) {
    match tree {
        Tree::String(text) => write_string(text, out),
        Tree::Array(items) => {
            out.push(b'[');
            for (index, value) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                encode_any(value, out);
            }
            out.push(b']');
        }
        Tree::Object(map) => {
            let mut object = ObjectWriter::open(out);
            for (key, value) in map {
                encode_any(value, object.value_of(key));
            }
            object.close();
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => write_serialized(tree, out),
    }
}

/// Any tree as text, compact.
pub fn text_of(tree: &Tree) -> String {
    let mut out = Vec::new();
    encode_any(tree, &mut out);
    String::from_utf8(out).expect("JSON is made of texts")
}

/// Most strings have nothing to escape, which is found out many bytes at a time; only the others go byte by byte.
fn write_string(text: &str, out: &mut Vec<u8>) {
    let is_special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    // No early end: that is what lets the compiler look at many bytes at once.
    if text.as_bytes().iter().fold(false, |found, byte| found | is_special(byte)) {
        write_serialized(text, out);
    } else {
        out.reserve(text.len() + 2);
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }
}

fn write_serialized<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("writing to memory does not fail and every value is JSON");
}

/// The names that a top-level object has besides its fields, in the order in which they are written.
const TYPE_NAMES: &[&str] = &["kind", "apiVersion"];

fn write_root(tree: &Tree, def: &'static TypeDef, revision_at: Option<&mut usize>, out: &mut Vec<u8>) {
    let Tree::Object(map) = tree else { return encode_any(tree, out) };
    let mut object = ObjectWriter::open(out);
    for name in TYPE_NAMES {
        if def.field(name).is_none()
            && let Some(value) = map.get(*name)
        {
            encode_any(value, object.value_of(name));
        }
    }
    match revision_at {
        None => write_fields(map, def, TYPE_NAMES, &mut object),
        Some(revision_at) => write_fields_for_store(map, def, revision_at, &mut object),
    }
    object.close();
}

/// Writes the fields of `def`, then what else is there besides `done`.
fn write_fields(map: &TreeMap, def: &'static TypeDef, done: &[&str], object: &mut ObjectWriter<'_>) {
    let mut found = done.iter().filter(|name| map.contains_key(**name)).count();
    for field in def.fields {
        let Some(value) = map.get(field.name) else { continue };
        if !done.contains(&field.name) {
            found += 1;
        }
        if !field.write_only {
            encode_part(value, &field.shape, object.value_of(field.name));
        }
    }
    if found < map.len() {
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

fn write_fields_for_store(
    map: &TreeMap,
    def: &'static TypeDef,
    revision_at: &mut usize,
    object: &mut ObjectWriter<'_>,
) {
    for field in def.fields {
        match (&field.shape, map.get(field.name)) {
            (Shape::Object(meta), value) if field.name == "metadata" => {
                write_metadata_for_store(value, meta, revision_at, object.value_of(field.name));
            }
            (shape, Some(value)) if !field.write_only => {
                encode_part(value, shape, object.value_of(field.name));
            }
            _ => {}
        }
    }
    write_unknown(map, def, TYPE_NAMES, object);
}

fn write_metadata_for_store(
    metadata: Option<&Tree>,
    def: &'static TypeDef,
    revision_at: &mut usize,
    out: &mut Vec<u8>,
) {
    let none = TreeMap::new();
    let map = metadata.and_then(Tree::as_object).unwrap_or(&none);
    let mut object = ObjectWriter::open(out);
    for field in def.fields {
        if field.name == "resourceVersion" {
            let out = object.value_of(field.name);
            out.push(b'"');
            *revision_at = out.len();
            out.push(b'"');
        } else if let Some(value) = map.get(field.name) {
            encode_part(value, &field.shape, object.value_of(field.name));
        }
    }
    write_unknown(map, def, &[], &mut object);
    object.close();
}

/// One JSON object in the making: puts the commas.
pub(crate) struct ObjectWriter<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl<'o> ObjectWriter<'o> {
    pub(crate) fn open(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        ObjectWriter { out, empty: true }
    }

    /// Writes the name; the caller writes the value into what is returned.
    pub(crate) fn value_of(&mut self, name: &str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        write_string(name, self.out);
        self.out.push(b':');
        self.out
    }

    pub(crate) fn close(self) {
        self.out.push(b'}');
    }
}

#[cfg(test)]
mod tests;
