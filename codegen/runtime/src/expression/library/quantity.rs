//! Quantities with units, such as `100m` and `1.5Gi`.

use std::{cmp::Ordering, sync::Arc};

use crate::scalar::{Quantity, QuantityFormat};

use super::{Table, int, text};
use crate::expression::{fault::Fault, value::Value};

pub(super) const TABLE: Table = &[
    ("isQuantity(string) -> bool", |args, _| Ok(Value::Bool(text(&args[0])?.parse::<Quantity>().is_ok()))),
    ("isQuantity(Quantity) -> bool", |args, _| quantity(&args[0]).map(|_| Value::Bool(true))),
    ("quantity(Quantity) -> Quantity", |args, _| quantity(&args[0]).map(|_| args[0].clone())),
    ("quantity(string) -> Quantity", |args, _| {
        let parsed: Result<Quantity, _> = text(&args[0])?.parse();
        parsed.map(value_of).map_err(|error| Fault::invalid(error.to_string()))
    }),
    ("(Quantity).sign() -> int", |args, _| Ok(Value::Int(i64::from(quantity(&args[0])?.sign())))),
    ("(Quantity).isGreaterThan(Quantity) -> bool", |args, _| {
        Ok(Value::Bool(quantity(&args[0])? > quantity(&args[1])?))
    }),
    ("(Quantity).isLessThan(Quantity) -> bool", |args, _| {
        Ok(Value::Bool(quantity(&args[0])? < quantity(&args[1])?))
    }),
    ("(Quantity).compareTo(Quantity) -> int", |args, _| {
        Ok(Value::Int(match quantity(&args[0])?.cmp(quantity(&args[1])?) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }))
    }),
    ("(Quantity).roundUp() -> int", |args, _| Ok(Value::Int(quantity(&args[0])?.value()))),
    ("(Quantity).isWhole() -> bool", |args, _| Ok(Value::Bool(quantity(&args[0])?.is_whole()))),
    ("(Quantity).isInteger() -> bool", |args, _| Ok(Value::Bool(whole(quantity(&args[0])?).is_some()))),
    ("(Quantity).asInteger() -> int", |args, _| {
        let whole = whole(quantity(&args[0])?);
        whole.map(Value::Int).ok_or_else(|| Fault::invalid("the quantity is no int"))
    }),
    ("(Quantity).asApproximateFloat() -> double", |args, _| {
        Ok(Value::Double(quantity(&args[0])?.approximate()))
    }),
    ("(Quantity).add(Quantity) -> Quantity", |args, _| {
        quantity(&args[0])?.checked_add(quantity(&args[1])?).map(value_of).ok_or(OVERFLOW)
    }),
    ("(Quantity).add(int) -> Quantity", |args, _| {
        quantity(&args[0])?.checked_add(&of_int(&args[1])?).map(value_of).ok_or(OVERFLOW)
    }),
    ("(Quantity).sub(Quantity) -> Quantity", |args, _| {
        quantity(&args[0])?.checked_sub(quantity(&args[1])?).map(value_of).ok_or(OVERFLOW)
    }),
    ("(Quantity).sub(int) -> Quantity", |args, _| {
        quantity(&args[0])?.checked_sub(&of_int(&args[1])?).map(value_of).ok_or(OVERFLOW)
    }),
];

const OVERFLOW: Fault = Fault::Overflow("quantity");

fn quantity(value: &Value) -> Result<&Quantity, Fault> {
    if let Value::Quantity(quantity) = value { Ok(quantity) } else { Err(Fault::wrong_type()) }
}

fn value_of(quantity: Quantity) -> Value {
    Value::Quantity(Arc::new(quantity))
}

fn of_int(value: &Value) -> Result<Quantity, Fault> {
    Ok(Quantity::new(int(value)?, QuantityFormat::DecimalSi))
}

/// The number, if it is a whole one.
fn whole(quantity: &Quantity) -> Option<i64> {
    let number = quantity.value();
    (Quantity::new(number, QuantityFormat::DecimalSi) == *quantity).then_some(number)
}
