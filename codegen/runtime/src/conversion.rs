//! How objects of one version of a kind become objects of another one: tables that the generator writes from
//! `conversion` in a schema file, and their interpretation over trees.
//!
//! A table is written beside one version and goes *up* to the version that it names, and *down* from there. A
//! step takes values from places of one form and puts them at places of the other one; all other fields have
//! the same places in both. All steps take before any of them puts: a name may stand for one field in one
//! form and for another field in the other form. What a form has no place for is kept in an annotation of the
//! object in that form, where the step names one, and comes back from there.

mod owned;
mod step;

use std::{
    borrow::Cow,
    fmt::{self, Debug},
};

use crate::{Tree, TreeMap, vocabulary::Vocabulary};

pub use self::owned::convert as convert_owned;

/// A path of names in an object. In [`Step::at`], [`EACH`] stands for each item of a list or value of a map.
pub type Place = &'static [&'static str];

/// Each item of a list, or value of a map.
pub const EACH: &str = "*";

/// A part of a conversion.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The object, or each of the objects, that the step is about: names in the lower form.
    pub at: Place,
    /// Where values stand in the lower form, from there.
    pub below: &'static [Place],
    /// Where they stand in the upper form.
    pub above: &'static [Place],
    /// What becomes of the values.
    pub how: How,
    /// The annotation that keeps what the other form has no place for, in the spelling of the schema.
    pub annotation: Option<&'static str>,
}

/// Atomic objects (`x-orch-map-type: atomic`) that contain a field of a step, as paths from the root. One
/// that is in both lists is the same field in both forms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wholes {
    /// Those of the lower form.
    pub below: &'static [Place],
    /// Those of the upper form.
    pub above: &'static [Place],
}

/// What becomes of the values of a step on the way up; on the way down it is the reverse.
#[derive(Clone, Copy)]
pub enum How {
    /// They only change their places, each one with the place of the same number.
    Move,
    /// A value that is absent or zero becomes this one, as JSON.
    Default(&'static str),
    /// A value becomes a list of one item.
    Wrap,
    /// A list of one item becomes that item.
    Unwrap,
    /// Texts become one, with this text between them.
    Join(&'static str),
    /// A text becomes several, cut at this text.
    Split(&'static str),
    /// Texts become others: the lower and the upper one. A text that is not listed stays.
    Values(&'static [(&'static str, &'static str)]),
    /// The upper form has this value, as JSON, and the lower one has no place for it.
    Constant(&'static str),
    /// Only one of the forms has the places.
    Keep,
    /// What a hand-written function makes of them.
    Function(Function),
}

/// A hand-written step: from the values of one form to those of the other. It must be total, and the way back
/// must give the same values, except for those that an annotation keeps.
pub type Function = fn(Direction, &[Option<Tree>]) -> Vec<Option<Tree>>;

impl Debug for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            How::Move => f.write_str("Move"),
            How::Default(value) => write!(f, "Default({value})"),
            How::Wrap => f.write_str("Wrap"),
            How::Unwrap => f.write_str("Unwrap"),
            How::Join(text) => write!(f, "Join({text:?})"),
            How::Split(text) => write!(f, "Split({text:?})"),
            How::Values(pairs) => write!(f, "Values({pairs:?})"),
            How::Constant(value) => write!(f, "Constant({value})"),
            How::Keep => f.write_str("Keep"),
            How::Function(_) => f.write_str("Function"),
        }
    }
}

/// Which way a table is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the version that the table names.
    Up,
    /// From there.
    Down,
}

impl Direction {
    /// The other way.
    #[must_use]
    pub fn reverse(self) -> Self {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        }
    }
}

impl Step {
    /// The places that values come from and go to.
    fn places(&self, direction: Direction) -> (&'static [Place], &'static [Place]) {
        match direction {
            Direction::Up => (self.below, self.above),
            Direction::Down => (self.above, self.below),
        }
    }

    /// The values of an object that has none.
    fn nothing(&self, direction: Direction) -> Vec<Option<Tree>> {
        vec![None; self.places(direction).0.len()]
    }
}

