//! All lists and maps of all kinds, from their type tables, and objects that have many items there.

use std::collections::{HashSet, VecDeque};

use orch_runtime::{
    Tree, TreeMap,
    type_def::{FieldDef, Scalar, Shape, TypeDef},
};
use serde_json::json;

/// A list or map of a kind.
#[derive(Clone, Debug)]
pub struct Place {
    /// The way from the object to it.
    steps: Vec<Step>,
    shape: &'static Shape,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Field(&'static FieldDef),
    /// The only item of a list.
    Item(&'static TypeDef),
    /// The only entry of a map.
    Entry,
}

/// What the items of a list or map are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// Empty objects and texts.
    Empty,
    /// The first text or number has another value in each item.
    Named,
    /// All texts and numbers have.
    Full,
}

impl Items {
    pub const ALL: [Items; 3] = [Items::Empty, Items::Named, Items::Full];
}

/// The lists and maps of a type, and of all types below it, that are not in `known`, which gets them: a type
/// that many kinds have is looked at once.
pub fn of_type(def: &'static TypeDef, known: &mut HashSet<(&'static str, &'static str)>) -> Vec<Place> {
    let mut places = Vec::new();
    let mut waiting = VecDeque::from([(def, Vec::new())]);
    while let Some((def, steps)) = waiting.pop_front() {
        for field in def.fields.iter().filter(|field| known.insert((def.name, field.name))) {
            let mut steps = [&steps[..], &[Step::Field(field)]].concat();
            let mut shape = &field.shape;
            loop {
                match shape {
                    Shape::List { item, .. } => {
                        places.push(Place { steps: steps.clone(), shape });
                        let Shape::Object(def) = item else { break };
                        steps.push(Step::Item(def));
                        shape = item;
                    }
                    Shape::Map { value, .. } => {
                        places.push(Place { steps: steps.clone(), shape });
                        steps.push(Step::Entry);
                        shape = value;
                    }
                    Shape::Object(def) => break waiting.push_back((def, steps)),
                    Shape::Scalar(_) | Shape::Any => break,
                }
            }
        }
    }
    places
}

impl Place {
    /// An object with this many items at the place.
    pub fn object(&self, items: Items, count: usize) -> Tree {
        let many = match self.shape {
            Shape::List { item, .. } => Tree::Array((0..count).map(|n| value(item, items, n)).collect()),
            Shape::Map { value: shape, .. } => {
                (0..count).map(|n| (format!("k{n}"), value(shape, items, n))).collect()
            }
            _ => unreachable!("a place is a list or a map"),
        };
        let mut tree = self.steps.iter().rev().fold(many, |inner, step| match step {
            Step::Field(field) => json!({ field.name: inner }),
            Step::Item(def) => {
                let mut item = value_of(def, Items::Named, 0);
                item.extend(inner.as_object().cloned().unwrap_or_default());
                Tree::Array(vec![Tree::Object(item)])
            }
            Step::Entry => json!({ "key": inner }),
        });
        for (name, text) in [("name", crate::server::NAME), ("namespace", crate::server::NAMESPACE)] {
            if tree["metadata"][name].is_null() {
                tree["metadata"][name] = text.into();
            }
        }
        tree
    }

    /// The JSON pointer of the place in such an object.
    pub fn pointer(&self) -> String {
        let step = |step: &Step| match step {
            Step::Field(field) => format!("/{}", field.name),
            Step::Item(_) => "/0".to_owned(),
            Step::Entry => "/key".to_owned(),
        };
        self.steps.iter().map(step).collect()
    }
}

fn value(shape: &'static Shape, items: Items, n: usize) -> Tree {
    match shape {
        Shape::Scalar(_) if items == Items::Empty => scalar(shape, 0),
        Shape::Scalar(_) => scalar(shape, n),
        Shape::Object(def) => Tree::Object(value_of(def, items, n)),
        Shape::List { .. } => json!([]),
        Shape::Map { .. } | Shape::Any => json!({}),
    }
}

fn value_of(def: &'static TypeDef, items: Items, n: usize) -> TreeMap {
    let scalars = def.fields.iter().filter(|field| {
        matches!(field.shape, Shape::Scalar(Scalar::String | Scalar::Int32 | Scalar::IntOrString))
    });
    let wanted = match items {
        Items::Empty => 0,
        Items::Named => 1,
        Items::Full => usize::MAX,
    };
    scalars.take(wanted).map(|field| (field.name.to_owned(), scalar(&field.shape, n))).collect()
}

fn scalar(shape: &Shape, n: usize) -> Tree {
    let Shape::Scalar(kind) = shape else { return Tree::Null };
    match kind {
        Scalar::Boolean => true.into(),
        Scalar::Int32 | Scalar::Int64 | Scalar::Double | Scalar::IntOrString | Scalar::Quantity => n.into(),
        Scalar::String => format!("x{n}").into(),
        Scalar::Bytes => "AAAA".into(),
        Scalar::Time => "2024-01-02T03:04:05Z".into(),
        Scalar::MicroTime => "2024-01-02T03:04:05.000000Z".into(),
        Scalar::Duration => "1s".into(),
    }
}
