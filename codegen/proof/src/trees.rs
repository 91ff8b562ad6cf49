//! Sets of fields, as owners have them (`fieldsV1`), and objects without the fields of a set.

use std::collections::BTreeMap;

use orch_runtime::{
    Tree, TreeMap,
    type_def::{ListSemantics, Shape, TypeDef},
};
use serde_json::json;

/// The set of all fields of an object, sorted. Lists without keys are one field; metadata are left out,
/// because conversions keep in annotations what has no owner there.
pub fn owned(tree: &Tree, def: &'static TypeDef) -> Tree {
    let fields = tree.as_object().into_iter().flatten();
    let fields = fields.map(|(name, value)| {
        let shape = def.field(name).map(|field| &field.shape);
        (format!("f:{name}"), shape.map_or_else(leaf, |shape| of_value(value, shape)))
    });
    sorted(fields.filter(|(name, _)| name != "f:metadata"))
}

fn of_value(value: &Tree, shape: &'static Shape) -> Tree {
    match (shape, value) {
        (Shape::Object(def), _) if !def.atomic => owned(value, def),
        (Shape::List { item, semantics: ListSemantics::Map { keys } }, Tree::Array(items)) => {
            let key = |item: &Tree| {
                let keys: BTreeMap<&str, Tree> = keys.iter().map(|key| (*key, item[key].clone())).collect();
                format!("k:{}", json!(keys))
            };
            sorted(items.iter().map(|value| {
                let Tree::Object(mut fields) = of_value(value, item) else { return (key(value), leaf()) };
                fields.insert(".".to_owned(), leaf());
                (key(value), sorted(fields.into_iter()))
            }))
        }
        _ => leaf(),
    }
}

/// An object without the values that say nothing: a type may write an empty text that nobody has given.
pub fn telling(tree: &Tree) -> Tree {
    let Some(fields) = tree.as_object() else { return tree.clone() };
    let fields = fields.iter().map(|(name, value)| (name.clone(), telling(value)));
    Tree::Object(fields.filter(|(_, value)| !says_nothing(value)).collect())
}

fn says_nothing(value: &Tree) -> bool {
    match value {
        Tree::Null => true,
        Tree::String(text) => text.is_empty(),
        Tree::Number(number) => number.as_f64() == Some(0.0),
        Tree::Bool(value) => !value,
        Tree::Array(items) => items.is_empty(),
        Tree::Object(fields) => fields.is_empty(),
    }
}

fn leaf() -> Tree {
    Tree::Object(TreeMap::new())
}

fn sorted(fields: impl Iterator<Item = (String, Tree)>) -> Tree {
    let sorted: BTreeMap<String, Tree> = fields.collect();
    Tree::Object(sorted.into_iter().collect())
}

/// Adds the field at a place to a set.
pub fn own(set: &mut Tree, place: &[&str]) {
    let below = place.iter().fold(set, |set, name| {
        let fields = set.as_object_mut().expect("a set is an object");
        fields.entry(format!("f:{name}")).or_insert_with(leaf)
    });
    *below = leaf();
}

/// An object without the fields of a set, and without what holds nothing else.
pub fn without(tree: &Tree, set: &Tree) -> Tree {
    let (Some(fields), Some(taken)) = (tree.as_object(), set.as_object()) else { return tree.clone() };
    let left = fields.iter().filter_map(|(name, value)| match taken.get(&format!("f:{name}")) {
        None => Some((name.clone(), value.clone())),
        Some(below) if is_empty(below) => None,
        Some(below) => Some((name.clone(), without(value, below))).filter(|(_, value)| !is_empty(value)),
    });
    Tree::Object(left.collect())
}

/// An object without those of these objects that are empty.
pub fn without_empty(tree: &Tree, holders: &[Vec<&str>]) -> Tree {
    let mut tree = tree.clone();
    for holder in holders {
        let Some((name, above)) = holder.split_last() else { continue };
        let above = above.iter().try_fold(&mut tree, |tree, name| tree.get_mut(name));
        if let Some(fields) = above.and_then(Tree::as_object_mut)
            && fields.get(*name).is_some_and(is_empty)
        {
            fields.remove(*name);
        }
    }
    tree
}

fn is_empty(tree: &Tree) -> bool {
    tree.as_object().is_some_and(TreeMap::is_empty)
}

/// A field of a set that another set does not have. A field without any below it stands for all of them.
pub fn missing(set: &Tree, other: &Tree) -> Option<String> {
    set.as_object()?.iter().find_map(|(name, below)| match other.get(name) {
        None => Some(format!("{name}: {below}")),
        Some(has) if is_empty(has) => None,
        Some(has) => missing(below, has),
    })
}