/// Converts an object without its type. With `keeps`, annotations bring back what they keep; without, they
/// are dropped, which helps where somebody has written nonsense into one.
pub fn convert(steps: &[Step], direction: Direction, keeps: bool, vocabulary: &Vocabulary, tree: &mut Tree) {
    let key = |number: usize| steps[number].annotation.map(|key| spelled(key, vocabulary));
    let kept = (0..steps.len()).map(|number| take_annotation(tree, &key(number)?).filter(|_| keeps));
    let kept: Vec<Option<String>> = kept.collect();
    let mut taken: Vec<Vec<step::Values>> = Vec::new();
    for (_, step) in in_order(steps, direction) {
        let mut of_step = Vec::new();
        each_at(tree, step.at, &mut |fields| of_step.push(step::take(steps, step, direction, fields)));
        taken.push(of_step);
    }
    let (mut to_keep, mut losing) = (Vec::new(), Vec::new());
    for ((number, step), taken) in in_order(steps, direction).zip(&taken) {
        let mut taken = taken.iter().cloned();
        each_at(tree, step.at, &mut |fields| {
            // An object that another step has made had no values.
            let given = taken.next().unwrap_or_else(|| step.nothing(direction));
            let lost = step::put(step, direction, kept[number].as_deref(), given, fields);
            if let Some(kept) = key(number).zip(lost) {
                to_keep.push(kept);
                losing.push(*step);
            }
        });
    }
    for ((_, step), taken) in in_order(steps, direction).zip(&taken) {
        let mut taken = taken.iter().flatten();
        each_at(tree, step.at, &mut |fields| {
            for place in step.places(direction).0 {
                if taken.next().is_some_and(Option::is_some) {
                    // What an annotation keeps of an object comes back to that object, which stays.
                    let stays = held(&losing, step, place);
                    step::forget_holders(fields, &place[..=held(steps, step, place)], stays);
                }
            }
        });
    }
    for (key, text) in to_keep {
        put_annotation(tree, &key, text);
    }
}

/// The path in the other form of what has this path, `spec.host`, in one; `None` where the value there is not
/// the same.
pub fn path<'p>(steps: &[Step], direction: Direction, path: &'p str) -> Option<Cow<'p, str>> {
    for (_, step) in in_order(steps, direction).filter(|(_, step)| !step.at.contains(&EACH)) {
        let (from, to) = step.places(direction);
        let text = |place: &Place| [step.at, place].concat().join(".");
        for (number, place) in from.iter().enumerate() {
            let Some(rest) = path.strip_prefix(&*text(place)) else { continue };
            if !rest.is_empty() && !rest.starts_with('.') {
                continue;
            }
            let is_moved = matches!(step.how, How::Move);
            return is_moved.then(|| Cow::Owned(format!("{}{rest}", text(&to[number]))));
        }
    }
    Some(Cow::Borrowed(path))
}

/// How many names of a place lead to objects that steps are about. These objects stay until all steps have
/// put their values, also where nothing is left in them.
fn held(steps: &[Step], step: &Step, place: &[&str]) -> usize {
    let path = [step.at, place].concat();
    let is_about = |names: &usize| {
        let holder = &path[..step.at.len() + names];
        steps.iter().any(|other| other.at.starts_with(holder))
    };
    (1..place.len()).rev().find(is_about).unwrap_or(0)
}

/// The steps in the order of a way, each with its number.
fn in_order(steps: &[Step], direction: Direction) -> impl Iterator<Item = (usize, &Step)> {
    let is_up = direction == Direction::Up;
    (0..steps.len())
        .map(move |number| if is_up { number } else { steps.len() - 1 - number })
        .map(|number| (number, &steps[number]))
}

/// The key of an annotation in a vocabulary: its domain is spelled like a group.
fn spelled(key: &str, vocabulary: &Vocabulary) -> String {
    match key.split_once('/') {
        Some((domain, name)) => format!("{}/{name}", vocabulary.group(domain)),
        None => key.to_owned(),
    }
}

fn take_annotation(tree: &mut Tree, key: &str) -> Option<String> {
    let metadata = tree.get_mut("metadata")?.as_object_mut()?;
    let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
    let taken = annotations.remove(key);
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    taken?.as_str().map(str::to_owned)
}

fn put_annotation(tree: &mut Tree, key: &str, text: String) {
    let Some(fields) = tree.as_object_mut() else { return };
    if let Some(metadata) = object_in(fields, "metadata")
        && let Some(annotations) = object_in(metadata, "annotations")
    {
        annotations.insert(key.to_owned(), text.into());
    }
}

/// The object of that name, made where there is none.
fn object_in<'f>(fields: &'f mut TreeMap, name: &str) -> Option<&'f mut TreeMap> {
    let value = fields.entry(name).or_insert(Tree::Null);
    if value.is_null() {
        *value = Tree::Object(TreeMap::new());
    }
    value.as_object_mut()
}

/// Shows `visit` the object at a place, or each of the objects.
fn each_at(tree: &mut Tree, at: &[&str], visit: &mut impl FnMut(&mut TreeMap)) {
    match at.split_first() {
        None => {
            if let Some(fields) = tree.as_object_mut() {
                visit(fields);
            }
        }
        Some((&EACH, rest)) => match tree {
            Tree::Array(items) => items.iter_mut().for_each(|item| each_at(item, rest, visit)),
            Tree::Object(map) => map.values_mut().for_each(|item| each_at(item, rest, visit)),
            _ => {}
        },
        Some((name, rest)) => {
            if let Some(below) = tree.get_mut(name) {
                each_at(below, rest, visit);
            }
        }
    }
}

#[cfg(test)]
mod tests;
