//! Whether a configuration fits its type: every name declared, every value of its type, every list item told apart.

use std::collections::BTreeSet;

use orch_runtime::{
    Tree, TreeMap,
    field_error::Shown,
    type_def::{ListSemantics, Scalar, Shape, TypeDef},
};

use super::conflict::element_text;
use crate::list_item::item_element;

/// At most this many problems are told.
const MAX_PROBLEMS: usize = 100;

/// Checks a top-level configuration. `null` fits everywhere: it says that the applier wants the field empty.
///
/// # Errors
/// `.foo: field not declared in schema`, or all problems in lines of their own.
pub fn check(config: &Tree, def: &'static TypeDef) -> Result<(), String> {
    let mut walk = Walk { path: String::new(), problems: Vec::new() };
    match config {
        Tree::Object(fields) => walk.fields(fields, def, &["kind", "apiVersion"]),
        other => walk.problem(format!("expected map, got {other}")),
    }
    match &*walk.problems {
        [] => Ok(()),
        [only] => Err(only.clone()),
        several => Err(format!("errors:\n  {}", several.join("\n  "))),
    }
}

struct Walk {
    path: String,
    problems: Vec<String>,
}

impl Walk {
    fn problem(&mut self, text: String) {
        if self.problems.len() < MAX_PROBLEMS {
            let text = if self.path.is_empty() { text } else { format!("{}: {text}", self.path) };
            self.problems.push(text);
        }
    }

    /// Runs `then` one step further down.
    fn below(&mut self, step: &str, then: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(step);
        then(self);
        self.path.truncate(length);
    }

    fn value(&mut self, value: &Tree, shape: &'static Shape) {
        match (shape, value) {
            (Shape::Any, _) | (_, Tree::Null) => {}
            (Shape::Scalar(scalar), value) => self.scalar(value, *scalar),
            (Shape::Object(def), Tree::Object(fields)) => self.fields(fields, def, &[]),
            (Shape::Map { value: shape, .. }, Tree::Object(map)) => {
                for (key, value) in map {
                    self.below(&format!(".{key}"), |walk| walk.value(value, shape));
                }
            }
            (Shape::List { item, semantics }, Tree::Array(items)) => self.items(items, item, *semantics),
            (Shape::Object(_) | Shape::Map { .. }, other) => {
                self.problem(format!("expected map, got {other}"));
            }
            (Shape::List { .. }, other) => self.problem(format!("expected list, got {other}")),
        }
    }

    fn fields(&mut self, fields: &TreeMap, def: &'static TypeDef, also: &[&str]) {
        for (name, value) in fields {
            self.below(&format!(".{name}"), |walk| match def.field(name) {
                Some(field) => walk.value(value, &field.shape),
                None if also.contains(&name.as_str()) => {}
                None => walk.problem("field not declared in schema".to_owned()),
            });
        }
    }

    fn items(&mut self, items: &[Tree], shape: &'static Shape, semantics: ListSemantics) {
        if semantics == ListSemantics::Atomic {
            for (index, item) in items.iter().enumerate() {
                self.below(&format!("[{index}]"), |walk| walk.value(item, shape));
            }
            return;
        }
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            match item_element(item, shape, semantics) {
                Err(why) => self.problem(format!("element {index}: {why}")),
                Ok(element) => {
                    let text = element_text(&element);
                    self.below(&text, |walk| walk.value(item, shape));
                    if !seen.insert(element) {
                        self.problem(format!("duplicate entries for key {text}"));
                    }
                }
            }
        }
    }

    fn scalar(&mut self, value: &Tree, scalar: Scalar) {
        let (wanted, fits) = match scalar {
            Scalar::Boolean => ("boolean", value.is_boolean()),
            Scalar::Int32 | Scalar::Int64 | Scalar::Double => ("numeric (int or float)", value.is_number()),
            Scalar::String | Scalar::Bytes | Scalar::Duration => ("string", value.is_string()),
            Scalar::Time | Scalar::MicroTime | Scalar::Quantity | Scalar::IntOrString => {
                ("any scalar", !value.is_object() && !value.is_array())
            }
        };
        if !fits {
            let got = value.as_str().map_or_else(|| value.to_string(), Shown::shown);
            self.problem(format!("expected {wanted}, got {got}"));
        }
    }
}
