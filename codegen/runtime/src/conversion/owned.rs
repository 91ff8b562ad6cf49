//! Sets of owned fields (`fieldsV1` of managed fields) in the names of another form.

use std::collections::BTreeMap;

use super::{Direction, EACH, How, Place, Step, Wholes, held, in_order};
use crate::{Tree, TreeMap};

/// Converts a set of owned fields. Who owns a value that moves owns it at its new place; who owns a value
/// that changes owns all that is made of it. Who owns a part of what is owned as a whole in one form owns all
/// of that there, and so all that is made of it in the other form.
pub fn convert(steps: &[Step], wholes: &Wholes, direction: Direction, set: &mut Tree) {
    // Owners of what only one form has stay where they are: nothing else has that name in the other form.
    let is_moved = |step: &Step| !matches!(step.how, How::Keep | How::Constant(_));
    let moving = || in_order(steps, direction).filter(|(_, step)| is_moved(step));
    let (here, there) = match direction {
        Direction::Up => (wholes.below, wholes.above),
        Direction::Down => (wholes.above, wholes.below),
    };
    let mut taken: Vec<Vec<Owned>> = Vec::new();
    for (_, step) in moving() {
        let mut of_step = Vec::new();
        below(set, step.at, &mut |fields| {
            let take = |place: &Place| match whole(here, step, place) {
                // Other steps take parts of it too.
                Some(whole) => has(fields, whole).then(leaf),
                None => take(fields, place, held(steps, step, place)),
            };
            of_step.push(step.places(direction).0.iter().map(take).collect());
        });
        taken.push(of_step);
    }
    for (_, step) in moving() {
        let gone = step.places(direction).0.iter().filter_map(|place| whole(here, step, place));
        for gone in gone.filter(|whole| !is_listed(there, step, whole)) {
            below(set, step.at, &mut |fields| drop(take(fields, gone, held(steps, step, gone))));
        }
    }
    for ((_, step), taken) in moving().zip(&taken) {
        let mut taken = taken.iter().cloned();
        below(set, step.at, &mut |fields| put_step(step, there, direction, taken.next(), fields));
    }
    for ((_, step), taken) in moving().zip(&taken) {
        let mut taken = taken.iter().flatten();
        below(set, step.at, &mut |fields| {
            for place in step.places(direction).0 {
                if taken.next().is_some_and(Option::is_some) {
                    let place = whole(here, step, place).unwrap_or(place);
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

/// The object that holds a place of a step and is owned as a whole.
fn whole<'p>(wholes: &[Place], step: &Step, place: &'p [&'static str]) -> Option<&'p [&'static str]> {
    (1..place.len()).map(|length| &place[..length]).find(|holder| is_listed(wholes, step, holder))
}

fn is_listed(wholes: &[Place], step: &Step, place: &[&str]) -> bool {
    wholes.iter().any(|whole| whole.strip_prefix(step.at) == Some(place))
}

fn has(fields: &TreeMap, place: &[&str]) -> bool {
    let Some((name, rest)) = place.split_first() else { return true };
    match fields.get(&format!("f:{name}")) {
        Some(Tree::Object(below)) => has(below, rest),
        Some(_) => rest.is_empty(),
        None => false,
    }
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

/// `wholes` are those of the form where it is put.
fn put_step(step: &Step, wholes: &[Place], direction: Direction, taken: Option<Owned>, fields: &mut TreeMap) {
    let Some(taken) = taken else { return };
    let to = step.places(direction).1;
    let mut put = |place: &[&'static str], owned: Option<Tree>| match whole(wholes, step, place) {
        Some(whole) => put(fields, whole, owned.map(|_| leaf())),
        None => put(fields, place, owned),
    };
    if let How::Move = step.how {
        for (place, owned) in to.iter().zip(taken) {
            put(place, owned);
        }
        return;
    }
    let [first, ..] = &taken[..] else { return };
    // A value that keeps its shape keeps who owns the parts of it.
    let is_alike = matches!(step.how, How::Default(_) | How::Values(_));
    let owned = if is_alike { first.clone() } else { taken.iter().flatten().next().map(|_| leaf()) };
    for place in to {
        put(place, owned.clone());
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
