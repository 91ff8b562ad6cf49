//! Merges lists: of single values as sets, of objects item by item.

use std::collections::{HashMap, HashSet};

use orch_runtime::{Tree, TreeMap, field_error::Shown as _, type_def::Shape};

use super::{
    Members, Slot, Work,
    directive::{Directive, unknown, without_directives},
    item::{bad_type, merge_key},
    merge_object,
    order::{self, positions},
};
use crate::patch::{
    PatchError,
    shown::{listing, type_name},
};

/// Merges the patch of a list into it.
pub(super) fn merge(
    items: Vec<Tree>,
    change: Vec<Tree>,
    slot: Slot,
    work: &mut Work,
) -> Result<Vec<Tree>, PatchError> {
    if !slot.strategy.merge {
        return Ok(change);
    }
    if items.is_empty() && change.is_empty() {
        return Ok(items);
    }
    let key = slot.strategy.merge_key;
    match kind(&items, &change)? {
        Kind::Single => merge_values(&items, &change, key),
        Kind::Object => merge_objects(items, change, key.ok_or_else(|| no_key(slot))?, slot, work),
    }
}

/// Removes values from a list, even if it does not merge. Objects cannot be removed by value.
pub(super) fn delete(
    items: Vec<Tree>,
    deleted: Vec<Tree>,
    slot: Slot,
    work: &mut Work,
) -> Result<Vec<Tree>, PatchError> {
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
            merge_objects(items, deleted, key, slot, work)
        }
    }
}

/// Merges one list of an object and puts it in the order that the patch gives for it.
pub(super) fn merge_in_order(
    (object, patch): (&mut TreeMap, &mut TreeMap),
    name: &str,
    wanted: Tree,
    members: Members,
    work: &mut Work,
) -> Result<(), PatchError> {
    let wanted = array(wanted)?;
    let items = object.remove(name).map(array).transpose()?;
    let change = patch.remove(name).map(array).transpose()?;
    check_may_be_ordered(name, members)?;
    let slot = members.slot(name);
    let key = slot.strategy.merge_key;
    order::check(change.as_deref().unwrap_or_default(), &wanted, key)?;
    if items.is_none() && change.is_none() {
        return Ok(());
    }
    let had = items.as_deref().unwrap_or_default();
    let changed = change.as_deref().unwrap_or_default();
    let server = match key {
        Some(key) if slot.strategy.merge => order::server_positions(had, changed, key),
        key => positions(had, key),
    };
    let all_of_a_kind = kind(had, changed);
    let merged = match (items, change) {
        (Some(items), Some(change)) => merge(items, change, slot, work)?,
        (items, None) => items.unwrap_or_default(),
        (None, Some(change)) => change.into_iter().filter_map(without_directives).collect(),
    };
    all_of_a_kind?;
    let wanted = order::wanted_positions(&wanted, key)?;
    let arranged = order::arrange(merged, &wanted, &server?, key)?;
    object.insert(name.to_owned(), Tree::Array(arranged));
    Ok(())
}

/// Checks that a name is one of a field that may be a list.
fn check_may_be_ordered(name: &str, members: Members) -> Result<(), PatchError> {
    let fault = match members {
        Members::Values(_) | Members::Unknown => {
            "merging an object in json but data type is not struct, instead is: map".to_owned()
        }
        Members::Fields(def) => match def.field(name) {
            None => {
                format!(
                    "unable to find api field in struct {} for the json field {}",
                    def.short_name,
                    name.shown()
                )
            }
            Some(field) if matches!(field.shape, Shape::Map { .. }) => {
                "expected slice or array type, but got: struct".to_owned()
            }
            Some(_) => return Ok(()),
        },
    };
    Err(PatchError::Contradiction(fault))
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
    let (wanted, server) = (positions(change, key)?, positions(items, key)?);
    let mut seen = HashSet::new();
    let mut merged = [items, change].concat();
    merged.retain(|item| seen.insert(item.to_string()));
    order::arrange(merged, &wanted, &server, key)
}

fn merge_objects(
    mut items: Vec<Tree>,
    change: Vec<Tree>,
    key: &str,
    slot: Slot,
    work: &mut Work,
) -> Result<Vec<Tree>, PatchError> {
    let mut merging = Vec::with_capacity(change.len());
    let mut deleted = HashSet::new();
    let mut replaces = false;
    for item in change {
        let Tree::Object(object) = &item else { continue };
        match Directive::of(object)? {
            None => merging.push(item),
            Some(Directive::Delete) => drop(deleted.insert(merge_key(object, key)?.to_string())),
            Some(Directive::Replace) => replaces = true,
            Some(Directive::Merge) => {
                let message = "merging lists cannot yet be specified in the patch";
                return Err(PatchError::Contradiction(message.to_owned()));
            }
        }
    }
    let wanted = positions(&merging, Some(key));
    if replaces {
        let wanted = wanted?;
        return order::arrange(merging, &HashMap::new(), &wanted, Some(key));
    }
    if !deleted.is_empty() {
        items.retain(|item| item.get(key).is_none_or(|value| !deleted.contains(&value.to_string())));
    }
    let server = positions(&items, Some(key));
    merge_items(&mut items, merging, key, slot, work)?;
    order::arrange(items, &wanted?, &server?, Some(key))
}

/// Merges each item of the patch into the first item with the same key. If there is none, the item is added.
fn merge_items(
    items: &mut Vec<Tree>,
    merging: Vec<Tree>,
    key: &str,
    slot: Slot,
    work: &mut Work,
) -> Result<(), PatchError> {
    let mut first = HashMap::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        if let Some(value) = item.get(key) {
            first.entry(value.to_string()).or_insert(position);
        }
    }
    let mut merged = HashSet::new();
    for item in merging {
        let Tree::Object(change) = item else { continue };
        let identity = merge_key(&change, key)?;
        let text = identity.to_string();
        // An item may have lost its key: `$retainKeys` removes it.
        let found = first.get(&text).copied().filter(|at| items[*at].get(key) == Some(identity));
        let at = found.unwrap_or(items.len());
        if !merged.insert(at) {
            work.repeats(&items[at])?;
        }
        if let Some(object) = items.get_mut(at).and_then(Tree::as_object_mut) {
            *object = merge_object(std::mem::take(object), change, slot.item_members(), work)?;
        } else {
            items.push(Tree::Object(change));
            first.insert(text, at);
        }
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
