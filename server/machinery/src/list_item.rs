//! What identifies an item of a list: its key fields, or its value.

use std::borrow::Cow;

use orch_runtime::{
    Tree,
    field_error::Shown as _,
    type_def::{ListSemantics, Scalar, Shape},
};

use crate::{
    fieldset::Element,
    json::encode::{ObjectWriter, encode_any},
};

/// The path element of an item of a keyed list or a set. The default of a key field counts if the field is
/// absent.
///
/// # Errors
/// Why the item has no element, as text: it is not an object, or a key field is missing.
pub fn item_element(
    item: &Tree,
    shape: &'static Shape,
    semantics: ListSemantics,
) -> Result<Element<'static>, String> {
    match semantics {
        ListSemantics::Map { keys } => key_element(item, shape, keys),
        ListSemantics::Set | ListSemantics::Atomic => match item {
            Tree::Object(_) => {
                Err("associative list without keys has an element that's a map type".to_owned())
            }
            Tree::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
            Tree::Null => {
                Err("associative list without keys has an element that's an explicit null".to_owned())
            }
            scalar => Ok(Element::value(scalar)),
        },
    }
}

fn key_element(item: &Tree, shape: &'static Shape, keys: &[&str]) -> Result<Element<'static>, String> {
    let fields = match item {
        Tree::Object(fields) => fields,
        Tree::Null => return Err("associative list with keys may not have a null element".to_owned()),
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let mut values = Vec::with_capacity(keys.len());
    for key in keys {
        // A null is stored as an absent field, so it is one here.
        let given = fields.get(*key).filter(|value| !value.is_null());
        let value = given.map(Cow::Borrowed).or_else(|| key_default(shape, key).map(Cow::Owned));
        let value = value.ok_or_else(|| {
            let key = key.shown();
            format!(
                "associative list with keys has an element that omits key field {key} \
                 (and doesn't have default value)"
            )
        })?;
        values.push((*key, value));
    }
    values.sort_unstable_by_key(|(key, _)| *key);
    let mut json = Vec::with_capacity(64);
    let mut object = ObjectWriter::open(&mut json);
    for (key, value) in values {
        encode_any(&value, object.value_of(key));
    }
    object.close();
    Ok(Element::key(String::from_utf8(json).expect("JSON is made of texts")))
}

/// The value of a key field that is absent: its default, or the empty value if the field is required.
fn key_default(shape: &'static Shape, key: &str) -> Option<Tree> {
    let Shape::Object(def) = shape else { return None };
    let field = def.field(key)?;
    match (field.default, &field.shape) {
        (Some(text), _) => serde_json::from_str(text).ok(),
        (None, Shape::Scalar(scalar)) if field.required => Some(empty_value(*scalar)),
        _ => None,
    }
}

fn empty_value(scalar: Scalar) -> Tree {
    match scalar {
        Scalar::Boolean => false.into(),
        Scalar::Int32 | Scalar::Int64 | Scalar::Double | Scalar::IntOrString => 0.into(),
        Scalar::String
        | Scalar::Bytes
        | Scalar::Time
        | Scalar::MicroTime
        | Scalar::Duration
        | Scalar::Quantity => "".into(),
    }
}
