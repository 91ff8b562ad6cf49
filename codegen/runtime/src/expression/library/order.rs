//! `== != < <= > >=`.

use std::cmp::Ordering;

use super::Table;
use crate::expression::{
    budget::Budget,
    fault::Fault,
    value::{Value, are_equal, compare},
};

/// The four lines of each pair of types that have an order.
macro_rules! ordered {
    ($($pair:literal),* $(,)?) => {
        &[
            ("_==_(A, A) -> bool", |args, budget| are_equal(&args[0], &args[1], budget).map(Value::Bool)),
            ("_!=_(A, A) -> bool", |args, budget| {
                are_equal(&args[0], &args[1], budget).map(|is_equal| Value::Bool(!is_equal))
            }),
            $(
                (concat!("_<_(", $pair, ") -> bool"), |args, _| is(args, Ordering::is_lt)),
                (concat!("_<=_(", $pair, ") -> bool"), |args, _| is(args, Ordering::is_le)),
                (concat!("_>_(", $pair, ") -> bool"), |args, _| is(args, Ordering::is_gt)),
                (concat!("_>=_(", $pair, ") -> bool"), |args, _| is(args, Ordering::is_ge)),
            )*
        ]
    };
}

pub(super) const TABLE: Table = ordered![
    "bool, bool",
    "int, int",
    "int, uint",
    "int, double",
    "uint, int",
    "uint, uint",
    "uint, double",
    "double, int",
    "double, uint",
    "double, double",
    "string, string",
    "bytes, bytes",
    "timestamp, timestamp",
    "duration, duration",
    "Quantity, Quantity",
];

/// No order holds for what is not a number.
fn is(args: &[Value], wanted: fn(Ordering) -> bool) -> Result<Value, Fault> {
    Ok(Value::Bool(compare(&args[0], &args[1])?.is_some_and(wanted)))
}

/// The smallest of the items, or the largest.
pub(super) fn extreme(items: &[Value], wanted: Ordering, budget: &mut Budget) -> Result<Value, Fault> {
    budget.spend(items.len())?;
    let (first, rest) = items.split_first().ok_or_else(|| Fault::invalid("the list is empty"))?;
    let mut found = first;
    for item in rest {
        if compare(item, found)? == Some(wanted) {
            found = item;
        }
    }
    Ok(found.clone())
}
