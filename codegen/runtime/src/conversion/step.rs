//! One step of a conversion, at one object.

use super::{Direction, How, Place, Step, held, object_in};
use crate::{Tree, TreeMap};

/// Values by the places of a step; null and absent are the same.
pub(super) type Values = Vec<Option<Tree>>;

/// Takes the values of a step, and what held them where nothing else is in there.
pub(super) fn take(steps: &[Step], step: &Step, direction: Direction, fields: &mut TreeMap) -> Values {
    let (from, to) = step.places(direction);
    let taken = from.iter().map(|place| take_at(fields, place, held(steps, step, place))).collect();
    // A text may become the parts of an object of the same name: what is left of that is no text.
    for name in
        to.iter().filter(|name| from.iter().any(|place| place.len() > name.len() && place.starts_with(name)))
    {
        if get(fields, name).is_some_and(TreeMap::is_empty) {
            take_at(fields, name, usize::MAX);
        }
    }
    taken
}

/// The object at a place.
fn get<'f>(fields: &'f TreeMap, place: &[&str]) -> Option<&'f TreeMap> {
    place.iter().try_fold(fields, |fields, name| fields.get(*name)?.as_object())
}

/// Puts what becomes of the values of a step at their new places. `kept` is what an annotation kept on the
/// way here. Returns what an annotation has to keep because it cannot come back otherwise.
pub(super) fn put(
    step: &Step,
    direction: Direction,
    kept: Option<&str>,
    given: Values,
    fields: &mut TreeMap,
) -> Option<String> {
    let (from, to) = step.places(direction);
    let back = direction.reverse();
    if let Some(values) = kept.and_then(|text| restored(step, back, text, &given)) {
        put_all(fields, to, values);
        return None;
    }
    let values = changed(&step.how, direction, &given, to.len());
    // That a default is filled in is what the step is for; it is not undone.
    let is_default = matches!(step.how, How::Default(_)) && direction == Direction::Up;
    let is_lost = step.annotation.is_some()
        && !is_default
        && !are_same(&changed(&step.how, back, &written(&values), from.len()), &given);
    put_all(fields, to, values);
    is_lost.then(|| text_of(given))
}

/// What an annotation kept, as far as the object still has the values that were made from it. An empty text
/// keeps the values as they are.
fn restored(step: &Step, back: Direction, text: &str, given: &Values) -> Option<Values> {
    if text.is_empty() {
        return (step.below.len() == step.above.len()).then(|| given.clone());
    }
    let value: Tree = serde_json::from_str(text).ok()?;
    let (places, others) = step.places(back);
    let values = match value {
        Tree::Array(values) if places.len() != 1 => values,
        value => vec![value],
    };
    let values: Values = values.into_iter().map(|value| Some(value).filter(|it| !it.is_null())).collect();
    let is_from_here = || are_same(&changed(&step.how, back, &values, others.len()), given);
    (values.len() == places.len() && is_from_here()).then_some(values)
}

/// The values that types write: empty ones count as absent.
fn written(values: &Values) -> Values {
    let is_empty = |value: &Tree| match value {
        Tree::String(text) => text.is_empty(),
        Tree::Array(items) => items.is_empty(),
        Tree::Object(fields) => fields.is_empty(),
        _ => false,
    };
    values.iter().map(|value| value.clone().filter(|value| !is_empty(value))).collect()
}

/// Whether two lists of values are the same. An empty text counts as absent, and so does what is missing at
/// the end.
fn are_same(one: &Values, other: &Values) -> bool {
    let value = |values: &'_ Values, number: usize| {
        values.get(number).cloned().flatten().filter(|value| value.as_str() != Some(""))
    };
    (0..one.len().max(other.len())).all(|number| value(one, number) == value(other, number))
}

fn text_of(mut values: Values) -> String {
    if values.len() == 1 {
        return values.remove(0).unwrap_or_default().to_string();
    }
    Tree::Array(values.into_iter().map(Option::unwrap_or_default).collect()).to_string()
}

