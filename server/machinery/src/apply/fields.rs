//! The set of fields that a configuration lists.
//!
//! Single values, atomic lists and atomic objects are one field. Items of keyed lists, members of sets and
//! entries of maps are fields, and so are the fields inside them. An object of a type is a field only if it
//! is empty.

use orch_runtime::{
    Tree, TreeMap,
    type_def::{ListSemantics, Shape, TypeDef},
};

use crate::{
    fieldset::{Element, FieldSet},
    list_item::item_element,
};

/// The fields of a top-level configuration, without `apiVersion` and `kind`.
pub fn fields_of<'t>(config: &'t Tree, def: &'static TypeDef) -> FieldSet<'t> {
    config.as_object().map(|fields| of_fields(fields, def)).unwrap_or_default()
}

/// What a value adds to the set: whether it is a field itself, and the fields below it.
struct Found<'t> {
    itself: bool,
    below: FieldSet<'t>,
}

impl<'t> Found<'t> {
    const fn leaf() -> Self {
        Found { itself: true, below: FieldSet::EMPTY }
    }

    const fn part(below: FieldSet<'t>) -> Self {
        Found { itself: false, below }
    }
}

fn of_value<'t>(value: &'t Tree, shape: &'static Shape) -> Found<'t> {
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
                set.put(Element::field(key), true, of_value(value, shape).below);
            }
            Found::part(set)
        }
        (Shape::List { item, semantics }, Tree::Array(items)) => {
            Found::part(of_items(items, item, *semantics))
        }
        // It does not fit its type. It is a leaf, so that it is compared as a whole.
        (Shape::Object(_) | Shape::Map { .. } | Shape::List { .. }, _) => Found::leaf(),
    }
}

fn of_fields<'t>(fields: &'t TreeMap, def: &'static TypeDef) -> FieldSet<'t> {
    let mut set = FieldSet::new();
    for (name, value) in fields {
        if let Some(field) = def.field(name) {
            let found = of_value(value, &field.shape);
            set.put(Element::field(name), found.itself, found.below);
        }
    }
    set
}

fn of_items<'t>(items: &'t [Tree], shape: &'static Shape, semantics: ListSemantics) -> FieldSet<'t> {
    let element = |item| Some((item_element(item, shape, semantics).ok()?, item));
    let mut items: Vec<_> = items.iter().filter_map(element).collect();
    items.sort_by(|(left, _), (right, _)| left.cmp(right));
    let mut set = FieldSet::new();
    for (element, item) in items {
        set.put_item(element, of_value(item, shape).below);
    }
    set
}
