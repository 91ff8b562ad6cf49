//! Writes objects as protobuf by type tables, byte for byte like the reference server.
//!
//! Fields are written in the order of their numbers, entries of maps in the order of their keys. A field that
//! cannot be absent is written even if it is empty, unless it is a list or map. So is a message that is
//! nested only in protobuf. Numbers of a list are written one by one.

use orch_runtime::{
    Tree, TreeMap,
    type_def::{FieldDef, Scalar, Shape, TypeDef},
};

use super::{MAGIC, ProtobufError, backward::Backward, scalar};

/// Writes an object of type `def` as a document. Fields that the type does not have are left out.
pub fn encode(
    tree: &Tree,
    def: &'static TypeDef,
    api_version: &str,
    kind: &str,
) -> Result<Vec<u8>, ProtobufError> {
    let mut out = Backward::default();
    envelope_end(&mut out);
    out.message(RAW, |out| object(tree, def, out))?;
    envelope_start(api_version, kind, &mut out);
    Ok(out.finish())
}

/// Writes an object without its envelope, as an item of a list.
pub fn encode_message(tree: &Tree, def: &'static TypeDef) -> Result<Vec<u8>, ProtobufError> {
    let mut out = Backward::default();
    object(tree, def, &mut out)?;
    Ok(out.finish())
}

/// The bytes before and after the items of a list. Each item follows its [`item_head`].
#[derive(Debug)]
pub struct ListFrame {
    /// The bytes before the first item.
    pub start: Vec<u8>,
    /// The bytes after the last item.
    pub end: Vec<u8>,
}

/// The frame of a list whose items take `items` bytes, their heads included. `meta` is the metadata of the
/// list, of type `meta_def`.
pub fn list_frame(
    meta: &Tree,
    meta_def: &'static TypeDef,
    items: usize,
    api_version: &str,
    kind: &str,
) -> Result<ListFrame, ProtobufError> {
    let mut metadata = Backward::default();
    metadata.message(METADATA, |out| object(meta, meta_def, out))?;
    let metadata = metadata.finish();
    let (mut start, mut end) = (Backward::default(), Backward::default());
    envelope_end(&mut end);
    start.raw(&metadata);
    start.head(RAW, metadata.len() + items);
    envelope_start(api_version, kind, &mut start);
    Ok(ListFrame { start: start.finish(), end: end.finish() })
}

/// The bytes before an item of a list with this length.
pub fn item_head(length: usize) -> Vec<u8> {
    let mut head = Backward::default();
    head.head(ITEMS, length);
    head.finish()
}

/// Writes an event of a watch: its length in four bytes, then its type and its object. `document` is a whole
/// document.
pub fn watch_event(event_type: &str, document: &[u8]) -> Vec<u8> {
    let mut object = Backward::default();
    object.bytes(1, document);
    let mut event = Backward::default();
    event.bytes(2, &object.finish());
    event.bytes(1, event_type.as_bytes());
    let event = event.finish();
    let length = u32::try_from(event.len()).expect("objects are far smaller than 4 GiB");
    [&length.to_be_bytes()[..], &event].concat()
}

/// The field numbers of the envelope.
const TYPE_META: u32 = 1;
const RAW: u32 = 2;
const CONTENT_ENCODING: u32 = 3;
const CONTENT_TYPE: u32 = 4;

/// The field numbers of lists.
const METADATA: u32 = 1;
const ITEMS: u32 = 2;

fn envelope_start(api_version: &str, kind: &str, out: &mut Backward) {
    let mut type_meta = Backward::default();
    type_meta.bytes(2, kind.as_bytes());
    type_meta.bytes(1, api_version.as_bytes());
    out.bytes(TYPE_META, &type_meta.finish());
    out.raw(MAGIC);
}

fn envelope_end(out: &mut Backward) {
    out.bytes(CONTENT_TYPE, b"");
    out.bytes(CONTENT_ENCODING, b"");
}

fn object(tree: &Tree, def: &'static TypeDef, out: &mut Backward) -> Result<(), ProtobufError> {
    if def.fields.iter().any(|field| field.tag.is_none()) {
        return Err(ProtobufError::Unsupported(def.short_name));
    }
    let fields = tree.as_object();
    let fields = fields.ok_or(ProtobufError::WrongType { field: def.short_name, expected: "object" })?;
    message(fields, def, None, out)
}

