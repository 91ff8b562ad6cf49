//! The directives of a patch: reading them, and those that concern one object.

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

/// What an entry of the patch of an object is about.
pub(super) enum Entry<'p> {
    /// The field of this name.
    Field(&'p str),
    /// Values to remove from the list of this name.
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

/// What a `$patch` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    Replace,
    Delete,
    /// Known, and of no use anywhere.
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

    /// Takes the directive out of an object.
    pub(super) fn remove_from(patch: &mut TreeMap) {
        patch.remove(PATCH);
    }
}

/// The `$patch` of this object says what nobody knows.
pub(super) fn unknown(patch: &TreeMap) -> PatchError {
    let directive = patch.get(PATCH).map(as_text).unwrap_or_default();
    let shown = listing(&Tree::Object(patch.clone()));
    PatchError::Contradiction(format!("unknown patch type: {directive} in map: {shown}"))
}

/// Carries out `$retainKeys`: removes what it does not name from the object. What the patch sets has to be named.
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

/// Takes the orders that lists are to have out of the patch of an object: the field of each, and its value.
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

/// A value without the objects in it that have a directive; none where it is such an object itself.
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
