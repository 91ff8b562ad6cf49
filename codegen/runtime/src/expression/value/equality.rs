//! Which values are equal, and which is less.
//!
//! Numbers of all types are compared as the numbers that they stand for. Values of other types that differ
//! are not equal, and cannot be ordered.

use std::cmp::Ordering;

use super::{List, ListKind, Value};
use crate::expression::{budget::Budget, fault::Fault};

/// Whether two values are equal. One step for each pair that is looked at.
pub fn are_equal(one: &Value, other: &Value, budget: &mut Budget) -> Result<bool, Fault> {
    budget.spend(1)?;
    Ok(match (one, other) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Text(one), Value::Text(other)) => {
            budget.spend_bytes(one.len().min(other.len()))?;
            one == other
        }
        (Value::Bytes(one), Value::Bytes(other)) => {
            budget.spend_bytes(one.len().min(other.len()))?;
            one == other
        }
        (Value::Timestamp(one), Value::Timestamp(other)) => one == other,
        (Value::Duration(one), Value::Duration(other)) => one == other,
        (Value::Type(one), Value::Type(other)) => one == other,
        (Value::Ip(one), Value::Ip(other)) => one.to_canonical() == other.to_canonical(),
        (Value::Cidr(one, bits), Value::Cidr(other, other_bits)) => one == other && bits == other_bits,
        (Value::Quantity(one), Value::Quantity(other)) => one == other,
        (Value::Url(one), Value::Url(other)) => one == other,
        (Value::Format(one), Value::Format(other)) => one == other,
        (Value::Optional(_), Value::Optional(_)) => match (one.contained(), other.contained()) {
            (Some(one), Some(other)) => are_equal(one, other, budget)?,
            (one, other) => one.is_none() && other.is_none(),
        },
        (Value::List(one), Value::List(other)) => {
            let is_identified = one.kind != ListKind::Plain || other.kind != ListKind::Plain;
            if is_identified {
                return same_items(one, other, budget);
            }
            let mut is_equal = one.items.len() == other.items.len();
            for (one, other) in one.items.iter().zip(&other.items) {
                is_equal = is_equal && are_equal(one, other, budget)?;
            }
            is_equal
        }
        (Value::Map(one), Value::Map(other)) => {
            let mut is_equal = one.entries.len() == other.entries.len();
            for ((key, one), (other_key, other)) in one.entries.iter().zip(&other.entries) {
                is_equal = is_equal && key == other_key && are_equal(one, other, budget)?;
            }
            is_equal
        }
        _ => number_order(one, other) == Ok(Some(Ordering::Equal)),
    })
}

/// Whether two lists have equal items, in any order.
fn same_items(one: &List, other: &List, budget: &mut Budget) -> Result<bool, Fault> {
    if one.items.len() != other.items.len() {
        return Ok(false);
    }
    let mut left: Vec<&Value> = other.items.iter().collect();
    for item in &one.items {
        // Mostly the order is the same: then the first that is left is the one.
        let mut found = None;
        for (position, candidate) in left.iter().enumerate() {
            if are_equal(item, candidate, budget)? {
                found = Some(position);
                break;
            }
        }
        let Some(position) = found else { return Ok(false) };
        left.remove(position);
    }
    Ok(true)
}

/// The order of two values; `None` where one is not a number, as in IEEE 754. Fails for values that have no
/// order.
pub fn compare(one: &Value, other: &Value) -> Result<Option<Ordering>, Fault> {
    Ok(Some(match (one, other) {
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Text(one), Value::Text(other)) => one.cmp(other),
        (Value::Bytes(one), Value::Bytes(other)) => one.cmp(other),
        (Value::Timestamp(one), Value::Timestamp(other)) => one.cmp(other),
        (Value::Duration(one), Value::Duration(other)) => one.cmp(other),
        (Value::Quantity(one), Value::Quantity(other)) => one.cmp(other),
        _ => return number_order(one, other).map_err(|NoNumbers| Fault::wrong_type()),
    }))
}

/// Two values of which one is no number.
#[derive(PartialEq)]
struct NoNumbers;

/// The order of two numbers; `None` where one is NaN.
fn number_order(one: &Value, other: &Value) -> Result<Option<Ordering>, NoNumbers> {
    if let (Some(one), Some(other)) = (integer(one), integer(other)) {
        return Ok(Some(one.cmp(&other)));
    }
    match (one, other) {
        (Value::Double(one), Value::Double(other)) => Ok(one.partial_cmp(other)),
        (Value::Double(one), other) => Ok(double_order(*one, integer(other).ok_or(NoNumbers)?)),
        (one, Value::Double(other)) => {
            Ok(double_order(*other, integer(one).ok_or(NoNumbers)?).map(Ordering::reverse))
        }
        _ => Err(NoNumbers),
    }
}

fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(value) => Some(i128::from(*value)),
        Value::Uint(value) => Some(i128::from(*value)),
        _ => None,
    }
}

/// Whole numbers beyond 2^53 are rounded, as the specification has it.
fn double_order(one: f64, other: i128) -> Option<Ordering> {
    one.partial_cmp(&(other as f64))
}
