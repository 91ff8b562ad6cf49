//! Removes what a manager applied before and no longer lists.

use orch_runtime::{
    Tree, TreeMap,
    type_def::{ListSemantics, Shape, TypeDef},
};

use super::fields::fields_of;
use crate::{
    fieldset::{Element, FieldSet, Step},
    list_item::item_element,
};

/// The merged object without the fields of `last` that no manager owns.
///
/// `owned` has the fields of all managers, and of the new configuration. A field stays if a manager owns it
/// or a field below it. Fields that are not in `last` stay.
pub fn prune(merged: Tree, last: &FieldSet<'_>, owned: &FieldSet<'_>, def: &'static TypeDef) -> Tree {
    if last.is_subset(owned) {
        return merged;
    }
    let [last, owned] = [last, owned].map(|set| with_parents(set.clone(), def));
    let all = with_parents(fields_of(&merged, def), def);
    let left_of = |tree| with_parents(fields_of(tree, def), def);
    // First all fields of `last` are removed. Then the owned ones are put back. Then those go that are left
    // only because their parents were put back.
    let bare = without(&merged, &last, def);
    let gone = all.clone().difference(&left_of(&bare).union(owned));
    let kept = without(&merged, &gone, def);
    let dangling = all.difference(&left_of(&kept)).intersection(&last);
    without(&merged, &dangling, def)
}

/// The set, with all declared parents of its members.
fn with_parents<'t>(set: FieldSet<'t>, def: &'static TypeDef) -> FieldSet<'t> {
    set.map_children(|element, child, is_member| {
        let field = match element.step() {
            Step::Field(name) => def.field(name),
            _ => None,
        };
        let child = match field {
            Some(field) => parents_below(child, &field.shape),
            None => child,
        };
        (is_member || field.is_some(), child)
    })
}

fn parents_below<'t>(set: FieldSet<'t>, shape: &'static Shape) -> FieldSet<'t> {
    match shape {
        Shape::Object(def) => with_parents(set, def),
        Shape::Map { value: inner, .. } | Shape::List { item: inner, .. } => {
            set.map_children(|_, child, is_member| (is_member, parents_below(child, inner)))
        }
        Shape::Scalar(_) | Shape::Any => set,
    }
}

/// The object without these fields. A list or object that becomes empty becomes null, which is the same as
/// absent.
fn without(tree: &Tree, fields: &FieldSet<'_>, def: &'static TypeDef) -> Tree {
    match tree {
        Tree::Object(map) => Tree::Object(without_fields(map, fields, def)),
        other => other.clone(),
    }
}

fn without_fields(map: &TreeMap, fields: &FieldSet<'_>, def: &'static TypeDef) -> TreeMap {
    without_entries(map, fields, |name| def.field(name).map(|field| &field.shape))
}

fn without_entries(
    map: &TreeMap,
    fields: &FieldSet<'_>,
    shape_of: impl Fn(&str) -> Option<&'static Shape>,
) -> TreeMap {
    let mut left = TreeMap::new();
    for (name, value) in map {
        let element = Element::field(name);
        if fields.has(&element) {
            continue;
        }
        let value = match (fields.below(&element), shape_of(name)) {
            (Some(below), Some(shape)) => without_parts(value, below, shape),
            _ => value.clone(),
        };
        left.insert(name.clone(), value);
    }
    left
}

/// The value without these fields. `fields` must not be empty.
fn without_parts(value: &Tree, fields: &FieldSet<'_>, shape: &'static Shape) -> Tree {
    let left = match (value, shape) {
        (Tree::Object(map), Shape::Object(def)) if !def.atomic => {
            Tree::Object(without_fields(map, fields, def))
        }
        (Tree::Object(map), Shape::Map { value: shape, atomic: false }) => {
            Tree::Object(without_entries(map, fields, |_| Some(*shape)))
        }
        (Tree::Array(items), Shape::List { item, semantics }) if *semantics != ListSemantics::Atomic => {
            Tree::Array(without_items(items, fields, item, *semantics))
        }
        (value, Shape::Scalar(_)) => return value.clone(),
        _ => Tree::Null,
    };
    let is_empty = match &left {
        Tree::Object(map) => map.is_empty(),
        Tree::Array(items) => items.is_empty(),
        _ => true,
    };
    if is_empty { Tree::Null } else { left }
}

fn without_items(
    items: &[Tree],
    fields: &FieldSet<'_>,
    shape: &'static Shape,
    semantics: ListSemantics,
) -> Vec<Tree> {
    let mut left = Vec::with_capacity(items.len());
    for item in items {
        let Ok(element) = item_element(item, shape, semantics) else {
            left.push(item.clone());
            continue;
        };
        if fields.has(&element) {
            continue;
        }
        left.push(match fields.below(&element) {
            Some(below) => without_parts(item, below, shape),
            None => item.clone(),
        });
    }
    left
}
