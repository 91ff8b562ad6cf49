//! The directives of a patch: reads them, and applies those of one object.

use std::collections::HashSet;

use orch_runtime::{Tree, TreeMap};

use crate::patch::{
    PatchError,
    shown::{as_text, listing},
};

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const SET_ORDER: &str = "$setElementOrder";

/// The meaning of an entry in the patch of an object.
pub(super) enum Entry<'p> {
    /// The patch of the field with this name.
    Field(&'p str),
    /// Values to remove from the list with this name.
    Deletion(&'p str),
}

impl<'p> Entry<'p> {
    /// Reads the name of an entry.
    pub(super) fn of(name: &'p str) -> Result<Self, PatchError> {
        if !name.starts_with(DELETE_FROM_LIST) {
            return Ok(Entry::Field(name));
        }
        match name.split_once('/') {
            Some((DELETE_FROM_LIST, field)) => Ok(Entry::Deletion(field)),
            _ => Err(PatchError::Malformed("invalid patch format of primitive list".to_owned())),
        }
    }
}

/// The value of a `$patch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    Replace,
    Delete,
    /// A known directive that does nothing.
    Merge,
}

impl Directive {
    /// The directive of an object in a patch.
    pub(super) fn of(patch: &TreeMap) -> Result<Option<Self>, PatchError> {
        let Some(directive) = patch.get(PATCH) else { return Ok(None) };
        match directive.as_str() {
            Some("replace") => Ok(Some(Directive::Replace)),
            Some("delete") => Ok(Some(Directive::Delete)),
            Some("merge") => Ok(Some(Directive::Merge)),
            _ => Err(unknown(patch)),
        }
    }

    /// Whether a tree is an object with a directive, known or not.
    pub(super) fn is_in(tree: &Tree) -> bool {
        tree.get(PATCH).is_some()
    }

    /// Whether a tree is an object that is to be deleted.
    pub(super) fn deletes(tree: &Tree) -> bool {
        tree.get(PATCH).and_then(Tree::as_str) == Some("delete")
    }

    /// Removes the directive from an object and returns it.
    pub(super) fn remove_from(patch: &mut TreeMap) {
        patch.remove(PATCH);
    }
}

/// The error for an unknown `$patch` in this object.
pub(super) fn unknown(patch: &TreeMap) -> PatchError {
    let directive = patch.get(PATCH).map(as_text).unwrap_or_default();
    let shown = listing(&Tree::Object(patch.clone()));
    PatchError::Contradiction(format!("unknown patch type: {directive} in map: {shown}"))
}

/// Applies `$retainKeys`: removes the fields that it does not name from the object. It must name all fields
/// that the patch sets.
pub(super) fn retain_keys(object: &mut TreeMap, patch: &mut TreeMap) -> Result<(), PatchError> {
    let Some(directive) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let bad = || PatchError::Malformed("invalid patch format of retainKeys".to_owned());
    let retained: HashSet<&str> =
        directive.as_array().ok_or_else(bad)?.iter().filter_map(Tree::as_str).collect();
    let about_lists = |name: &str| name.starts_with(DELETE_FROM_LIST) || name.starts_with(SET_ORDER);
    let sets = |(name, change): (&String, &Tree)| !change.is_null() && !about_lists(name);
    if patch.iter().any(|entry| sets(entry) && !retained.contains(entry.0.as_str())) {
        return Err(bad());
    }
    object.retain(|name, _| retained.contains(name.as_str()));
    Ok(())
}

/// Removes the `$setElementOrder` entries from the patch of an object and returns them: the field of each,
/// and its value.
pub(super) fn take_orders(patch: &mut TreeMap) -> Result<Vec<(String, Tree)>, PatchError> {
    let names: Vec<String> = patch.keys().filter(|name| name.starts_with(SET_ORDER)).cloned().collect();
    let orders = names.into_iter().filter_map(|name| patch.remove_entry(&name));
    orders
        .map(|(name, order)| match name.split_once('/') {
            Some((SET_ORDER, field)) => Ok((field.to_owned(), order)),
            _ => Err(PatchError::Malformed("invalid patch format of setElementOrder list".to_owned())),
        })
        .collect()
}

/// A value without the objects in it that have a directive; none if it is such an object itself.
pub(super) fn without_directives(change: Tree) -> Option<Tree> {
    if Directive::is_in(&change) {
        return None;
    }
    Some(match change {
        Tree::Object(map) => {
            map.into_iter().filter_map(|(name, value)| Some((name, without_directives(value)?))).collect()
        }
        Tree::Array(items) => items.into_iter().filter_map(without_directives).collect(),
        other => other,
    })
}

/// A value without the entries in it that are null.
pub(super) fn without_nulls(change: Tree) -> Tree {
    match change {
        Tree::Object(map) => {
            let entries = map.into_iter().filter(|(_, value)| !value.is_null());
            entries.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        Tree::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
