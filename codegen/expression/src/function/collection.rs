//! What texts, bytes, lists and maps have in common: size, joining, membership.

use super::{Table, bytes, count, items, map, text};
use crate::{
    fault::Fault,
    value::{Key, Value, are_equal},
};

pub(super) const TABLE: Table = &[
    ("size(string) -> int", |args, _| size(&args[0])),
    ("size(bytes) -> int", |args, _| size(&args[0])),
    ("size(list(A)) -> int", |args, _| size(&args[0])),
    ("size(map(A, B)) -> int", |args, _| size(&args[0])),
    ("(string).size() -> int", |args, _| size(&args[0])),
    ("(bytes).size() -> int", |args, _| size(&args[0])),
    ("(list(A)).size() -> int", |args, _| size(&args[0])),
    ("(map(A, B)).size() -> int", |args, _| size(&args[0])),
    ("_+_(string, string) -> string", |args, _| Ok(Value::from([text(&args[0])?, text(&args[1])?].concat()))),
    ("_+_(bytes, bytes) -> bytes", |args, _| {
        Ok(Value::Bytes([bytes(&args[0])?, bytes(&args[1])?].concat().into()))
    }),
    ("_+_(list(A), list(A)) -> list(A)", |args, budget| {
        let (one, other) = (items(&args[0])?, items(&args[1])?);
        budget.spend(one.len() + other.len())?;
        Ok(Value::list([one, other].concat()))
    }),
    ("@in(A, list(A)) -> bool", |args, budget| {
        for item in items(&args[1])? {
            if are_equal(&args[0], item, budget)? {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }),
    ("@in(A, map(A, B)) -> bool", |args, _| {
        let map = map(&args[1])?;
        Ok(Value::Bool(Key::of(&args[0]).is_some_and(|key| map.entries().contains_key(&key))))
    }),
];

/// Characters of a text, bytes, items or entries.
fn size(value: &Value) -> Result<Value, Fault> {
    Ok(count(match value {
        Value::Text(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.items().len(),
        Value::Map(map) => map.entries().len(),
        _ => return Err(Fault::wrong_type()),
    }))
}
