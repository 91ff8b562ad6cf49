//! One element of the path to a field, in the form of `managedFields`: `f:<field>`, `k:<key fields of a list
//! item>`, `v:<value of a set>`, `i:<position>`.

use std::{borrow::Cow, cmp::Ordering, fmt};

use orch_runtime::Tree;
use serde_json::Number;

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

/// The place of an element where elements are told, see [`Element::told`].
#[derive(Debug)]
pub struct Told<'e> {
    rank: u8,
    /// What is in a key or a value, read once.
    value: Option<Tree>,
    text: &'e str,
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

    /// By this elements are sorted where they are told: numbers in keys and values by their size, not by
    /// their text.
    pub fn told(&self) -> Told<'_> {
        let (rank, has_json) = match self.kind {
            Kind::Field => (0, false),
            Kind::Key => (1, true),
            Kind::Value => (2, true),
            Kind::Position => (3, false),
        };
        let value = if has_json { serde_json::from_str(&self.text).ok() } else { None };
        Told { rank, value, text: &self.text }
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

impl Ord for Told<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_rank = self.rank.cmp(&other.rank);
        let by_value = || match (&self.value, &other.value) {
            (Some(this), Some(other)) => value_order(this, other),
            // What cannot be read comes last.
            (this, other) => other.is_some().cmp(&this.is_some()),
        };
        by_rank.then_with(by_value).then_with(|| self.text.cmp(other.text))
    }
}

impl PartialOrd for Told<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Told<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Told<'_> {}

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
        (Tree::Number(this), Tree::Number(other)) => number_order(this, other),
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

/// By their exact values. As 64-bit floats different integers are the same, and sorting needs an order in
/// which nothing is equal to two things that differ. Of an integer and a float of one value the integer comes
/// first.
fn number_order(this: &Number, other: &Number) -> Ordering {
    let integer = |number: &Number| number.as_i128();
    let float = |number: &Number| number.as_f64().unwrap_or(0.0);
    match (integer(this), integer(other)) {
        (Some(this), Some(other)) => this.cmp(&other),
        (Some(integer), None) => integer_before_float(integer, float(other)),
        (None, Some(integer)) => integer_before_float(integer, float(this)).reverse(),
        (None, None) => float(this).total_cmp(&float(other)),
    }
}

fn integer_before_float(integer: i128, float: f64) -> Ordering {
    // A float beyond all integers becomes the last one, which no number here is.
    let by_whole = integer.cmp(&(float.trunc() as i128));
    by_whole.then(if float.fract() < 0.0 { Ordering::Greater } else { Ordering::Less })
}

impl fmt::Display for Element<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.prefix(), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sort may panic where this does not hold for each two of them.
    #[test]
    fn elements_are_told_in_one_order() {
        let order = [
            "f:a",
            "f:b",
            r#"k:{"a":1}"#,
            r#"k:{"a":1,"b":1}"#,
            r#"k:{"a":2}"#,
            r#"k:{"a":10}"#,
            "k:{",
            "v:-1e300",
            "v:-9223372036854775808",
            "v:-9.5",
            "v:-9",
            "v:0",
            "v:-0.0",
            "v:0.0",
            "v:0.5",
            "v:1",
            "v:1.0",
            "v:1.5",
            "v:9",
            "v:10",
            "v:9223372036854775806",
            "v:9223372036854775807",
            "v:9223372036854775808",
            "v:9223372036854775808.0",
            "v:9223372036854775809",
            "v:18446744073709551615",
            "v:1e300",
            r#"v:"10""#,
            r#"v:"9""#,
            "v:false",
            "v:true",
            "v:[1]",
            "v:[2]",
            "v:{}",
            "v:null",
            "v:9x",
            "i:10",
            "i:9",
        ];
        let told: Vec<Element<'_>> = order.iter().map(|text| Element::of_stored(text).unwrap()).collect();
        for (at, this) in told.iter().enumerate() {
            for (other_at, other) in told.iter().enumerate() {
                assert_eq!(this.told().cmp(&other.told()), at.cmp(&other_at), "{this} {other}");
            }
        }
    }
}
