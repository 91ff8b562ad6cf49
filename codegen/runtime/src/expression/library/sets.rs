//! Lists as sets: order and repetition do not count.

use super::{Table, items};
use crate::expression::{
    budget::Budget,
    fault::Fault,
    value::{Value, are_equal},
};

pub(super) const TABLE: Table = &[
    ("sets.contains(list(A), list(A)) -> bool", |args, budget| {
        contains(items(&args[0])?, items(&args[1])?, budget).map(Value::Bool)
    }),
    ("sets.equivalent(list(A), list(A)) -> bool", |args, budget| {
        let (one, other) = (items(&args[0])?, items(&args[1])?);
        Ok(Value::Bool(contains(one, other, budget)? && contains(other, one, budget)?))
    }),
    ("sets.intersects(list(A), list(A)) -> bool", |args, budget| {
        let (one, other) = (items(&args[0])?, items(&args[1])?);
        for item in one {
            if has(other, item, budget)? {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }),
];

/// Whether all wanted items are there.
fn contains(items: &[Value], wanted: &[Value], budget: &mut Budget) -> Result<bool, Fault> {
    for item in wanted {
        if !has(items, item, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether an equal item is there.
pub(super) fn has(items: &[Value], wanted: &Value, budget: &mut Budget) -> Result<bool, Fault> {
    for item in items {
        if are_equal(item, wanted, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}
