//! Checks the texts of a tree that stand for something else: times, durations, quantities, bytes.
//!
//! A tree that was decoded has the right JSON types ([`crate::json::decode`]); whether a text can be read as
//! its type is the business of the typed form. Where a tree must be judged before it gets that form, such as
//! the result of a patch, this module does it with the same code.

use orch_runtime::{
    Tree,
    scalar::{ByteString, Duration, MicroTime, Quantity, Time},
    type_def::{Scalar, Shape, TypeDef},
};
use serde::Deserialize;

/// Checks all values of an object.
///
/// # Errors
/// Why the first wrong text cannot be read.
pub fn check(tree: &Tree, def: &'static TypeDef) -> Result<(), String> {
    let Tree::Object(fields) = tree else { return Ok(()) };
    fields.iter().try_for_each(|(name, value)| match def.field(name) {
        Some(field) => check_value(value, &field.shape),
        None => Ok(()),
    })
}

/// Checks the values of some fields of an object.
///
/// # Errors
/// Why the first wrong text cannot be read.
pub fn check_fields(
    tree: &Tree,
    def: &'static TypeDef,
    is_meant: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let fields = def.fields.iter().filter(|field| is_meant(field.name));
    let mut values = fields.filter_map(|field| Some((tree.get(field.name)?, &field.shape)));
    values.try_for_each(|(value, shape)| check_value(value, shape))
}

fn check_value(value: &Tree, shape: &'static Shape) -> Result<(), String> {
    match (shape, value) {
        (Shape::Scalar(scalar), Tree::String(_)) => check_text(value, *scalar),
        (Shape::Object(def), tree) => check(tree, def),
        (Shape::Map { value: shape, .. }, Tree::Object(map)) => {
            map.values().try_for_each(|value| check_value(value, shape))
        }
        (Shape::List { item, .. }, Tree::Array(items)) => {
            items.iter().try_for_each(|value| check_value(value, item))
        }
        _ => Ok(()),
    }
}

fn check_text(text: &Tree, scalar: Scalar) -> Result<(), String> {
    match scalar {
        Scalar::Time => read::<Time>(text),
        Scalar::MicroTime => read::<MicroTime>(text),
        Scalar::Duration => read::<Duration>(text),
        Scalar::Quantity => read::<Quantity>(text),
        Scalar::Bytes => read::<ByteString>(text),
        Scalar::Boolean
        | Scalar::Int32
        | Scalar::Int64
        | Scalar::Double
        | Scalar::String
        | Scalar::IntOrString => Ok(()),
    }
}

fn read<'t, T: Deserialize<'t>>(text: &'t Tree) -> Result<(), String> {
    T::deserialize(text).map(drop).map_err(|error| error.to_string())
}
