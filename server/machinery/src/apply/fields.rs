//! The fields that a configuration lists, as the type divides it.
//!
//! Single values, atomic lists and atomic objects are fields as a whole. Items of keyed lists, members of sets and
//! entries of maps are fields besides what is in them. An object of a type is a field only where it is empty.

use orch_runtime::{
    Tree, TreeMap,
    type_def::{ListSemantics, Shape, TypeDef},
};

use crate::{
    fieldset::{FieldSet, field_element},
    list_item::item_element,
};

/// The fields of a top-level configuration, without `apiVersion` and `kind`.
pub fn fields_of(config: &Tree, def: &'static TypeDef) -> FieldSet {
    config.as_object().map(|fields| of_fields(fields, def)).unwrap_or_default()
}

/// What a value contributes: whether its place is a field itself, and the fields below it.
struct Found {
    itself: bool,
    below: FieldSet,
}

impl Found {
    const fn leaf() -> Self {
        Found { itself: true, below: FieldSet::EMPTY }
    }

    const fn part(below: FieldSet) -> Self {
        Found { itself: false, below }
    }
}

fn of_value(value: &Tree, shape: &'static Shape) -> Found {
    match (shape, value) {
        (_, Tree::Null) | (Shape::Any | Shape::Scalar(_), _) => Found::leaf(),
        (Shape::List { semantics: ListSemantics::Atomic, .. } | Shape::Map { atomic: true, .. }, _) => {
            Found::leaf()
        }
        (Shape::Object(def), _) if def.atomic => Found::leaf(),
        (_, Tree::Object(map)) if map.is_empty() => Found::leaf(),
        (Shape::Object(def), Tree::Object(fields)) => Found::part(of_fields(fields, def)),
        (Shape::Map { value: shape, .. }, Tree::Object(map)) => {
            let mut set = FieldSet::new();
            for (key, value) in map {
                set.put(field_element(key), true, of_value(value, shape).below);
            }
            Found::part(set)
        }
        (Shape::List { item, semantics }, Tree::Array(items)) => {
            Found::part(of_items(items, item, *semantics))
        }
        // Does not fit its type; a leaf, so that it is compared as a whole.
        (Shape::Object(_) | Shape::Map { .. } | Shape::List { .. }, _) => Found::leaf(),
    }
}

fn of_fields(fields: &TreeMap, def: &'static TypeDef) -> FieldSet {
    let mut set = FieldSet::new();
    for (name, value) in fields {
        if let Some(field) = def.field(name) {
            let found = of_value(value, &field.shape);
            set.put(field_element(name), found.itself, found.below);
        }
    }
    set
}

/// An item that occurs twice is a field as a whole.
fn of_items(items: &[Tree], shape: &'static Shape, semantics: ListSemantics) -> FieldSet {
    let mut set = FieldSet::new();
    for item in items {
        let Ok(element) = item_element(item, shape, semantics) else { continue };
        if set.has(&element) {
            set = set.without(&[element.as_str()]);
            set.put(element, true, FieldSet::new());
        } else {
            set.put(element, true, of_value(item, shape).below);
        }
    }
    set
}
