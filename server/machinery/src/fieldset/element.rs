//! One element of the path to a field, in the form of `managedFields`: `f:<field>`, `k:<key fields of a list
//! item>`, `v:<value of a set>`, `i:<position>`.

use std::{borrow::Cow, cmp::Ordering, fmt};

use orch_runtime::Tree;

use super::FieldSetError;
use crate::json::encode::text_of;

/// An element. Elements are sorted by their written forms. Names may be borrowed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element<'t> {
    kind: Kind,
    text: Cow<'t, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Field,
    Position,
    Key,
    Value,
}

/// What an element leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'e> {
    /// A field of an object, or an entry of a map.
    Field(&'e str),
    /// The item at a position, as text.
    Position(&'e str),
    /// The item with these key fields, as JSON.
    Key(&'e str),
    /// The item of this value, as JSON.
    Value(&'e str),
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Field, Kind::Position, Kind::Key, Kind::Value];

    fn prefix(self) -> &'static str {
        match self {
            Kind::Field => "f:",
            Kind::Position => "i:",
            Kind::Key => "k:",
            Kind::Value => "v:",
        }
    }
}

impl<'t> Element<'t> {
    /// A field of an object, or an entry of a map.
    pub fn field(name: &'t str) -> Self {
        Element { kind: Kind::Field, text: Cow::Borrowed(name) }
    }

    /// The item of a list with these key fields: a JSON object with sorted names.
    pub fn key(json: String) -> Self {
        Element { kind: Kind::Key, text: Cow::Owned(json) }
    }

    /// The item of a set with this value.
    pub fn value(value: &Tree) -> Self {
        Element { kind: Kind::Value, text: Cow::Owned(text_of(value)) }
    }

    /// Reads a written form. Keys and values are brought into the form that this server writes.
    pub fn parse(written: &'t str) -> Result<Self, FieldSetError> {
        let bad = || FieldSetError(format!("{written:?} is not an element of a field's path"));
        let element = Self::of_stored(written)?;
        match element.kind {
            Kind::Field => Ok(element),
            Kind::Position if element.text.parse::<u32>().is_ok() => Ok(element),
            Kind::Position => Err(bad()),
            Kind::Key => match serde_json::from_str(&element.text).map_err(|_| bad())? {
                keys @ Tree::Object(_) => Ok(Element::key(text_of(&keys))),
                _ => Err(bad()),
            },
            Kind::Value => {
                serde_json::from_str(&element.text).map(|value| Element::value(&value)).map_err(|_| bad())
            }
        }
    }

    /// Reads a written form that this server wrote.
    pub fn of_stored(written: &'t str) -> Result<Self, FieldSetError> {
        let of_kind = |kind: Kind| Some((kind, written.strip_prefix(kind.prefix())?));
        match Kind::ALL.into_iter().find_map(of_kind) {
            Some((kind, text)) => Ok(Element { kind, text: Cow::Borrowed(text) }),
            None => Err(FieldSetError(format!("{written:?} is not an element of a field's path"))),
        }
    }

    /// The same element with an owned name.
    pub fn into_owned(self) -> Element<'static> {
        Element { kind: self.kind, text: Cow::Owned(self.text.into_owned()) }
    }

    /// Whether it leads to the field with this name.
    pub fn is_field(&self, name: &str) -> bool {
        self.kind == Kind::Field && self.text == name
    }

    /// What it leads to.
    pub fn step(&self) -> Step<'_> {
        match self.kind {
            Kind::Field => Step::Field(&self.text),
            Kind::Position => Step::Position(&self.text),
            Kind::Key => Step::Key(&self.text),
            Kind::Value => Step::Value(&self.text),
        }
    }

    /// The order in which elements are told: numbers in keys and values by their size, not by their text.
    pub fn told_order(&self, other: &Self) -> Ordering {
        let rank = |kind| match kind {
            Kind::Field => 0,
            Kind::Key => 1,
            Kind::Value => 2,
            Kind::Position => 3,
        };
        let by_rank = rank(self.kind).cmp(&rank(other.kind));
        by_rank.then_with(|| match (self.kind, self.json(), other.json()) {
            (Kind::Key | Kind::Value, Some(this), Some(other)) => value_order(&this, &other),
            _ => self.text.cmp(&other.text),
        })
    }

    fn json(&self) -> Option<Tree> {
        serde_json::from_str(&self.text).ok()
    }

    /// The prefix of the written form: the kind of element and a colon.
    pub fn prefix(&self) -> &'static str {
        self.kind.prefix()
    }

    /// The written form after the prefix.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The written form.
    pub fn written(&self) -> String {
        [self.prefix(), self.text()].concat()
    }
}

/// Numbers come first, then texts, booleans, lists, objects and null.
fn value_order(this: &Tree, other: &Tree) -> Ordering {
    let rank = |value: &Tree| match value {
        Tree::Number(_) => 0,
        Tree::String(_) => 1,
        Tree::Bool(_) => 2,
        Tree::Array(_) => 3,
        Tree::Object(_) => 4,
        Tree::Null => 5,
    };
    match (this, other) {
        (Tree::Number(this), Tree::Number(other)) => match (this.as_i64(), other.as_i64()) {
            (Some(this), Some(other)) => this.cmp(&other),
            _ => this.as_f64().partial_cmp(&other.as_f64()).unwrap_or(Ordering::Equal),
        },
        (Tree::String(this), Tree::String(other)) => this.cmp(other),
        (Tree::Bool(this), Tree::Bool(other)) => this.cmp(other),
        (Tree::Object(this), Tree::Object(other)) => {
            let pairs = this.iter().zip(other);
            let mut orders = pairs.map(|((name, value), (other_name, other_value))| {
                name.cmp(other_name).then_with(|| value_order(value, other_value))
            });
            orders.find(|order| order.is_ne()).unwrap_or_else(|| this.len().cmp(&other.len()))
        }
        _ => rank(this).cmp(&rank(other)),
    }
}

impl fmt::Display for Element<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.prefix(), self.text)
    }
}
