//! The protobuf form of objects, read and written by type tables.
//!
//! A document is four magic bytes and an envelope (the message `Unknown`: the type in field 1, the object in
//! field 2) around the message of the object. Field numbers are the tags of the type table. Unknown fields
//! are skipped. The result is the same tree as from the JSON form.

mod backward;
mod encode;
mod scalar;
mod wire;

use orch_runtime::{
    Tree, TreeMap,
    type_def::{FieldDef, Shape, TypeDef},
};

use self::wire::{Fields, Value};
pub use self::{
    backward::Backward,
    encode::{ListFrame, encode, encode_message, item_head, list_frame, watch_event},
};
use crate::{
    json::{
        Limits,
        budget::{Budget, Exceeded},
        decode::{DecodeError, decode_embedded},
    },
    meta,
};

/// The first bytes of every document.
pub const MAGIC: &[u8] = b"k8s\0";

/// Why a document cannot be read or written. The text is meant for the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtobufError {
    /// The magic bytes are missing.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    NoMagic,
    /// The bytes end too early, or are not protobuf.
    #[error("the protobuf message is malformed: {0}")]
    Malformed(&'static str),
    /// A field with a value of the wrong type.
    #[error("the protobuf message does not hold a {expected} in field {field}")]
    WrongType {
        /// The field's name.
        field: &'static str,
        /// The right type.
        expected: &'static str,
    },
    /// Messages are nested deeper than allowed.
    #[error("the protobuf message is nested deeper than {0} levels")]
    TooDeep(usize),
    /// There are more values than a document may hold, or they would take too much memory.
    #[error(transparent)]
    TooLarge(#[from] Exceeded),
    /// The kind has no field numbers.
    #[error("{0} has no protobuf form")]
    Unsupported(&'static str),
}

/// Reads a document as an object of type `def`. `kind` and `apiVersion` are those of the envelope.
pub fn decode(bytes: &[u8], def: &'static TypeDef, limits: &Limits) -> Result<Tree, ProtobufError> {
    let envelope = bytes.strip_prefix(MAGIC).ok_or(ProtobufError::NoMagic)?;
    if def.fields.iter().all(|field| field.tag.is_none()) {
        return Err(ProtobufError::Unsupported(def.short_name));
    }
    let (mut type_meta, mut raw) = (&[][..], &[][..]);
    for field in Fields::of(envelope) {
        match field? {
            (1, Value::Bytes(bytes)) => type_meta = bytes,
            (2, Value::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let mut reader = Reader { limits, budget: Budget::of(*limits) };
    let mut tree = Tree::Object(reader.message(raw, def, 1)?);
    let (mut api_version, mut kind) = (String::new(), String::new());
    for field in Fields::of(type_meta) {
        match field? {
            (1, Value::Bytes(bytes)) => api_version = wire::text(bytes)?,
            (2, Value::Bytes(bytes)) => kind = wire::text(bytes)?,
            _ => {}
        }
    }
    meta::set_type(&mut tree, &kind, &api_version);
    Ok(tree)
}

struct Reader<'l> {
    limits: &'l Limits,
    budget: Budget,
}

impl Reader<'_> {
    fn message(
        &mut self,
        bytes: &[u8],
        def: &'static TypeDef,
        depth: usize,
    ) -> Result<TreeMap, ProtobufError> {
        if depth > self.limits.effective_depth() {
            return Err(ProtobufError::TooDeep(self.limits.effective_depth()));
        }
        self.budget.object(def)?;
        let mut fields = TreeMap::new();
        self.entries(bytes, def, None, &mut fields, depth)?;
        Ok(fields)
    }

    /// Reads the fields of a message. `inline` is the field number of a message that is nested only in
    /// protobuf: its fields become fields of the object around it.
    fn entries(
        &mut self,
        bytes: &[u8],
        def: &'static TypeDef,
        inline: Option<u32>,
        fields: &mut TreeMap,
        depth: usize,
    ) -> Result<(), ProtobufError> {
        for entry in Fields::of(bytes) {
            let (number, value) = entry?;
            let mut of_message = def.fields.iter().filter(|field| field.inline_tag == inline);
            if let Some(field) = of_message.find(|field| field.tag == Some(number)) {
                self.field(field, value, fields, depth)?;
            } else if inline.is_none() && def.fields.iter().any(|field| field.inline_tag == Some(number)) {
                self.entries(value.bytes(def.short_name)?, def, Some(number), fields, depth)?;
            }
        }
        Ok(())
    }

    fn field(
        &mut self,
        field: &'static FieldDef,
        value: Value<'_>,
        fields: &mut TreeMap,
        depth: usize,
    ) -> Result<(), ProtobufError> {
        self.budget.value()?;
        if !fields.contains_key(field.name) {
            self.budget.entry(fields.len(), field.name)?;
        }
        match &field.shape {
            Shape::List { item, .. } => {
                let list = fields.entry(field.name).or_insert_with(|| Tree::Array(Vec::new()));
                let Tree::Array(list) = list else { return Ok(()) };
                match (item, value) {
                    (Shape::Scalar(scalar), Value::Bytes(packed)) if scalar::is_packable(*scalar) => {
                        for number in wire::varints(packed) {
                            self.budget.value()?;
                            list.extend(scalar::read(*scalar, &Value::Varint(number?), field.name)?);
                        }
                    }
                    (item, value) => list.extend(self.value(field, item, value, depth + 1)?),
                }
            }
            Shape::Map { value: shape, .. } => {
                let map = fields.entry(field.name).or_insert_with(|| Tree::Object(TreeMap::new()));
                let Tree::Object(map) = map else { return Ok(()) };
                let (key, value) = self.map_entry(field, shape, value, depth + 1)?;
                self.budget.entry(map.len(), &key)?;
                map.insert(key, value);
            }
            shape => {
                if let Some(value) = self.value(field, shape, value, depth)? {
                    fields.insert(field.name.to_owned(), value);
                }
            }
        }
        Ok(())
    }

    /// Reads a single value; none for the zero time, which means that it is absent.
    fn value(
        &mut self,
        field: &'static FieldDef,
        shape: &'static Shape,
        value: Value<'_>,
        depth: usize,
    ) -> Result<Option<Tree>, ProtobufError> {
        match shape {
            Shape::Scalar(scalar) => {
                let value = scalar::read(*scalar, &value, field.name)?;
                if let Some(Tree::String(text)) = &value {
                    self.budget.text(text)?;
                }
                Ok(value)
            }
            Shape::Object(def) => {
                let bytes = value.bytes(field.name)?;
                self.message(bytes, def, depth + 1).map(|fields| Some(Tree::Object(fields)))
            }
            Shape::Any => self.embedded(value.bytes(field.name)?),
            // A list inside a list or map is a message with the items in field 1.
            Shape::List { item, .. } => {
                let mut items = Vec::new();
                for entry in Fields::of(value.bytes(field.name)?) {
                    if let (1, part) = entry? {
                        self.budget.value()?;
                        items.extend(self.value(field, item, part, depth + 1)?);
                    }
                }
                Ok(Some(Tree::Array(items)))
            }
            // No message has a map inside a list or map.
            Shape::Map { .. } => {
                Err(ProtobufError::WrongType { field: field.name, expected: "single value" })
            }
        }
    }

    fn map_entry(
        &mut self,
        field: &'static FieldDef,
        shape: &'static Shape,
        entry: Value<'_>,
        depth: usize,
    ) -> Result<(String, Tree), ProtobufError> {
        let (mut key, mut value) = (String::new(), None);
        for part in Fields::of(entry.bytes(field.name)?) {
            match part? {
                (1, part) => key = wire::text(part.bytes(field.name)?)?,
                (2, part) => value = self.value(field, shape, part, depth)?,
                _ => {}
            }
        }
        Ok((key, value.unwrap_or_else(|| empty(shape))))
    }

    /// A value of any type is JSON text inside a message.
    fn embedded(&mut self, bytes: &[u8]) -> Result<Option<Tree>, ProtobufError> {
        for field in Fields::of(bytes) {
            if let (1, Value::Bytes(json)) = field? {
                return match decode_embedded(json, self.limits, &mut self.budget) {
                    Ok(tree) => Ok(Some(tree)),
                    Err(DecodeError::TooLarge(exceeded)) => Err(exceeded.into()),
                    Err(_) => Err(ProtobufError::Malformed("embedded JSON cannot be read")),
                };
            }
        }
        Ok(None)
    }
}

/// The value of a map entry without a value.
fn empty(shape: &Shape) -> Tree {
    match shape {
        Shape::Scalar(scalar) => scalar::zero(*scalar),
        Shape::Object(_) | Shape::Map { .. } => Tree::Object(TreeMap::new()),
        Shape::List { .. } => Tree::Array(Vec::new()),
        Shape::Any => Tree::Null,
    }
}

#[cfg(test)]
mod tests;
