//! Sets of owned fields (`fieldsV1` of managed fields) in the names of another form.

use std::collections::BTreeMap;

use super::{Direction, EACH, How, Step, held, in_order};
use crate::{Tree, TreeMap};

/// Converts a set of owned fields. Who owns a value that moves owns it at its new place; who owns a value
/// that changes owns all that is made of it.
pub fn convert(steps: &[Step], direction: Direction, set: &mut Tree) {
    // Owners of what only one form has stay where they are: nothing else has that name in the other form.
    let is_moved = |step: &Step| !matches!(step.how, How::Keep | How::Constant(_));
    let moving = || in_order(steps, direction).filter(|(_, step)| is_moved(step));
    let mut taken: Vec<Vec<Owned>> = Vec::new();
    for (_, step) in moving() {
        let mut of_step = Vec::new();
        below(set, step.at, &mut |fields| {
            let (from, _) = step.places(direction);
            of_step.push(from.iter().map(|place| take(fields, place, held(steps, step, place))).collect());
        });
        taken.push(of_step);
    }
    for ((_, step), taken) in moving().zip(&taken) {
        let mut taken = taken.iter().cloned();
        below(set, step.at, &mut |fields| put_step(step, direction, taken.next(), fields));
    }
    for ((_, step), taken) in moving().zip(&taken) {
        let mut taken = taken.iter().flatten();
        below(set, step.at, &mut |fields| {
            for place in step.places(direction).0 {
                if taken.next().is_some_and(Option::is_some) {
                    forget_holders(fields, &place[..=held(steps, step, place)]);
                }
            }
        });
    }
    for (_, step) in in_order(steps, direction) {
        if let (How::Move, Some((&EACH, list))) = (step.how, step.at.split_last()) {
            below(set, list, &mut |items| rename_keys(step, direction, items));
        }
    }
    sort(set);
}

/// What is owned at the places of a step.
type Owned = Vec<Option<Tree>>;

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

fn put_step(step: &Step, direction: Direction, taken: Option<Owned>, fields: &mut TreeMap) {
    let Some(taken) = taken else { return };
    let to = step.places(direction).1;
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

/// Takes what is owned at a place, and what held it where nothing else is owned in there; but for so many
/// holders from outside.
fn take(fields: &mut TreeMap, place: &[&str], held: usize) -> Option<Tree> {
    let (name, rest) = place.split_first()?;
    let key = format!("f:{name}");
    if rest.is_empty() {
        return fields.remove(&key);
    }
    let below = fields.get_mut(&key)?.as_object_mut()?;
    let taken = take(below, rest, held.saturating_sub(1));
    if held == 0 && taken.is_some() && below.is_empty() {
        fields.remove(&key);
    }
    taken
}

/// Removes the sets that hold a place, where nothing is owned in there.
fn forget_holders(fields: &mut TreeMap, place: &[&str]) {
    let Some((name, rest @ [_, ..])) = place.split_first() else { return };
    let key = format!("f:{name}");
    let Some(below) = fields.get_mut(&key).and_then(Tree::as_object_mut) else { return };
    forget_holders(below, rest);
    if below.is_empty() {
        fields.remove(&key);
    }
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
