//! From one type to another.

use std::str::FromStr;

use crate::scalar::Duration;

use super::{Table, bytes, duration, int, text, time, timestamp};
use crate::expression::{
    budget::Budget,
    fault::Fault,
    value::{Value, double_text},
};

/// The first number that is too large for `int`, and for `uint`.
const INT_END: f64 = 9_223_372_036_854_775_808.0;
const UINT_END: f64 = 18_446_744_073_709_551_616.0;

pub(super) const TABLE: Table = &[
    ("dyn(A) -> dyn", same),
    ("type(A) -> type", |args, _| Ok(Value::Type(args[0].type_name().into()))),
    ("bool(bool) -> bool", same),
    ("bool(string) -> bool", |args, _| match text(&args[0])? {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
        other => Err(cannot_read(other, "bool")),
    }),
    ("int(int) -> int", same),
    ("int(uint) -> int", |args, _| to_int(&args[0])),
    ("int(double) -> int", |args, _| to_int(&args[0])),
    ("int(string) -> int", |args, _| read(text(&args[0])?, "int").map(Value::Int)),
    ("int(timestamp) -> int", |args, _| Ok(Value::Int(timestamp(&args[0])?.as_seconds()))),
    ("uint(uint) -> uint", same),
    ("uint(int) -> uint", |args, _| to_uint(&args[0])),
    ("uint(double) -> uint", |args, _| to_uint(&args[0])),
    ("uint(string) -> uint", |args, _| read(text(&args[0])?, "uint").map(Value::Uint)),
    ("double(double) -> double", same),
    ("double(int) -> double", |args, _| Ok(Value::Double(int(&args[0])? as f64))),
    ("double(uint) -> double", |args, _| match &args[0] {
        Value::Uint(number) => Ok(Value::Double(*number as f64)),
        _ => Err(Fault::wrong_type()),
    }),
    ("double(string) -> double", |args, _| read(text(&args[0])?, "double").map(Value::Double)),
    ("string(string) -> string", same),
    ("string(bool) -> string", |args, _| Ok(Value::from(args[0].to_string()))),
    ("string(int) -> string", |args, _| Ok(Value::from(args[0].to_string()))),
    ("string(uint) -> string", |args, _| match &args[0] {
        Value::Uint(number) => Ok(Value::from(number.to_string())),
        _ => Err(Fault::wrong_type()),
    }),
    ("string(double) -> string", |args, _| match &args[0] {
        Value::Double(number) => Ok(Value::from(double_text(*number))),
        _ => Err(Fault::wrong_type()),
    }),
    ("string(bytes) -> string", |args, _| {
        let text = std::str::from_utf8(bytes(&args[0])?);
        text.map(Value::from).map_err(|_| Fault::invalid("the bytes are no text: invalid UTF-8"))
    }),
    ("string(timestamp) -> string", |args, _| Ok(Value::from(timestamp(&args[0])?.to_string()))),
    ("string(duration) -> string", |args, _| Ok(Value::from(time::seconds_text(duration(&args[0])?)))),
    ("bytes(bytes) -> bytes", same),
    ("bytes(string) -> bytes", |args, _| Ok(Value::Bytes(text(&args[0])?.as_bytes().into()))),
    ("timestamp(timestamp) -> timestamp", same),
    ("timestamp(string) -> timestamp", |args, _| time::read_timestamp(text(&args[0])?)),
    ("timestamp(int) -> timestamp", |args, _| time::from_seconds(int(&args[0])?)),
    ("duration(duration) -> duration", same),
    ("duration(string) -> duration", |args, _| {
        let parsed: Result<Duration, _> = text(&args[0])?.parse();
        parsed.map(Value::Duration).map_err(|error| Fault::invalid(error.to_string()))
    }),
];

#[expect(clippy::unnecessary_wraps, reason = "it stands in a table of functions that may fail")]
fn same(args: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    Ok(args[0].clone())
}

fn to_int(value: &Value) -> Result<Value, Fault> {
    let number = match value {
        Value::Uint(number) => i64::try_from(*number).ok(),
        // The bounds are not `int`s themselves, as the language says.
        Value::Double(number) => (-INT_END < *number && *number < INT_END).then_some(*number as i64),
        _ => return Err(Fault::wrong_type()),
    };
    number.map(Value::Int).ok_or(Fault::Overflow("integer"))
}

fn to_uint(value: &Value) -> Result<Value, Fault> {
    let number = match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::Double(number) => (0.0 <= *number && *number < UINT_END).then_some(*number as u64),
        _ => return Err(Fault::wrong_type()),
    };
    number.map(Value::Uint).ok_or(Fault::Overflow("unsigned integer"))
}

fn read<T: FromStr>(text: &str, what: &str) -> Result<T, Fault> {
    text.parse().map_err(|_| cannot_read(text, what))
}

fn cannot_read(text: &str, what: &str) -> Fault {
    Fault::invalid(format!("{text:?} is no {what}"))
}