/// What becomes of values on a way that leads to so many places.
fn changed(how: &How, direction: Direction, values: &Values, places: usize) -> Values {
    let is_up = direction == Direction::Up;
    let first = || values.first().and_then(Option::as_ref);
    match how {
        How::Default(value) if is_up => {
            vec![first().filter(|it| !is_zero(it)).cloned().or_else(|| json(value))]
        }
        How::Move | How::Default(_) => values.clone(),
        How::Wrap if is_up => vec![wrapped(first())],
        How::Unwrap if !is_up => vec![wrapped(first())],
        How::Wrap | How::Unwrap => vec![first().and_then(|list| list.get(0)).cloned()],
        How::Join(text) if is_up => vec![joined(values, text)],
        How::Split(text) if !is_up => vec![joined(values, text)],
        How::Join(text) | How::Split(text) => cut(first(), text, places),
        How::Values(pairs) => vec![first().map(|value| translated(value, pairs, is_up))],
        How::Constant(value) if is_up => vec![json(value)],
        How::Constant(_) | How::Keep => Vec::new(),
        How::Function(function) => function(direction, values),
    }
}

fn wrapped(value: Option<&Tree>) -> Option<Tree> {
    value.map(|value| Tree::Array(vec![value.clone()]))
}

/// The texts up to the last one that is given.
fn joined(values: &Values, between: &str) -> Option<Tree> {
    let texts = values.iter().map(|value| value.as_ref().and_then(Tree::as_str).unwrap_or_default());
    let texts: Vec<&str> = texts.collect();
    let given = texts.iter().rposition(|text| !text.is_empty()).map_or(0, |last| last + 1);
    (given > 0).then(|| texts[..given].join(between).into())
}

/// A text for each place; the last one has the rest.
fn cut(value: Option<&Tree>, between: &str, places: usize) -> Values {
    let text = value.and_then(Tree::as_str).unwrap_or_default();
    text.splitn(places, between).map(|part| (!part.is_empty()).then(|| part.into())).collect()
}

fn translated(value: &Tree, pairs: &[(&str, &str)], is_up: bool) -> Tree {
    let found = value.as_str().and_then(|text| {
        let pair = pairs.iter().find(|(below, above)| text == if is_up { *below } else { *above });
        pair.map(|(below, above)| if is_up { *above } else { *below })
    });
    found.map_or_else(|| value.clone(), Tree::from)
}

fn is_zero(value: &Tree) -> bool {
    match value {
        Tree::Null => true,
        Tree::Bool(value) => !value,
        Tree::Number(number) => number.as_f64() == Some(0.0),
        Tree::String(text) => text.is_empty(),
        Tree::Array(items) => items.is_empty(),
        Tree::Object(fields) => fields.is_empty(),
    }
}

fn json(text: &str) -> Option<Tree> {
    serde_json::from_str(text).ok()
}

/// Takes the value at a place out of an object, and what held it where nothing else is in there; but for so
/// many holders from outside.
fn take_at(fields: &mut TreeMap, place: &[&str], held: usize) -> Option<Tree> {
    let (name, rest) = place.split_first()?;
    if rest.is_empty() {
        return fields.remove(*name).filter(|value| !value.is_null());
    }
    let below = fields.get_mut(*name)?.as_object_mut()?;
    let taken = take_at(below, rest, held.saturating_sub(1));
    if held == 0 && taken.is_some() && below.is_empty() {
        fields.remove(*name);
    }
    taken
}

/// Removes the objects that hold a place, where nothing is in there. The outermost `stays` of them are kept.
pub(super) fn forget_holders(fields: &mut TreeMap, place: &[&str], stays: usize) {
    let Some((name, rest @ [_, ..])) = place.split_first() else { return };
    let Some(below) = fields.get_mut(*name).and_then(Tree::as_object_mut) else { return };
    forget_holders(below, rest, stays.saturating_sub(1));
    if stays == 0 && below.is_empty() {
        fields.remove(*name);
    }
}

fn put_all(fields: &mut TreeMap, places: &[Place], values: Values) {
    for (place, value) in places.iter().zip(values) {
        if let Some(value) = value {
            put_at(fields, place, value);
        }
    }
}

fn put_at(fields: &mut TreeMap, place: &[&str], value: Tree) {
    match place.split_first() {
        None => {}
        Some((name, [])) => drop(fields.insert((*name).to_owned(), value)),
        Some((name, rest)) => {
            if let Some(below) = object_in(fields, name) {
                put_at(below, rest, value);
            }
        }
    }
}
