//! Drops the fields of a configuration that its type does not have.

use std::fmt::Write as _;

use orch_runtime::{
    Tree, TreeMap,
    type_def::{Shape, TypeDef},
};

use crate::json::decode::{MAX_STRICT_BYTES, MAX_STRICT_ERRORS, StrictError};

/// Drops the fields that `def` does not have, in the configuration and in all that it holds. Returns what was
/// dropped, in the order of names; at most 100 are named.
pub fn drop_unknown(config: &mut Tree, def: &'static TypeDef) -> Vec<StrictError> {
    let mut walk = Walk { path: String::new(), unknown: Vec::new(), bytes: 0 };
    if let Tree::Object(fields) = config {
        walk.fields(fields, def, &["apiVersion", "kind"]);
    }
    walk.unknown
}

struct Walk {
    /// The path to the current value.
    path: String,
    unknown: Vec<StrictError>,
    /// The length of all paths in `unknown`.
    bytes: usize,
}

impl Walk {
    fn fields(&mut self, fields: &mut TreeMap, def: &'static TypeDef, also: &[&str]) {
        fields.retain(|name, value| {
            let dot = if self.path.is_empty() { "" } else { "." };
            let outer = self.path.len();
            self.path.push_str(dot);
            self.path.push_str(name);
            let field = def.field(name);
            if let Some(field) = field {
                self.value(value, &field.shape);
            }
            let is_known = field.is_some() || also.contains(&name.as_str());
            let has_room = self.unknown.len() < MAX_STRICT_ERRORS && self.bytes < MAX_STRICT_BYTES;
            if !is_known && has_room {
                self.bytes += self.path.len();
                self.unknown.push(StrictError::Unknown(self.path.clone()));
            }
            self.path.truncate(outer);
            is_known
        });
    }

    fn value(&mut self, value: &mut Tree, shape: &'static Shape) {
        let outer = self.path.len();
        match (shape, value) {
            (Shape::Object(def), Tree::Object(fields)) => self.fields(fields, def, &[]),
            (Shape::Map { value: shape, .. }, Tree::Object(map)) => {
                for (key, value) in map {
                    self.path.push('.');
                    self.path.push_str(key);
                    self.value(value, shape);
                    self.path.truncate(outer);
                }
            }
            (Shape::List { item: shape, .. }, Tree::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let _ = write!(self.path, "[{index}]");
                    self.value(item, shape);
                    self.path.truncate(outer);
                }
            }
            _ => {}
        }
    }
}
