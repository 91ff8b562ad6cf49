//! What texts, bytes, lists and maps have in common: size, joining, membership.

use super::{Table, bytes, count, items, list, map, text};
use crate::expression::{
    budget::Budget,
    fault::Fault,
    value::{Key, List, ListKind, Value, are_equal},
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
    ("(list(string)).sizes() -> int", |args, budget| sizes(items(&args[0])?, budget)),
    ("(list(bytes)).sizes() -> int", |args, budget| sizes(items(&args[0])?, budget)),
    ("(map(string, string)).sizes() -> int", |args, budget| sizes(map(&args[0])?.entries().values(), budget)),
    ("(map(string, bytes)).sizes() -> int", |args, budget| sizes(map(&args[0])?.entries().values(), budget)),
    ("_+_(string, string) -> string", |args, _| Ok(Value::from([text(&args[0])?, text(&args[1])?].concat()))),
    ("_+_(bytes, bytes) -> bytes", |args, _| {
        Ok(Value::Bytes([bytes(&args[0])?, bytes(&args[1])?].concat().into()))
    }),
    ("_+_(list(A), list(A)) -> list(A)", |args, budget| {
        let (one, other) = (list(&args[0])?, list(&args[1])?);
        budget.spend(one.items().len() + other.items().len())?;
        joined(one, other, budget)
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

/// The bytes of all texts and byte strings together.
fn sizes<'v>(values: impl IntoIterator<Item = &'v Value>, budget: &mut Budget) -> Result<Value, Fault> {
    let mut sum = 0_usize;
    for value in values {
        budget.spend(1)?;
        sum += match value {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => return Err(Fault::wrong_type()),
        };
    }
    Ok(count(sum))
}

/// The items of two lists. Those of the second that the first has too take its place in the first.
fn joined(one: &List, other: &List, budget: &mut Budget) -> Result<Value, Fault> {
    let kind = one.kind();
    if kind == ListKind::Plain {
        return Ok(Value::list([one.items(), other.items()].concat()));
    }
    let mut items = one.items().to_vec();
    for item in other.items() {
        let mut place = None;
        for (position, before) in one.items().iter().enumerate() {
            if is_same_item(before, item, kind, budget)? {
                place = Some(position);
                break;
            }
        }
        match place {
            Some(position) => items[position] = item.clone(),
            None => items.push(item.clone()),
        }
    }
    Ok(Value::from(List::new(items, kind)))
}

/// Whether two items have the same identity. A key that neither has is the same.
fn is_same_item(one: &Value, other: &Value, kind: ListKind, budget: &mut Budget) -> Result<bool, Fault> {
    let ListKind::Keyed(keys) = kind else { return are_equal(one, other, budget) };
    let (one, other) = (map(one)?.entries(), map(other)?.entries());
    for key in keys {
        let is_same = match (one.get(&Key::from(*key)), other.get(&Key::from(*key))) {
            (Some(one), Some(other)) => are_equal(one, other, budget)?,
            (one, other) => one.is_none() && other.is_none(),
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

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
