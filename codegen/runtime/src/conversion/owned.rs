//! Sets of owned fields (`fieldsV1` of managed fields) in the names of another form.

use std::collections::BTreeMap;

use super::{Direction, EACH, How, Step, in_order};
use crate::{Tree, TreeMap};

/// Converts a set of owned fields. Who owns a value that moves owns it at its new place; who owns a value
/// that changes owns all that is made of it.
pub fn convert(steps: &[Step], direction: Direction, set: &mut Tree) {
    for (_, step) in in_order(steps, direction) {
        below(set, step.at, &mut |fields| convert_step(step, direction, fields));
        if let (How::Move, Some((&EACH, list))) = (step.how, step.at.split_last()) {
            below(set, list, &mut |items| rename_keys(step, direction, items));
        }
    }
    sort(set);
}

/// Items are named by their keys, `k:{"port":80}`, which may move too.
fn rename_keys(step: &Step, direction: Direction, items: &mut TreeMap) {
    let (from, to) = step.places(direction);
    let renamed = |name: String| {
        let place = from.iter().position(|place| *place == [name.as_str()]);
        place.map_or(name, |number| to[number].join("."))
    };
    for (item, below) in std::mem::take(items) {
        let keys: Option<BTreeMap<String, Tree>> =
            item.strip_prefix("k:").and_then(|keys| serde_json::from_str(keys).ok());
        let item = match keys {
            Some(keys) => {
                let keys: TreeMap = keys.into_iter().map(|(name, value)| (renamed(name), value)).collect();
                let sorted: BTreeMap<String, Tree> = keys.into_iter().collect();
                format!("k:{}", Tree::Object(sorted.into_iter().collect()))
            }
            None => item,
        };
        items.insert(item, below);
    }
}

fn convert_step(step: &Step, direction: Direction, fields: &mut TreeMap) {
    // Its owners stay where they are: nothing else has that name in the other form.
    if let How::Keep | How::Constant(_) = step.how {
        return;
    }
    let (from, to) = step.places(direction);
    let taken: Vec<Option<Tree>> = from.iter().map(|place| take(fields, place)).collect();
    if let How::Move = step.how {
        for (place, owned) in to.iter().zip(taken) {
            put(fields, place, owned);
        }
        return;
    }
    let [first, ..] = &taken[..] else { return };
    // A value that keeps its shape keeps who owns the parts of it.
    let is_alike = matches!(step.how, How::Default(_) | How::Values(_));
    let owned = if is_alike { first.clone() } else { taken.iter().flatten().next().map(|_| leaf()) };
    for place in to {
        put(fields, place, owned.clone());
    }
}

fn leaf() -> Tree {
    Tree::Object(TreeMap::new())
}

/// Shows `visit` the set of the fields below a place, or each of these sets.
fn below(set: &mut Tree, at: &[&str], visit: &mut impl FnMut(&mut TreeMap)) {
    let Some(fields) = set.as_object_mut() else { return };
    match at.split_first() {
        None => visit(fields),
        Some((&EACH, rest)) => {
            for (_, item) in fields.iter_mut().filter(|(key, _)| *key != ".") {
                below(item, rest, visit);
            }
        }
        Some((name, rest)) => {
            if let Some(field) = fields.get_mut(&format!("f:{name}")) {
                below(field, rest, visit);
            }
        }
    }
}

/// Takes what is owned at a place, and what held it where nothing else is owned in there.
fn take(fields: &mut TreeMap, place: &[&str]) -> Option<Tree> {
    let (name, rest) = place.split_first()?;
    let key = format!("f:{name}");
    if rest.is_empty() {
        return fields.remove(&key);
    }
    let below = fields.get_mut(&key)?.as_object_mut()?;
    let taken = take(below, rest);
    if taken.is_some() && below.is_empty() {
        fields.remove(&key);
    }
    taken
}

fn put(fields: &mut TreeMap, place: &[&str], owned: Option<Tree>) {
    let (Some((name, rest)), Some(owned)) = (place.split_first(), owned) else { return };
    let field = fields.entry(format!("f:{name}")).or_insert_with(leaf);
    match field.as_object_mut() {
        Some(below) if !rest.is_empty() => put(below, rest, Some(owned)),
        _ => *field = owned,
    }
}

/// Fields are sorted by their names.
fn sort(set: &mut Tree) {
    if let Some(fields) = set.as_object_mut() {
        let sorted: BTreeMap<String, Tree> = std::mem::take(fields).into_iter().collect();
        fields.extend(sorted);
        fields.values_mut().for_each(sort);
    }
}
