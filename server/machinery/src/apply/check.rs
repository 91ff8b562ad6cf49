//! Checks a configuration against its type: every field is declared, every value has the right type, and no
//! two items of a list have the same key.

use std::{collections::BTreeSet, fmt};

use orch_runtime::{
    Tree, TreeMap,
    type_def::{ListSemantics, Scalar, Shape, TypeDef},
};

use super::conflict::element_text;
use crate::{
    fieldset::Element,
    list_item::item_element,
    patch::shown::{listing, literal, type_name},
};

/// At most this many problems are reported.
const MAX_PROBLEMS: usize = 100;

/// Checks a top-level configuration. `null` fits every field: the manager wants it to be empty.
///
/// # Errors
/// One problem, such as `.foo: field not declared in schema`, or all problems, one per line.
pub fn check(config: &Tree, def: &'static TypeDef) -> Result<(), String> {
    let mut walk = Walk { problems: Vec::new() };
    match config {
        Tree::Object(fields) => walk.fields(&Location::Root, fields, def, &["kind", "apiVersion"]),
        other => walk.problem(&Location::Root, format!("expected map, got {}", pointed(other))),
    }
    match &*walk.problems {
        [] => Ok(()),
        [only] => Err(only.clone()),
        several => Err(format!("errors:\n  {}", several.join("\n  "))),
    }
}

/// The path to the current value. It becomes text only for a problem.
enum Location<'p> {
    Root,
    Field(&'p Location<'p>, &'p str),
    Item(&'p Location<'p>, usize),
    Element(&'p Location<'p>, &'p Element<'p>),
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Root => Ok(()),
            Location::Field(parent, name) => write!(out, "{parent}.{name}"),
            Location::Item(parent, index) => write!(out, "{parent}[{index}]"),
            Location::Element(parent, element) => write!(out, "{parent}{}", element_text(element)),
        }
    }
}

struct Walk {
    problems: Vec<String>,
}

impl Walk {
    fn problem(&mut self, at: &Location<'_>, text: String) {
        if self.problems.len() < MAX_PROBLEMS {
            let text = if let Location::Root = at { text } else { format!("{at}: {text}") };
            self.problems.push(text);
        }
    }

    fn value(&mut self, at: &Location<'_>, value: &Tree, shape: &'static Shape) {
        match (shape, value) {
            (Shape::Any, _) | (_, Tree::Null) => {}
            (Shape::Scalar(scalar), value) => self.scalar(at, value, *scalar),
            (Shape::Object(def), Tree::Object(fields)) => self.fields(at, fields, def, &[]),
            (Shape::Map { value: shape, .. }, Tree::Object(map)) => {
                for (key, value) in map {
                    self.value(&Location::Field(at, key), value, shape);
                }
            }
            (Shape::List { item, semantics }, Tree::Array(items)) => self.items(at, items, item, *semantics),
            (Shape::Object(_) | Shape::Map { .. }, other) => {
                self.problem(at, format!("expected map, got {}", pointed(other)));
            }
            (Shape::List { .. }, other) => {
                self.problem(at, format!("expected list, got {}", pointed(other)));
            }
        }
    }

    fn fields(&mut self, at: &Location<'_>, fields: &TreeMap, def: &'static TypeDef, also: &[&str]) {
        for (name, value) in fields {
            let at = Location::Field(at, name);
            match def.field(name) {
                Some(field) => self.value(&at, value, &field.shape),
                None if also.contains(&name.as_str()) => {}
                None => self.problem(&at, "field not declared in schema".to_owned()),
            }
        }
    }

    fn items(&mut self, at: &Location<'_>, items: &[Tree], shape: &'static Shape, semantics: ListSemantics) {
        if semantics == ListSemantics::Atomic {
            for (index, item) in items.iter().enumerate() {
                self.value(&Location::Item(at, index), item, shape);
            }
            return;
        }
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            match item_element(item, shape, semantics) {
                // The items after one that nothing identifies are not looked at.
                Err(why) => return self.problem(at, format!("element {index}: {why}")),
                Ok(element) => {
                    if seen.contains(&element) {
                        let text = element_text(&element);
                        self.problem(at, format!("duplicate entries for key {text}"));
                    }
                    self.value(&Location::Element(at, &element), item, shape);
                    seen.insert(element);
                }
            }
        }
    }

    fn scalar(&mut self, at: &Location<'_>, value: &Tree, scalar: Scalar) {
        let (fits, wanted, got): (bool, &str, fn(&Tree) -> String) = match scalar {
            Scalar::Boolean => (value.is_boolean(), "boolean", pointed),
            Scalar::Int32 | Scalar::Int64 | Scalar::Double => {
                (value.is_number(), "numeric (int or float)", |value| type_name(value).to_owned())
            }
            Scalar::String | Scalar::Bytes | Scalar::Duration => (value.is_string(), "string", |value| {
                format!("&value.valueUnstructured{{Value:{}}}", literal(value))
            }),
            Scalar::Time | Scalar::MicroTime | Scalar::Quantity => {
                (!value.is_object() && !value.is_array(), "any scalar", pointed)
            }
            // What is neither is found where the merged object is read.
            Scalar::IntOrString => return,
        };
        if !fits {
            self.problem(at, format!("expected {wanted}, got {}", got(value)));
        }
    }
}

/// A value as the reference prints a pointer to it: `&{...}`.
fn pointed(value: &Tree) -> String {
    format!("&{{{}}}", listing(value))
}