/// Writes the fields of a message. `inline` is the number of a message that is nested only in protobuf.
fn message(
    fields: &TreeMap,
    def: &'static TypeDef,
    inline: Option<u32>,
    out: &mut Backward,
) -> Result<(), ProtobufError> {
    let own = def.fields.iter().filter(|field| field.inline_tag == inline);
    let mut numbered: Vec<(u32, Option<&'static FieldDef>)> =
        own.filter_map(|field| Some((field.tag?, Some(field)))).collect();
    if inline.is_none() {
        numbered.extend(def.fields.iter().filter_map(|field| Some((field.inline_tag?, None))));
    }
    numbered.sort_by_key(|(tag, _)| *tag);
    numbered.dedup_by_key(|(tag, _)| *tag);
    for (tag, field) in numbered.into_iter().rev() {
        match field {
            Some(field) => self::field(fields, field, tag, out)?,
            None => out.message(tag, |out| message(fields, def, Some(tag), out))?,
        }
    }
    Ok(())
}

fn field(
    fields: &TreeMap,
    field: &'static FieldDef,
    tag: u32,
    out: &mut Backward,
) -> Result<(), ProtobufError> {
    let wrong = |expected| ProtobufError::WrongType { field: field.name, expected };
    match (&field.shape, fields.get(field.name)) {
        (shape, None | Some(Tree::Null)) => empty(field, shape, tag, out),
        (Shape::List { item, .. }, Some(list)) => {
            let items = list.as_array().ok_or(wrong("list"))?;
            items.iter().rev().try_for_each(|item_tree| value(field, item, item_tree, tag, out))
        }
        (Shape::Map { value: shape, .. }, Some(map)) => {
            let entries = map.as_object().ok_or(wrong("map"))?;
            entries.iter().rev().try_for_each(|(key, entry)| {
                out.message(tag, |out| {
                    value(field, shape, entry, 2, out)?;
                    out.bytes(1, key.as_bytes());
                    Ok(())
                })
            })
        }
        (shape, Some(tree)) => value(field, shape, tree, tag, out),
    }
}

/// Writes a field without a value. A field that may be absent is left out, and so are bytes, lists and maps.
fn empty(
    field: &'static FieldDef,
    shape: &'static Shape,
    tag: u32,
    out: &mut Backward,
) -> Result<(), ProtobufError> {
    let cannot_be_absent = (field.required && !field.nullable) || field.omit_empty;
    match shape {
        // Null is the zero time: no required field holds a time that may be absent.
        Shape::Scalar(Scalar::Time | Scalar::MicroTime) if field.required || field.null_when_absent => {
            out.message(tag, |_| Ok(()))
        }
        Shape::Any if field.required => out.message(tag, |_| Ok(())),
        Shape::Object(def) if cannot_be_absent => {
            out.message(tag, |out| message(&TreeMap::new(), def, None, out))
        }
        Shape::Scalar(Scalar::Bytes) => Ok(()),
        Shape::Scalar(scalar) if cannot_be_absent => {
            scalar::write(*scalar, &scalar::zero(*scalar), field.name, tag, out)
        }
        _ => Ok(()),
    }
}

/// Writes a single value, an item of a list or a value of a map.
fn value(
    field: &'static FieldDef,
    shape: &'static Shape,
    tree: &Tree,
    tag: u32,
    out: &mut Backward,
) -> Result<(), ProtobufError> {
    match shape {
        Shape::Scalar(scalar) => scalar::write(*scalar, tree, field.name, tag, out),
        Shape::Object(def) => out.message(tag, |out| object(tree, def, out)),
        Shape::Any => out.message(tag, |out| {
            let json = serde_json::to_vec(tree).expect("every tree has a JSON form");
            out.bytes(1, &json);
            Ok(())
        }),
        // A list inside a list or map is a message with the items in field 1.
        Shape::List { item, .. } => {
            let wrong = ProtobufError::WrongType { field: field.name, expected: "list" };
            let items = tree.as_array().ok_or(wrong)?;
            out.message(tag, |out| items.iter().rev().try_for_each(|inner| value(field, item, inner, 1, out)))
        }
        // No message has a map inside a list or map.
        Shape::Map { .. } => Err(ProtobufError::WrongType { field: field.name, expected: "single value" }),
    }
}
