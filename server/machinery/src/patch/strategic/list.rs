//! Merges lists: of single values as sets, of objects item by item.

use std::collections::HashSet;

use orch_runtime::{Tree, TreeMap};

use super::{
    Slot,
    directive::{Directive, unknown, without_directives},
    item::{bad_type, merge_key},
    merge_object, order,
};
use crate::patch::{
    PatchError,
    shown::{listing, type_name},
};

/// Merges the patch of a list into it.
pub(super) fn merge(items: Vec<Tree>, change: Vec<Tree>, slot: Slot) -> Result<Vec<Tree>, PatchError> {
    if !slot.strategy.merge {
        return Ok(change);
    }
    if items.is_empty() && change.is_empty() {
        return Ok(items);
    }
    let key = slot.strategy.merge_key;
    match kind(&items, &change)? {
        Kind::Single => merge_values(&items, &change, key),
        Kind::Object => merge_objects(items, change, key.ok_or_else(|| no_key(slot))?, slot),
    }
}

/// Removes values from a list, even if it does not merge. Objects cannot be removed by value.
pub(super) fn delete(items: Vec<Tree>, deleted: Vec<Tree>, slot: Slot) -> Result<Vec<Tree>, PatchError> {
    if items.is_empty() && deleted.is_empty() {
        return Ok(items);
    }
    match kind(&items, &deleted)? {
        Kind::Single => {
            let deleted: HashSet<String> = deleted.iter().map(ToString::to_string).collect();
            Ok(items.into_iter().filter(|item| !deleted.contains(&item.to_string())).collect())
        }
        Kind::Object => {
            let key = slot.strategy.merge_key.ok_or_else(|| no_key(slot))?;
            merge_objects(items, deleted, key, slot)
        }
    }
}

/// Merges one list of an object and puts it in the order that the patch gives for it.
pub(super) fn merge_in_order(
    object: &mut TreeMap,
    patch: &mut TreeMap,
    name: &str,
    wanted: Tree,
    slot: Slot,
) -> Result<(), PatchError> {
    let wanted = array(wanted)?;
    let had = object.get(name).cloned().map(array).transpose()?;
    let change = patch.get(name).cloned().map(array).transpose()?;
    let key = slot.strategy.merge_key;
    order::check(change.as_deref().unwrap_or_default(), &wanted, key)?;
    let (items, change) = match (had, change) {
        (None, None) => return Ok(()),
        (had, change) => (had, change),
    };
    let server = items.clone().unwrap_or_default();
    let all_of_a_kind = kind(&server, change.as_deref().unwrap_or_default());
    let merged = match (items, change) {
        (Some(items), Some(change)) => merge(items, change, slot)?,
        (items, None) => items.unwrap_or_default(),
        (None, Some(change)) => change.into_iter().filter_map(without_directives).collect(),
    };
    all_of_a_kind?;
    let arranged = order::arrange(merged, &wanted, &server, key)?;
    object.insert(name.to_owned(), Tree::Array(arranged));
    patch.remove(name);
    Ok(())
}

fn array(value: Tree) -> Result<Vec<Tree>, PatchError> {
    match value {
        Tree::Array(items) => Ok(items),
        other => Err(bad_type("[]interface {}", &other)),
    }
}

enum Kind {
    Single,
    Object,
}

/// The type of the items in these lists: all items must have the same type.
fn kind(items: &[Tree], change: &[Tree]) -> Result<Kind, PatchError> {
    let mut all = items.iter().chain(change);
    let Some(first) = all.next() else {
        return Err(PatchError::Contradiction("no elements in any of the given slices".to_owned()));
    };
    if first.is_array() {
        return Err(PatchError::NotApplicable("lists of lists are not supported".to_owned()));
    }
    if all.any(|item| type_name(item) != type_name(first)) {
        let shown = listing(&Tree::Array(vec![Tree::from(items), Tree::from(change)]));
        return Err(PatchError::Contradiction(format!("list element types are not identical: {shown}")));
    }
    Ok(if first.is_object() { Kind::Object } else { Kind::Single })
}

fn no_key(slot: Slot) -> PatchError {
    let items = if slot.holds_objects() { "struct" } else { "string" };
    PatchError::Contradiction(format!("cannot merge lists without merge key for {items}"))
}

/// The union of both lists.
fn merge_values(items: &[Tree], change: &[Tree], key: Option<&str>) -> Result<Vec<Tree>, PatchError> {
    let mut seen = HashSet::new();
    let mut merged = [items, change].concat();
    merged.retain(|item| seen.insert(item.to_string()));
    order::arrange(merged, change, items, key)
}

fn merge_objects(
    mut items: Vec<Tree>,
    change: Vec<Tree>,
    key: &str,
    slot: Slot,
) -> Result<Vec<Tree>, PatchError> {
    let mut merging = Vec::with_capacity(change.len());
    let mut replaces = false;
    for item in change {
        let Tree::Object(object) = item else { continue };
        match Directive::of(&object)? {
            None => merging.push(object),
            Some(Directive::Delete) => {
                let deleted = merge_key(&object, key)?;
                items.retain(|item| item.get(key) != Some(deleted));
            }
            Some(Directive::Replace) => replaces = true,
            Some(Directive::Merge) => {
                let message = "merging lists cannot yet be specified in the patch";
                return Err(PatchError::Contradiction(message.to_owned()));
            }
        }
    }
    let wanted: Vec<Tree> = merging.iter().cloned().map(Tree::Object).collect();
    if replaces {
        return order::arrange(wanted.clone(), &[], &wanted, Some(key));
    }
    let server = items.clone();
    for object in merging {
        merge_item(&mut items, object, key, slot)?;
    }
    order::arrange(items, &wanted, &server, Some(key))
}

/// Merges an item of the patch into the first item with the same key. If there is none, the item is added.
fn merge_item(items: &mut Vec<Tree>, change: TreeMap, key: &str, slot: Slot) -> Result<(), PatchError> {
    let identity = merge_key(&change, key)?;
    let found = items.iter_mut().find(|item| item.get(key) == Some(identity));
    match found.and_then(|item| item.as_object_mut()) {
        Some(object) => *object = merge_object(std::mem::take(object), change, slot.item_members())?,
        None => items.push(Tree::Object(change)),
    }
    Ok(())
}

/// Checks the `$patch` of an object that is not part of a list.
pub(super) fn directive_of_object(patch: &TreeMap) -> Result<Option<Directive>, PatchError> {
    match Directive::of(patch)? {
        Some(Directive::Merge) => Err(unknown(patch)),
        directive => Ok(directive),
    }
}
