//! Merging lists: of single values as sets, of objects item by item.

use std::collections::{HashMap, HashSet};

use orch_runtime::{Tree, TreeMap};

use super::{
    Members, Slot,
    directive::{ListDirectives, ObjectDirective, bad_delete, bad_order},
    merge_object, order,
};
use crate::patch::PatchError;

/// Merges the patch of a list that merges into it.
pub(super) fn merge(items: Vec<Tree>, change: Vec<Tree>, slot: Slot) -> Result<Vec<Tree>, PatchError> {
    if change.is_empty() {
        return Ok(items);
    }
    match kind(&items, &change)? {
        Kind::Single => merge_values(items, change, slot.strategy.merge_key),
        Kind::Object => {
            let key = slot.strategy.merge_key.ok_or_else(|| {
                PatchError::Contradiction("cannot merge lists without merge key for type struct".to_owned())
            })?;
            merge_objects(items, change, key, slot.item_members())
        }
    }
}

/// Merges one list of an object with the directives that stand beside it in the patch.
pub(super) fn merge_with_directives(
    object: &mut TreeMap,
    name: String,
    change: Option<Tree>,
    directives: ListDirectives,
    members: Members,
) -> Result<(), PatchError> {
    let slot = members.slot(&name);
    if !slot.strategy.merge {
        return Err(if directives.order.is_some() { bad_order() } else { bad_delete() });
    }
    let had = object.remove(&name);
    let present = had.is_some() || matches!(change, Some(Tree::Array(_)));
    if !present || matches!(change, Some(Tree::Null)) {
        return Ok(());
    }
    let mut items = list_of(had)?;
    let change = list_of(change)?;
    if !directives.delete.is_empty() {
        let deleted: HashSet<String> = directives.delete.iter().map(ToString::to_string).collect();
        items.retain(|item| !deleted.contains(&item.to_string()));
    }
    let merged = match directives.order {
        None => merge(items, change, slot)?,
        Some(wanted) => {
            let key = slot.strategy.merge_key;
            let wanted = identities(&wanted, key)?;
            order::check(&change, &wanted, key)?;
            let server = order::known_identities(&items, key);
            let merged = merge(items, change, slot)?;
            order::arrange(merged, key, &wanted, &server)
        }
    };
    object.insert(name, Tree::Array(merged));
    Ok(())
}

fn list_of(value: Option<Tree>) -> Result<Vec<Tree>, PatchError> {
    match value {
        None => Ok(Vec::new()),
        Some(Tree::Array(items)) => Ok(items),
        Some(_) => Err(PatchError::Contradiction("expected a list, but received another value".to_owned())),
    }
}

enum Kind {
    Single,
    Object,
}

/// What the lists hold: all items have to be of one JSON type.
fn kind(items: &[Tree], change: &[Tree]) -> Result<Kind, PatchError> {
    let mut all = items.iter().chain(change);
    let first = all.next();
    if matches!(first, Some(Tree::Array(_))) {
        return Err(PatchError::NotApplicable("lists of lists are not supported".to_owned()));
    }
    let type_of = first.map(std::mem::discriminant);
    if all.any(|item| Some(std::mem::discriminant(item)) != type_of) {
        return Err(PatchError::Contradiction("list element types are not identical".to_owned()));
    }
    Ok(if matches!(first, Some(Tree::Object(_))) { Kind::Object } else { Kind::Single })
}

/// The union of both.
fn merge_values(
    items: Vec<Tree>,
    change: Vec<Tree>,
    merge_key: Option<&'static str>,
) -> Result<Vec<Tree>, PatchError> {
    if merge_key.is_some() {
        return Err(PatchError::Contradiction("expected a map, but received a single value".to_owned()));
    }
    let wanted = identities(&change, None)?;
    let server = order::known_identities(&items, None);
    let mut seen = HashSet::new();
    let mut merged: Vec<Tree> = items.into_iter().chain(change).collect();
    merged.retain(|item| seen.insert(item.to_string()));
    Ok(order::arrange(merged, None, &wanted, &server))
}

fn merge_objects(
    mut items: Vec<Tree>,
    change: Vec<Tree>,
    key: &'static str,
    members: Members,
) -> Result<Vec<Tree>, PatchError> {
    let mut deleted = HashSet::new();
    let mut replace = false;
    let mut merging = Vec::with_capacity(change.len());
    for item in change {
        match ObjectDirective::of_item(&item)? {
            None => merging.push(item),
            Some(ObjectDirective::Delete) => {
                deleted.insert(identity(&item, Some(key))?);
            }
            Some(ObjectDirective::Replace) => replace = true,
            Some(ObjectDirective::Merge) => {
                return Err(PatchError::Malformed(
                    "merging lists cannot yet be specified in the patch".to_owned(),
                ));
            }
        }
    }
    if replace {
        items.clear();
    } else if !deleted.is_empty() {
        items.retain(|item| identity(item, Some(key)).is_ok_and(|identity| !deleted.contains(&identity)));
    }
    let wanted = identities(&merging, Some(key))?;
    let server = order::known_identities(&items, Some(key));
    let merged = merge_by_key(items, merging, &wanted, key, members)?;
    Ok(order::arrange(merged, Some(key), &wanted, &server))
}

/// Merges each item of the patch into the item of the same key, or adds it. `keys` are those of the patch.
fn merge_by_key(
    items: Vec<Tree>,
    change: Vec<Tree>,
    keys: &[String],
    key: &'static str,
    members: Members,
) -> Result<Vec<Tree>, PatchError> {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, item) in items.iter().enumerate() {
        if let Ok(identity) = identity(item, Some(key)) {
            places.entry(identity).or_insert(place);
        }
    }
    let mut merged = items;
    for (item, identity) in change.into_iter().zip(keys) {
        let Tree::Object(item) = item else { continue };
        let place = *places.entry(identity.clone()).or_insert(merged.len());
        if place == merged.len() {
            merged.push(Tree::Object(TreeMap::new()));
        }
        if let Tree::Object(object) = merged[place].take() {
            merged[place] = Tree::Object(merge_object(object, item, members)?.unwrap_or_default());
        }
    }
    Ok(merged)
}

/// What identifies an item of a merged list: the value itself, or that of its merge key, as text.
pub(super) fn identity(item: &Tree, key: Option<&str>) -> Result<String, PatchError> {
    let Some(key) = key else { return Ok(item.to_string()) };
    match item.get(key) {
        Some(value) => Ok(value.to_string()),
        None => {
            Err(PatchError::Contradiction(format!("map: {item} does not contain declared merge key: {key}")))
        }
    }
}

fn identities(items: &[Tree], key: Option<&str>) -> Result<Vec<String>, PatchError> {
    items.iter().map(|item| identity(item, key)).collect()
}
