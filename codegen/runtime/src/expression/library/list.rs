//! Lists.

use std::{cmp::Ordering, collections::BTreeSet};

use crate::scalar::Duration;

use super::{Table, count, duration, int, items, order::extreme, position, sets};
use crate::expression::{
    budget::Budget,
    fault::Fault,
    value::{Key, Value, are_equal, compare},
};

pub(super) const TABLE: Table = &[
    ("(list(A)).isSorted() -> bool", |args, budget| {
        let items = items(&args[0])?;
        budget.spend(items.len())?;
        for pair in items.windows(2) {
            if compare(&pair[0], &pair[1])?.is_none_or(Ordering::is_gt) {
                return Ok(Value::Bool(false));
            }
        }
        Ok(Value::Bool(true))
    }),
    ("isUnique(list(A)) -> bool", |args, budget| is_unique(items(&args[0])?, budget)),
    ("(list(A)).isUnique() -> bool", |args, budget| is_unique(items(&args[0])?, budget)),
    ("(list(A)).min() -> A", |args, budget| extreme(items(&args[0])?, Ordering::Less, budget)),
    ("(list(A)).max() -> A", |args, budget| extreme(items(&args[0])?, Ordering::Greater, budget)),
    ("(list(int)).sum() -> int", |args, budget| sum(items(&args[0])?, Value::Int(0), budget)),
    ("(list(uint)).sum() -> uint", |args, budget| sum(items(&args[0])?, Value::Uint(0), budget)),
    ("(list(double)).sum() -> double", |args, budget| sum(items(&args[0])?, Value::Double(0.0), budget)),
    ("(list(duration)).sum() -> duration", |args, budget| {
        sum(items(&args[0])?, Value::Duration(Duration::default()), budget)
    }),
    ("(list(A)).indexOf(A) -> int", |args, budget| {
        for (position, item) in items(&args[0])?.iter().enumerate() {
            if are_equal(item, &args[1], budget)? {
                return Ok(count(position));
            }
        }
        Ok(Value::Int(-1))
    }),
    ("(list(A)).lastIndexOf(A) -> int", |args, budget| {
        for (position, item) in items(&args[0])?.iter().enumerate().rev() {
            if are_equal(item, &args[1], budget)? {
                return Ok(count(position));
            }
        }
        Ok(Value::Int(-1))
    }),
    ("(list(A)).slice(int, int) -> list(A)", |args, budget| {
        let items = items(&args[0])?;
        let (start, end) = (position(&args[1], items.len())?, position(&args[2], items.len())?);
        if start > end {
            return Err(Fault::invalid(format!("cannot slice from {start} to {end}")));
        }
        budget.spend(end - start)?;
        Ok(Value::list(items[start..end].to_vec()))
    }),
    ("(list(A)).distinct() -> list(A)", |args, budget| {
        let mut kept: Vec<Value> = Vec::new();
        for item in items(&args[0])? {
            if !sets::has(&kept, item, budget)? {
                kept.push(item.clone());
            }
        }
        Ok(Value::list(kept))
    }),
    ("(list(A)).reverse() -> list(A)", |args, budget| {
        let items = items(&args[0])?;
        budget.spend(items.len())?;
        Ok(Value::list(items.iter().rev().cloned().collect()))
    }),
    ("(list(A)).sort() -> list(A)", |args, budget| sort(items(&args[0])?, budget)),
    ("(list(list(A))).flatten() -> list(A)", |args, budget| {
        let mut flat = Vec::new();
        for item in items(&args[0])? {
            let inner = if let Value::List(list) = item { list.items() } else { std::slice::from_ref(item) };
            budget.spend(inner.len() + 1)?;
            flat.extend_from_slice(inner);
        }
        Ok(Value::list(flat))
    }),
    ("lists.range(int) -> list(int)", |args, budget| {
        let end = int(&args[0])?;
        budget.spend(usize::try_from(end).unwrap_or(0))?;
        Ok(Value::list((0..end).map(Value::Int).collect()))
    }),
];

/// Whether no item occurs twice. Items that can be keys are looked up, others are compared with each other.
fn is_unique(items: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    budget.spend(items.len())?;
    let mut keys = BTreeSet::new();
    let mut others: Vec<&Value> = Vec::new();
    for item in items {
        let is_new = if let Some(key) = Key::of(item) {
            keys.insert(key)
        } else {
            let mut is_new = true;
            for other in &others {
                is_new = is_new && !are_equal(other, item, budget)?;
            }
            others.push(item);
            is_new
        };
        if !is_new {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

/// Numbers or durations.
fn sum(items: &[Value], zero: Value, budget: &mut Budget) -> Result<Value, Fault> {
    budget.spend(items.len())?;
    items.iter().try_fold(zero, |sum, item| {
        let sum = match (&sum, item) {
            (Value::Int(sum), Value::Int(item)) => sum.checked_add(*item).map(Value::Int),
            (Value::Uint(sum), Value::Uint(item)) => sum.checked_add(*item).map(Value::Uint),
            (Value::Double(sum), Value::Double(item)) => Some(Value::Double(sum + item)),
            (Value::Duration(sum), item @ Value::Duration(_)) => {
                let sum = sum.as_nanos().checked_add(duration(item)?.as_nanos());
                sum.map(|nanos| Value::Duration(Duration::from_nanos(nanos)))
            }
            _ => return Err(Fault::wrong_type()),
        };
        sum.ok_or(Fault::Overflow("sum"))
    })
}

/// Items of one type that has an order; equal ones stay in their order.
fn sort(items: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let turns = items.len().checked_ilog2().unwrap_or(0) as usize + 1;
    budget.spend(items.len().saturating_mul(turns))?;
    // The order is asked for before, so that sorting itself cannot fail.
    for pair in items.windows(2) {
        let is_mixed = pair[0].type_name() != pair[1].type_name();
        if is_mixed || compare(&pair[0], &pair[1])?.is_none() {
            return Err(Fault::invalid("the items have no order"));
        }
    }
    let mut sorted = items.to_vec();
    sorted.sort_by(|one, other| compare(one, other).ok().flatten().unwrap_or(Ordering::Equal));
    Ok(Value::list(sorted))
}
