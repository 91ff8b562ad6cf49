//! Values of any type: new ones, and those made of parts of generated structs.

use std::collections::BTreeMap;

use super::{
    access::exact_key,
    fault::Fault,
    value::{Key, List, ListKind, Timestamp, Value},
};
use crate::scalar::{IntOrString, MicroTime, Time};

/// A point in time as a value.
pub fn time(time: Time) -> Value {
    timestamp(i128::from(time.as_unix_seconds()) * 1_000_000_000)
}

/// A point in time as a value.
pub fn micro_time(time: MicroTime) -> Value {
    timestamp(i128::from(time.as_unix_micros()) * 1_000)
}

/// What lies outside of the years of the language is `null`: no rule can say anything about it.
fn timestamp(nanos: i128) -> Value {
    Timestamp::from_nanos(nanos).map_or(Value::Null, Value::Timestamp)
}

/// Texts, one after the other.
pub fn joined(parts: &[&str]) -> Value {
    Value::from(parts.concat())
}

/// A number or a text as a value.
pub fn int_or_string(value: &IntOrString) -> Value {
    match value {
        IntOrString::Int(number) => Value::Int(i64::from(*number)),
        IntOrString::String(text) => Value::from(text.as_str()),
    }
}

/// `int()` of a number or a text.
pub fn int_of(value: &IntOrString) -> Result<i64, Fault> {
    match value {
        IntOrString::Int(number) => Ok(i64::from(*number)),
        IntOrString::String(text) => text.parse().map_err(|_| Fault::invalid(format!("{text:?} is no int"))),
    }
}

/// `string()` of a number or a text.
pub fn text_of(value: &IntOrString) -> Value {
    match value {
        IntOrString::Int(number) => Value::from(number.to_string()),
        IntOrString::String(text) => Value::from(text.as_str()),
    }
}

/// A map of a struct as a value.
pub fn map<T>(map: &BTreeMap<String, T>, value: impl Fn(&T) -> Value) -> Value {
    Value::map(map.iter().map(|(key, item)| (Key::from(key.as_str()), value(item))).collect())
}

/// A list of a struct as a value.
pub fn list<T>(list: &[T], kind: ListKind, value: impl Fn(&T) -> Value) -> Value {
    Value::from(List::new(list.iter().map(value).collect(), kind))
}

/// An object as a value, without the fields that are not given.
pub fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    Value::object(fields.into_iter().filter_map(|(name, value)| Some((name, value?))))
}

/// A new list, without the items that are left out.
pub fn new_list(items: Vec<Option<Value>>) -> Value {
    Value::list(items.into_iter().flatten().collect())
}

/// A new map: entries without a value are left out, and a key may come once.
pub fn new_map(pairs: Vec<(Value, Option<Value>)>) -> Result<Value, Fault> {
    let mut made = BTreeMap::new();
    for (key, value) in pairs {
        let Some(value) = value else { continue };
        let key = exact_key(&key)?;
        if made.contains_key(&key) {
            return Err(Fault::invalid(format!("the key {key} is given twice")));
        }
        made.insert(key, value);
    }
    Ok(Value::map(made))
}

/// The value in an optional value, for an item that may be left out.
pub fn contained(value: &Value) -> Option<Value> {
    value.contained().cloned()
}
