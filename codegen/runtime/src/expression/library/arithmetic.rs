//! `+ - * / %` and the signs. A result that does not fit its type is an error, never a wrong number.

use super::{Table, boolean, duration, int, timestamp};
use crate::expression::{fault::Fault, library::time, value::Value};

const INT: Fault = Fault::Overflow("integer");
const UINT: Fault = Fault::Overflow("unsigned integer");

pub(super) const TABLE: Table = &[
    ("!_(bool) -> bool", |args, _| Ok(Value::Bool(!boolean(&args[0])?))),
    ("-_(int) -> int", |args, _| int(&args[0])?.checked_neg().map(Value::Int).ok_or(INT)),
    ("-_(double) -> double", |args, _| Ok(Value::Double(-double(&args[0])?))),
    ("_+_(int, int) -> int", |args, _| ints(args, i64::checked_add)),
    ("_-_(int, int) -> int", |args, _| ints(args, i64::checked_sub)),
    ("_*_(int, int) -> int", |args, _| ints(args, i64::checked_mul)),
    ("_/_(int, int) -> int", |args, _| {
        if int(&args[1])? == 0 { Err(Fault::DivisionByZero) } else { ints(args, i64::checked_div) }
    }),
    ("_%_(int, int) -> int", |args, _| {
        if int(&args[1])? == 0 { Err(Fault::ModulusByZero) } else { ints(args, i64::checked_rem) }
    }),
    ("_+_(uint, uint) -> uint", |args, _| uints(args, u64::checked_add)),
    ("_-_(uint, uint) -> uint", |args, _| uints(args, u64::checked_sub)),
    ("_*_(uint, uint) -> uint", |args, _| uints(args, u64::checked_mul)),
    ("_/_(uint, uint) -> uint", |args, _| {
        if uint(&args[1])? == 0 { Err(Fault::DivisionByZero) } else { uints(args, u64::checked_div) }
    }),
    ("_%_(uint, uint) -> uint", |args, _| {
        if uint(&args[1])? == 0 { Err(Fault::ModulusByZero) } else { uints(args, u64::checked_rem) }
    }),
    ("_+_(double, double) -> double", |args, _| doubles(args, |one, other| one + other)),
    ("_-_(double, double) -> double", |args, _| doubles(args, |one, other| one - other)),
    ("_*_(double, double) -> double", |args, _| doubles(args, |one, other| one * other)),
    ("_/_(double, double) -> double", |args, _| doubles(args, |one, other| one / other)),
    ("_+_(timestamp, duration) -> timestamp", |args, _| {
        time::moved(timestamp(&args[0])?, i128::from(duration(&args[1])?.as_nanos()))
    }),
    ("_+_(duration, timestamp) -> timestamp", |args, _| {
        time::moved(timestamp(&args[1])?, i128::from(duration(&args[0])?.as_nanos()))
    }),
    ("_-_(timestamp, duration) -> timestamp", |args, _| {
        time::moved(timestamp(&args[0])?, -i128::from(duration(&args[1])?.as_nanos()))
    }),
    ("_-_(timestamp, timestamp) -> duration", |args, _| {
        time::length(timestamp(&args[0])?.as_nanos() - timestamp(&args[1])?.as_nanos())
    }),
    ("_+_(duration, duration) -> duration", |args, _| {
        time::length(i128::from(duration(&args[0])?.as_nanos()) + i128::from(duration(&args[1])?.as_nanos()))
    }),
    ("_-_(duration, duration) -> duration", |args, _| {
        time::length(i128::from(duration(&args[0])?.as_nanos()) - i128::from(duration(&args[1])?.as_nanos()))
    }),
];

fn ints(args: &[Value], operation: fn(i64, i64) -> Option<i64>) -> Result<Value, Fault> {
    operation(int(&args[0])?, int(&args[1])?).map(Value::Int).ok_or(INT)
}

fn uints(args: &[Value], operation: fn(u64, u64) -> Option<u64>) -> Result<Value, Fault> {
    operation(uint(&args[0])?, uint(&args[1])?).map(Value::Uint).ok_or(UINT)
}

fn doubles(args: &[Value], operation: fn(f64, f64) -> f64) -> Result<Value, Fault> {
    Ok(Value::Double(operation(double(&args[0])?, double(&args[1])?)))
}

fn uint(value: &Value) -> Result<u64, Fault> {
    if let Value::Uint(uint) = value { Ok(*uint) } else { Err(Fault::wrong_type()) }
}

fn double(value: &Value) -> Result<f64, Fault> {
    if let Value::Double(double) = value { Ok(*double) } else { Err(Fault::wrong_type()) }
}
