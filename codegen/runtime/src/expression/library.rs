//! Functions: tables of signatures, each with the code that does it.
//!
//! A table line says everything about an overload: `("(string).endsWith(string) -> bool", |args, _| ...)`.
//! The type checker chooses overloads by signature. Where types are not known, the first is called that takes
//! the values.

mod arithmetic;
mod collection;
mod conversion;
mod format;
mod list;
mod named_format;
mod network;
mod optional;
mod order;
mod pattern;
mod quantity;
mod sets;
mod text;
mod time;
mod url;

use crate::{
    expression::{
        budget::Budget,
        fault::Fault,
        value::{List, Map, Timestamp, Value},
    },
    scalar::Duration,
};

/// What an overload does. It gets as many values as the signature says; it checks their types itself, because
/// a term of the type `dyn` may have any. It spends what its work costs beyond one step and beyond reading
/// the texts among the arguments, which are paid for.
pub type Implementation = fn(&[Value], &mut Budget) -> Result<Value, Fault>;

/// Overloads with their signatures.
pub type Table = &'static [(&'static str, Implementation)];

/// All functions.
pub const TABLES: &[Table] = &[
    arithmetic::TABLE,
    collection::TABLE,
    conversion::TABLE,
    format::TABLE,
    list::TABLE,
    named_format::TABLE,
    network::TABLE,
    optional::TABLE,
    order::TABLE,
    pattern::TABLE,
    quantity::TABLE,
    sets::TABLE,
    text::TABLE,
    time::TABLE,
    url::TABLE,
];

fn text(value: &Value) -> Result<&str, Fault> {
    if let Value::Text(text) = value { Ok(text) } else { Err(Fault::wrong_type()) }
}

fn bytes(value: &Value) -> Result<&[u8], Fault> {
    if let Value::Bytes(bytes) = value { Ok(bytes) } else { Err(Fault::wrong_type()) }
}

fn int(value: &Value) -> Result<i64, Fault> {
    if let Value::Int(int) = value { Ok(*int) } else { Err(Fault::wrong_type()) }
}

fn boolean(value: &Value) -> Result<bool, Fault> {
    if let Value::Bool(bool) = value { Ok(*bool) } else { Err(Fault::wrong_type()) }
}

fn items(value: &Value) -> Result<&[Value], Fault> {
    list(value).map(List::items)
}

fn list(value: &Value) -> Result<&List, Fault> {
    if let Value::List(list) = value { Ok(list) } else { Err(Fault::wrong_type()) }
}

fn map(value: &Value) -> Result<&Map, Fault> {
    if let Value::Map(map) = value { Ok(map) } else { Err(Fault::wrong_type()) }
}

fn timestamp(value: &Value) -> Result<Timestamp, Fault> {
    if let Value::Timestamp(time) = value { Ok(*time) } else { Err(Fault::wrong_type()) }
}

fn duration(value: &Value) -> Result<Duration, Fault> {
    if let Value::Duration(duration) = value { Ok(*duration) } else { Err(Fault::wrong_type()) }
}

/// A number of things, as a value.
fn count(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A position in a row of that length, or the place behind its end.
fn position(value: &Value, length: usize) -> Result<usize, Fault> {
    let number = int(value)?;
    let position = usize::try_from(number).ok().filter(|position| *position <= length);
    position.ok_or_else(|| Fault::invalid(format!("index out of range: {number}")))
}
