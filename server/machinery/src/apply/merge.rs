//! Merges a configuration into the live object: objects, maps, keyed lists and sets part by part, all other
//! values as a whole.

use std::collections::BTreeMap;

use orch_runtime::{
    Tree, TreeMap,
    type_def::{ListSemantics, Shape, TypeDef},
};

use crate::list_item::item_element;

/// The live object with all values of the configuration. The configuration must fit the type.
pub fn merge(live: Tree, config: &Tree, def: &'static TypeDef) -> Tree {
    let Tree::Object(mut merged) = live else { return merge(Tree::Object(TreeMap::new()), config, def) };
    for (name, value) in config.as_object().into_iter().flatten() {
        let merged_value = match def.field(name) {
            Some(field) => merge_value(merged.remove(name), value, &field.shape),
            None => value.clone(),
        };
        merged.insert(name.clone(), merged_value);
    }
    Tree::Object(merged)
}

/// `live` is the value of the live object, if it has one.
fn merge_value(live: Option<Tree>, config: &Tree, shape: &'static Shape) -> Tree {
    let whole = match shape {
        Shape::Scalar(_) | Shape::Any | Shape::List { semantics: ListSemantics::Atomic, .. } => true,
        Shape::Object(def) => def.atomic,
        Shape::Map { atomic, .. } => *atomic,
        Shape::List { .. } => false,
    };
    let Some(live) = live.filter(|live| !whole && has_parts(live)) else { return config.clone() };
    match (live, config, shape) {
        (Tree::Object(live), Tree::Object(config), Shape::Object(def)) => {
            let of = |name: &str| def.field(name).map(|field| &field.shape);
            Tree::Object(merge_entries(live, config, of))
        }
        (Tree::Object(live), Tree::Object(config), Shape::Map { value, .. }) => {
            Tree::Object(merge_entries(live, config, |_| Some(*value)))
        }
        (Tree::Array(live), Tree::Array(config), Shape::List { item, semantics }) => {
            Tree::Array(merge_items(live, config, item, *semantics))
        }
        // An empty or null configuration keeps the live value.
        (live, Tree::Null, _) => live,
        (_, config, _) => config.clone(),
    }
}

fn has_parts(value: &Tree) -> bool {
    match value {
        Tree::Array(items) => !items.is_empty(),
        Tree::Object(map) => !map.is_empty(),
        _ => false,
    }
}

fn merge_entries(
    mut live: TreeMap,
    config: &TreeMap,
    shape_of: impl Fn(&str) -> Option<&'static Shape>,
) -> TreeMap {
    for (name, value) in config {
        let merged = match shape_of(name) {
            Some(shape) => merge_value(live.remove(name), value, shape),
            None => value.clone(),
        };
        live.insert(name.clone(), merged);
    }
    live
}

/// The items of the configuration, in its order. Items that only the live list has keep their positions
/// relative to the items that both lists have. New items come after the live items that stand before the next
/// common item.
fn merge_items(
    live: Vec<Tree>,
    config: &[Tree],
    shape: &'static Shape,
    semantics: ListSemantics,
) -> Vec<Tree> {
    let element_of = |item: &Tree| item_element(item, shape, semantics).ok();
    let mut first_positions = BTreeMap::new();
    let mut is_repeated = vec![false; live.len()];
    // If an item occurs twice in the live list, its first position counts.
    let identity: Vec<usize> = live
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let Some(element) = element_of(item) else { return index };
            let first = *first_positions.entry(element).or_insert(index);
            is_repeated[first] |= first != index;
            first
        })
        .collect();
    let positions: Vec<Option<usize>> = config
        .iter()
        .map(|item| element_of(item).and_then(|element| first_positions.get(&element).copied()))
        .collect();
    let mut shared = vec![false; live.len()];
    for index in positions.iter().flatten() {
        shared[*index] = true;
    }
    // For each item of the configuration: the next item from there on that the live list has too.
    let mut next_shared = vec![None; config.len() + 1];
    for (index, position) in positions.iter().enumerate().rev() {
        next_shared[index] = position.or(next_shared[index + 1]);
    }
    let mut live: Vec<Option<Tree>> = live.into_iter().map(Some).collect();
    let mut out = Vec::with_capacity(live.len().max(config.len()));
    let (mut at_live, mut at_config) = (0, 0);
    loop {
        let candidate = identity.get(at_live).copied();
        let is_shared = candidate.is_some_and(|index| shared[index]);
        match candidate {
            // Only the live list has this item.
            Some(_) if !is_shared => {
                out.extend(live[at_live].take());
                at_live += 1;
            }
            // It is written already, or comes later in the configuration.
            Some(index) if next_shared[at_config] != Some(index) => at_live += 1,
            _ if at_config < config.len() => {
                // An item that the live list has several times is not merged with any of them.
                let current = positions[at_config].filter(|index| !is_repeated[*index]);
                let current = current.and_then(|index| live[index].take());
                out.push(merge_value(current, &config[at_config], shape));
                at_live += usize::from(candidate.is_some() && positions[at_config] == candidate);
                at_config += 1;
            }
            _ => return out,
        }
    }
}
