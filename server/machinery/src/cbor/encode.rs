//! Writes trees as CBOR. Fields that are written only are left out.

use orch_runtime::{
    Tree,
    scalar::ByteString,
    type_def::{Scalar, Shape, TypeDef},
};

use super::{
    SELF_DESCRIBED,
    head::{self, FALSE, NULL, TRUE, major},
    tag,
};

/// An object of type `def`, with its `apiVersion` and `kind`, as a document.
pub fn encode(tree: &Tree, def: &'static TypeDef) -> Vec<u8> {
    let mut out = SELF_DESCRIBED.to_vec();
    item(tree, def, &mut out);
    out
}

/// A tree without a type as a document.
pub fn encode_any(tree: &Tree) -> Vec<u8> {
    let mut out = SELF_DESCRIBED.to_vec();
    value(tree, &Shape::Any, &mut out);
    out
}

/// Writes an object of type `def` as an item of a list.
pub fn item(tree: &Tree, def: &'static TypeDef, out: &mut Vec<u8>) {
    object(tree, Some(def), out);
}

/// The bytes before and after the items of a list.
#[derive(Debug)]
pub struct ListFrame {
    /// The bytes before the first item.
    pub start: Vec<u8>,
    /// The bytes after the last item.
    pub end: Vec<u8>,
}

/// The frame of a list of so many items; none stands for a list that is null. `meta` is its metadata.
pub fn list_frame(meta: &Tree, items: Option<usize>, api_version: &str, kind: &str) -> ListFrame {
    // The order of names is that of their encoded form: shorter ones come first.
    let (mut start, mut end) = (SELF_DESCRIBED.to_vec(), Vec::new());
    head::write(major::MAP, 4, &mut start);
    text("kind", &mut start);
    text(kind, &mut start);
    text("items", &mut start);
    match items {
        Some(count) => head::write(major::ARRAY, count as u64, &mut start),
        None => simple(NULL, &mut start),
    }
    text("metadata", &mut end);
    value(meta, &Shape::Any, &mut end);
    text("apiVersion", &mut end);
    text(api_version, &mut end);
    ListFrame { start, end }
}

/// An event of a watch as a document. `document` is that of its object.
pub fn watch_event(event_type: &str, document: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(document.len() + 32);
    out.extend_from_slice(SELF_DESCRIBED);
    head::write(major::MAP, 2, &mut out);
    text("type", &mut out);
    text(event_type, &mut out);
    text("object", &mut out);
    out.extend_from_slice(document);
    out
}

fn value(tree: &Tree, shape: &'static Shape, out: &mut Vec<u8>) {
    match tree {
        Tree::Null => simple(NULL, out),
        Tree::Bool(value) => simple(if *value { TRUE } else { FALSE }, out),
        Tree::Number(value) => number(value, shape, out),
        Tree::String(value) => match shape {
            Shape::Scalar(Scalar::Bytes) => base64(value, out),
            _ => text(value, out),
        },
        Tree::Array(items) => {
            let of_items = if let Shape::List { item, .. } = shape { item } else { &Shape::Any };
            head::write(major::ARRAY, items.len() as u64, out);
            for item in items {
                value(item, of_items, out);
            }
        }
        Tree::Object(_) => match shape {
            Shape::Object(def) => object(tree, Some(def), out),
            Shape::Map { value: of_values, .. } => entries(tree, |_| Some(of_values), out),
            _ => object(tree, None, out),
        },
    }
}

/// Writes an object. Names that its type does not have, such as `kind`, have values of any type.
fn object(tree: &Tree, def: Option<&'static TypeDef>, out: &mut Vec<u8>) {
    let shape = |name: &str| match def.and_then(|def| def.field(name)) {
        Some(field) if field.write_only => None,
        Some(field) => Some(&field.shape),
        None => Some(&Shape::Any),
    };
    entries(tree, shape, out);
}

/// Writes a map in the order of the encoded names. An entry without a shape is left out.
fn entries(tree: &Tree, shape: impl Fn(&str) -> Option<&'static Shape>, out: &mut Vec<u8>) {
    let all = tree.as_object().into_iter().flatten();
    let mut shown: Vec<_> = all.filter_map(|(name, value)| Some((name, value, shape(name)?))).collect();
    // An encoded name begins with its length.
    shown.sort_unstable_by_key(|(name, ..)| (name.len(), *name));
    head::write(major::MAP, shown.len() as u64, out);
    for (name, of_name, shape) in shown {
        text(name, out);
        value(of_name, shape, out);
    }
}

fn number(number: &serde_json::Number, shape: &Shape, out: &mut Vec<u8>) {
    let is_whole = !matches!(shape, Shape::Scalar(Scalar::Double));
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(value), _, _) if is_whole && value < 0 => {
            head::write(major::NEGATIVE, !value.cast_unsigned(), out);
        }
        (_, Some(value), _) if is_whole => head::write(major::UNSIGNED, value, out),
        (_, _, Some(value)) => head::write_float(value, out),
        _ => simple(NULL, out),
    }
}

fn simple(value: u8, out: &mut Vec<u8>) {
    head::write(major::SIMPLE, u64::from(value), out);
}

/// Writes the bytes that a text in base64 stands for.
fn base64(value: &str, out: &mut Vec<u8>) {
    match value.parse::<ByteString>() {
        Ok(bytes) => {
            head::write(major::TAG, tag::BASE64, out);
            byte_string(&bytes, out);
        }
        // It is read as base64 again.
        Err(_) => text(value, out),
    }
}

/// Texts are byte strings: the reference server does not check that they are UTF-8.
fn text(text: &str, out: &mut Vec<u8>) {
    byte_string(text.as_bytes(), out);
}

fn byte_string(bytes: &[u8], out: &mut Vec<u8>) {
    head::write(major::BYTES, bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}
