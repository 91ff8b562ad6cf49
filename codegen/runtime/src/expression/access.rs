//! Fields of objects, items of lists, values of keys.

use std::sync::Arc;

use super::{
    fault::Fault,
    value::{Key, Value},
};

/// `operand.field`; with `is_optional`, `operand.?field`.
pub fn select(operand: &Value, field: &str, is_optional: bool) -> Result<Value, Fault> {
    part(operand, is_optional, |inner| {
        field_of(inner, field)?.ok_or_else(|| Fault::NoSuchKey(field.to_owned().into()))
    })
}

/// `has(operand.field)`.
pub fn has(operand: &Value, field: &str) -> Result<bool, Fault> {
    match operand {
        Value::Optional(None) => Ok(false),
        Value::Optional(Some(_)) => has(operand.contained().unwrap_or(&Value::Null), field),
        _ => field_of(operand, field).map(|found| found.is_some()),
    }
}

/// `operand[index]`; with `is_optional`, `operand[?index]`.
pub fn index(operand: &Value, index: &Value, is_optional: bool) -> Result<Value, Fault> {
    part(operand, is_optional, |inner| item_of(inner, index))
}

/// A key of a new map. Unlike in look-ups, a `double` cannot be one.
pub fn exact_key(value: &Value) -> Result<Key, Fault> {
    let key = if matches!(value, Value::Double(_)) { None } else { Key::of(value) };
    key.ok_or_else(|| Fault::invalid(format!("a value of the type {} cannot be a key", value.type_name())))
}

/// A part of a value, or of what is in an optional value. Where the part is optional, one that is absent is
/// an empty value.
fn part(
    operand: &Value,
    is_optional: bool,
    find: impl FnOnce(&Value) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let inner = match operand {
        Value::Optional(None) => return Ok(Value::optional(None)),
        Value::Optional(Some(_)) => operand.contained(),
        _ => None,
    };
    let is_optional = is_optional || inner.is_some();
    match find(inner.unwrap_or(operand)) {
        Ok(value @ Value::Optional(_)) if is_optional => Ok(value),
        Ok(value) if is_optional => Ok(Value::optional(Some(value))),
        Err(Fault::NoSuchKey(_) | Fault::IndexOutOfBounds(_)) if is_optional => Ok(Value::optional(None)),
        result => result,
    }
}

/// The value of a field, if it is there.
fn field_of(operand: &Value, field: &str) -> Result<Option<Value>, Fault> {
    let Value::Map(map) = operand else { return Err(Fault::wrong_type()) };
    Ok(map.entries().get(&Key::Text(Arc::from(field))).cloned())
}

/// An item of a list or the value of a key. Numbers that equal a position count as it.
fn item_of(operand: &Value, index: &Value) -> Result<Value, Fault> {
    match operand {
        Value::List(list) => {
            let position = match Key::of(index) {
                Some(Key::Int(position)) => usize::try_from(position).ok(),
                Some(Key::Uint(position)) => usize::try_from(position).ok(),
                _ => return Err(Fault::wrong_type()),
            };
            let item = position.and_then(|position| list.items().get(position));
            item.cloned().ok_or_else(|| Fault::IndexOutOfBounds(index.to_string()))
        }
        Value::Map(map) => {
            let found = Key::of(index).and_then(|key| map.entries().get(&key));
            found.cloned().ok_or_else(|| Fault::NoSuchKey(shown_key(index).into()))
        }
        _ => Err(Fault::wrong_type()),
    }
}

/// A key in a message; what could be long is named by its type.
fn shown_key(index: &Value) -> String {
    Key::of(index).map_or_else(|| format!("of the type {}", index.type_name()), |key| key.to_string())
}
