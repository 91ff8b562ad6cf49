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
    let mut found = Comparison::default();
    fields((old.as_object(), new.as_object()), def, 0, &mut found);
    found
}

impl Comparison {
    /// Adds an element that is a difference by itself.
    fn put(&mut self, element: String, old: bool, new: bool) {
        match (old, new) {
            (false, true) => self.added.put(element, true, FieldSet::EMPTY),
            (true, false) => self.removed.put(element, true, FieldSet::EMPTY),
            _ => self.modified.put(element, true, FieldSet::EMPTY),
        }
    }

    /// Adds what differs below an element, and the element where it appears or vanishes.
    fn put_all(&mut self, element: String, old: bool, new: bool, below: Comparison) {
        let Comparison { added, modified, removed } = below;
        if !modified.is_empty() {
            self.modified.put(element.clone(), false, modified);
        }
        if old {
            self.removed.put(element.clone(), !new, removed);
        }
        self.added.put(element, new && !old, added);
    }
}

/// Compares what an element leads to; `depth` elements lead to it.
fn step(
    element: String,
    old: Option<&Tree>,
    new: Option<&Tree>,
    shape: &'static Shape,
    depth: usize,
    found: &mut Comparison,
) {
    if is_leaf(old, new, shape) || depth + 1 >= MAX_COMPARED_DEPTH {
        if old != new {
            found.put(element, old.is_some(), new.is_some());
        }
        return;
    }
    let mut below = Comparison::default();
    parts(old, new, shape, depth + 1, &mut below);
    found.put_all(element, old.is_some(), new.is_some(), below);
}

fn is_leaf(old: Option<&Tree>, new: Option<&Tree>, shape: &'static Shape) -> bool {
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
    whole || (has_no_parts(old) && has_no_parts(new))
}

fn parts(
    old: Option<&Tree>,
    new: Option<&Tree>,
    shape: &'static Shape,
    depth: usize,
    found: &mut Comparison,
) {
    let maps = || (old.and_then(Tree::as_object), new.and_then(Tree::as_object));
    match shape {
        Shape::Object(def) => fields(maps(), def, depth, found),
        Shape::Map { value, .. } => entries(maps(), value, depth, found),
        Shape::List { item, semantics } => {
            items(items_of(old, item, *semantics), items_of(new, item, *semantics), item, depth, found);
        }
        Shape::Scalar(_) | Shape::Any => {}
    }
}

/// An old and a new state.
type Maps<'t> = (Option<&'t TreeMap>, Option<&'t TreeMap>);

fn fields((old, new): Maps<'_>, def: &'static TypeDef, depth: usize, found: &mut Comparison) {
    for field in def.fields {
        let [old, new] = [old, new].map(|map| map.and_then(|map| map.get(field.name)));
        // Mostly nothing differs, and that is seen faster than told.
        if old != new {
            step(field_element(field.name), old, new, &field.shape, depth, found);
        }
    }
}

fn entries((old, new): Maps<'_>, shape: &'static Shape, depth: usize, found: &mut Comparison) {
    let none = TreeMap::new();
    let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
    for (key, value) in old {
        let new = new.get(key);
        if new != Some(value) {
            step(field_element(key), Some(value), new, shape, depth, found);
        }
    }
    for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        step(field_element(key), None, Some(value), shape, depth, found);
    }
}

fn items(old: Items<'_>, mut new: Items<'_>, shape: &'static Shape, depth: usize, found: &mut Comparison) {
    for (element, old) in old {
        let new = new.remove(&element).unwrap_or_default();
        same_items(element, &old, &new, shape, depth, found);
    }
    for (element, new) in new {
        same_items(element, &[], &new, shape, depth, found);
    }
}

/// Compares the items of one element: mostly one on each side. Several are compared as a whole, in which nobody owns
/// parts: those of a single one go or come besides.
fn same_items(
    element: String,
    old: &[&Tree],
    new: &[&Tree],
    shape: &'static Shape,
    depth: usize,
    found: &mut Comparison,
) {
    if old == new {
        return;
    }
    if old.len() <= 1 && new.len() <= 1 {
        step(element, old.first().copied(), new.first().copied(), shape, depth, found);
    } else {
        found.put(element.clone(), !old.is_empty(), !new.is_empty());
        let mut below = Comparison::default();
        match (old, new) {
            ([old], _) => parts(Some(old), None, shape, depth + 1, &mut below),
            (_, [new]) => parts(None, Some(new), shape, depth + 1, &mut below),
            _ => {}
        }
        found.removed.put(element.clone(), false, below.removed);
        found.added.put(element, false, below.added);
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
