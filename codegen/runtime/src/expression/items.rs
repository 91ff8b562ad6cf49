//! Macros over the items of lists and maps.

use std::collections::BTreeMap;

use super::{
    access::exact_key,
    fault::Fault,
    value::{Key, Value},
};

/// The items of a list with their positions.
pub fn numbered<T>(list: &[T]) -> impl Iterator<Item = (i64, &T)> + use<'_, T> {
    (0_i64..).zip(list)
}

/// Positions and items of a list; keys and values of a map.
pub fn pairs(value: &Value) -> Result<Vec<(Value, Value)>, Fault> {
    Ok(match value {
        Value::List(list) => {
            numbered(list.items()).map(|(position, item)| (Value::Int(position), item.clone())).collect()
        }
        Value::Map(map) => map.entries().iter().map(|(key, item)| (key.value(), item.clone())).collect(),
        _ => return Err(Fault::wrong_type()),
    })
}

/// The items of a list; the keys of a map.
pub fn singles(value: &Value) -> Result<Vec<Value>, Fault> {
    Ok(match value {
        Value::List(list) => list.items().to_vec(),
        Value::Map(map) => map.entries().keys().map(Key::value).collect(),
        _ => return Err(Fault::wrong_type()),
    })
}

/// Whether all hold. One that does not hold decides, even where another one fails.
pub fn all<T>(
    items: impl IntoIterator<Item = T>,
    mut holds: impl FnMut(T) -> Result<bool, Fault>,
) -> Result<bool, Fault> {
    let mut failure = None;
    for item in items {
        match holds(item) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(fault) => failure = failure.or(Some(fault)),
        }
    }
    failure.map_or(Ok(true), Err)
}

/// Whether one holds. One that holds decides, even where another one fails.
pub fn exists<T>(
    items: impl IntoIterator<Item = T>,
    mut holds: impl FnMut(T) -> Result<bool, Fault>,
) -> Result<bool, Fault> {
    all(items, |item| holds(item).map(|holds| !holds)).map(|none| !none)
}

/// Whether exactly one holds.
pub fn exists_one<T>(
    items: impl IntoIterator<Item = T>,
    mut holds: impl FnMut(T) -> Result<bool, Fault>,
) -> Result<bool, Fault> {
    let mut found = 0_usize;
    for item in items {
        found += usize::from(holds(item)?);
    }
    Ok(found == 1)
}

/// What is made of the value in an optional value; nothing of nothing. Where `is_flat`, it is optional
/// itself.
pub fn optional_map(
    optional: &Value,
    is_flat: bool,
    with: impl FnOnce(&Value) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let Value::Optional(_) = optional else { return Err(Fault::wrong_type()) };
    let Some(value) = optional.contained() else { return Ok(Value::optional(None)) };
    let made = with(value)?;
    match (is_flat, &made) {
        (true, Value::Optional(_)) => Ok(made),
        (true, _) => Err(Fault::wrong_type()),
        (false, _) => Ok(Value::optional(Some(made))),
    }
}

/// A list of what is made of the items; nothing for those that are left out.
pub fn list_of<T>(
    items: impl IntoIterator<Item = T>,
    mut with: impl FnMut(T) -> Result<Option<Value>, Fault>,
) -> Result<Value, Fault> {
    let mut made = Vec::new();
    for item in items {
        made.extend(with(item)?);
    }
    Ok(Value::list(made))
}

/// A map of what is made of the items; nothing for those that are left out.
pub fn map_of<T>(
    items: impl IntoIterator<Item = T>,
    mut with: impl FnMut(T) -> Result<Option<(Value, Value)>, Fault>,
) -> Result<Value, Fault> {
    let mut made = BTreeMap::new();
    for item in items {
        if let Some((key, value)) = with(item)? {
            made.insert(exact_key(&key)?, value);
        }
    }
    Ok(Value::map(made))
}

/// A map of the entries of the maps that are made of the items. A key may come once.
pub fn entries_of<T>(
    items: impl IntoIterator<Item = T>,
    mut with: impl FnMut(T) -> Result<Option<Value>, Fault>,
) -> Result<Value, Fault> {
    let mut made = BTreeMap::new();
    for item in items {
        let Some(value) = with(item)? else { continue };
        let Value::Map(map) = &value else { return Err(Fault::wrong_type()) };
        for (key, value) in map.entries() {
            if made.insert(key.clone(), value.clone()).is_some() {
                return Err(Fault::invalid(format!("the key {key} is made twice")));
            }
        }
    }
    Ok(Value::map(made))
}
