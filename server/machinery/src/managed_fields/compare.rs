//! What changed between two states of an object, field by field as the type divides it.
//!
//! Fields of objects, entries of maps and items of keyed lists are compared one by one; single values, atomic lists
//! and atomic objects as a whole. Empty objects and lists count as single values. An object, map or list that appears
//! or vanishes is a change of its own, besides those of its parts.

use orch_runtime::{
    Tree, TreeMap,
    type_def::{ListSemantics, Shape, TypeDef},
};

use crate::{
    fieldset::{FieldSet, field_element, value_element},
    list_item::item_element,
};

/// Below this depth values are compared as a whole, so that the sets stay within the depth of trees.
const MAX_COMPARED_DEPTH: usize = 100;

/// The fields in which two states differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Only in the new state.
    pub added: FieldSet,
    /// In both, with different values.
    pub modified: FieldSet,
    /// Only in the old state.
    pub removed: FieldSet,
}

/// Compares two states of a top-level object. `apiVersion` and `kind` are not looked at.
pub fn compare(old: &Tree, new: &Tree, def: &'static TypeDef) -> Comparison {
    let mut walk = Walk { found: Comparison::default(), path: Vec::new() };
    walk.fields(old.as_object(), new.as_object(), def);
    walk.found
}

struct Walk {
    found: Comparison,
    path: Vec<String>,
}

impl Walk {
    fn step(&mut self, element: String, old: Option<&Tree>, new: Option<&Tree>, shape: &'static Shape) {
        self.path.push(element);
        if self.is_leaf(old, new, shape) {
            self.leaf(old, new);
        } else {
            self.parts(old, new, shape);
            match (old, new) {
                (None, Some(_)) => self.found.added.insert(&self.path),
                (Some(_), None) => self.found.removed.insert(&self.path),
                _ => {}
            }
        }
        self.path.pop();
    }

    fn is_leaf(&self, old: Option<&Tree>, new: Option<&Tree>, shape: &'static Shape) -> bool {
        let whole = match shape {
            Shape::Scalar(_) | Shape::Any | Shape::List { semantics: ListSemantics::Atomic, .. } => true,
            Shape::Object(def) => def.atomic,
            Shape::Map { atomic, .. } => *atomic,
            Shape::List { .. } => false,
        };
        let has_no_parts = |value: Option<&Tree>| match value {
            Some(Tree::Array(items)) => items.is_empty(),
            Some(Tree::Object(map)) => map.is_empty(),
            _ => true,
        };
        whole || (has_no_parts(old) && has_no_parts(new)) || self.path.len() >= MAX_COMPARED_DEPTH
    }

    fn leaf(&mut self, old: Option<&Tree>, new: Option<&Tree>) {
        match (old, new) {
            (None, Some(_)) => self.found.added.insert(&self.path),
            (Some(_), None) => self.found.removed.insert(&self.path),
            (Some(old), Some(new)) if old != new => self.found.modified.insert(&self.path),
            _ => {}
        }
    }

    fn parts(&mut self, old: Option<&Tree>, new: Option<&Tree>, shape: &'static Shape) {
        match shape {
            Shape::Object(def) => {
                self.fields(old.and_then(Tree::as_object), new.and_then(Tree::as_object), def);
            }
            Shape::Map { value, .. } => {
                self.entries(old.and_then(Tree::as_object), new.and_then(Tree::as_object), value);
            }
            Shape::List { item, semantics } => {
                self.items(items_of(old, item, *semantics), items_of(new, item, *semantics), item);
            }
            Shape::Scalar(_) | Shape::Any => {}
        }
    }

    fn fields(&mut self, old: Option<&TreeMap>, new: Option<&TreeMap>, def: &'static TypeDef) {
        for field in def.fields {
            let [old, new] = [old, new].map(|map| map.and_then(|map| map.get(field.name)));
            if old.is_some() || new.is_some() {
                self.step(field_element(field.name), old, new, &field.shape);
            }
        }
    }

    fn entries(&mut self, old: Option<&TreeMap>, new: Option<&TreeMap>, shape: &'static Shape) {
        let none = TreeMap::new();
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        for (key, value) in old {
            self.step(field_element(key), Some(value), new.get(key), shape);
        }
        for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
            self.step(field_element(key), None, Some(value), shape);
        }
    }

    fn items(&mut self, old: Items<'_>, mut new: Items<'_>, shape: &'static Shape) {
        for (element, old) in old {
            let new = new.remove(&element).unwrap_or_default();
            self.same_items(element, &old, &new, shape);
        }
        for (element, new) in new {
            self.same_items(element, &[], &new, shape);
        }
    }

    /// Compares the items of one element: mostly one on each side. Several are compared as a whole.
    fn same_items(&mut self, element: String, old: &[&Tree], new: &[&Tree], shape: &'static Shape) {
        if old.len() <= 1 && new.len() <= 1 {
            return self.step(element, old.first().copied(), new.first().copied(), shape);
        }
        self.path.push(element);
        match (old, new) {
            ([], _) => self.found.added.insert(&self.path),
            (_, []) => self.found.removed.insert(&self.path),
            _ if old != new => self.found.modified.insert(&self.path),
            _ => {}
        }
        self.path.pop();
    }
}

type Items<'t> = std::collections::BTreeMap<String, Vec<&'t Tree>>;

/// The items of a list by their elements. Some lists that merges know by key have a key twice all the same (the variables
/// of a container). An item without its key fields is refused elsewhere; it is known by its value.
fn items_of<'t>(list: Option<&'t Tree>, shape: &'static Shape, semantics: ListSemantics) -> Items<'t> {
    let mut items = Items::new();
    for item in list.and_then(Tree::as_array).into_iter().flatten() {
        let element = item_element(item, shape, semantics).unwrap_or_else(|_| value_element(item));
        items.entry(element).or_default().push(item);
    }
    items
}
