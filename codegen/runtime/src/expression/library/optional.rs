//! Values that may be absent.

use super::Table;
use crate::expression::{fault::Fault, value::Value};

pub(super) const TABLE: Table = &[
    ("optional.of(A) -> optional_type(A)", |args, _| Ok(Value::optional(Some(args[0].clone())))),
    ("optional.ofNonZeroValue(A) -> optional_type(A)", |args, _| {
        Ok(Value::optional((!is_zero(&args[0])).then(|| args[0].clone())))
    }),
    ("optional.none() -> optional_type(A)", |_, _| Ok(Value::optional(None))),
    ("(optional_type(A)).hasValue() -> bool", |args, _| Ok(Value::Bool(args[0].contained().is_some()))),
    ("(optional_type(A)).value() -> A", |args, _| {
        let value = args[0].contained().cloned();
        value.ok_or_else(|| Fault::invalid("optional.none() has no value"))
    }),
    ("(optional_type(A)).or(optional_type(A)) -> optional_type(A)", |args, _| {
        Ok(args[usize::from(args[0].contained().is_none())].clone())
    }),
    ("(optional_type(A)).orValue(A) -> A", |args, _| Ok(args[0].contained().unwrap_or(&args[1]).clone())),
];

/// Whether a value is the empty one of its type.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(value) => *value == 0,
        Value::Uint(value) => *value == 0,
        Value::Double(value) => *value == 0.0,
        Value::Text(value) => value.is_empty(),
        Value::Bytes(value) => value.is_empty(),
        Value::List(list) => list.items().is_empty(),
        Value::Map(map) => map.entries().is_empty(),
        Value::Duration(duration) => duration.as_nanos() == 0,
        Value::Quantity(quantity) => quantity.is_zero(),
        Value::Optional(_) => value.contained().is_none(),
        Value::Timestamp(_)
        | Value::Type(_)
        | Value::Ip(_)
        | Value::Cidr(..)
        | Value::Url(_)
        | Value::Format(_) => false,
    }
}
