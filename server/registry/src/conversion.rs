//! Objects in the forms of several versions, or kinds, that read and write the same stored objects.
//!
//! Objects are converted where stored bytes are read and written ([`stored`](crate::stored)), and between the
//! version of a client and the stored one in a write. An entry of `metadata.managedFields` names fields as
//! the version does that it was written in. So a write reads the entries of other versions in its own names,
//! and puts them back.

use std::{cell::LazyCell, collections::HashMap};

use orch_machinery::{
    managed_fields,
    meta::{self, Meta, MetaMut, field},
    nullable,
};
use orch_runtime::{Tree, TreeMap, resource_def::ResourceDef};

use crate::{
    catalog::ServedResource,
    forms::{Form, Way},
};

/// An object of a resource, in the form in which it is stored.
///
/// # Errors
/// Where it does not fit the type.
pub fn to_stored(resource: &ServedResource, tree: Tree) -> Result<Tree, serde_json::Error> {
    convert(resource.def, resource.stored(), tree)
}

/// An object of one kind in the form of a resource that has the same stored objects.
///
/// # Errors
/// Where it does not fit the type.
pub fn convert(
    from: &'static ResourceDef,
    into: &ServedResource,
    tree: Tree,
) -> Result<Tree, serde_json::Error> {
    let way = Way::between(from, into.def);
    let mut converted = tree.clone();
    way.convert(true, into.vocabulary, &mut converted);
    if let Ok(typed) = typed(into, converted) {
        return Ok(typed);
    }
    // Clients may write what they like into annotations, also where they keep what fits no place.
    let mut converted = tree;
    way.convert(false, into.vocabulary, &mut converted);
    typed(into, converted)
}

fn typed(into: &ServedResource, tree: Tree) -> Result<Tree, serde_json::Error> {
    let tree = if tree.is_object() { tree } else { Tree::Object(TreeMap::new()) };
    // The types decide which empty fields are written.
    let mut tree = (into.def.from_tree)(tree)?.to_tree()?;
    meta::set_type(&mut tree, into.def.kind, &into.api_version);
    nullable::empty_to_null(&mut tree, into.def.type_def);
    Ok(tree)
}

/// Which managers an object had that were dropped: those of versions that nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostManagers {
    /// None.
    None,
    /// Some; others are left.
    Some,
    /// All that it had.
    All,
}

/// Puts the managed fields that were written in other versions into the names of this one, and drops those of
/// versions that are gone.
pub fn name_owners_here(resource: &ServedResource, tree: &mut Tree) -> LostManagers {
    let lost_managers = drop_owners_of_unknown_versions(resource, tree);
    for (form, entry) in owners_of_others(resource, tree) {
        if let Some(fields) = entry.get_mut("fieldsV1") {
            Way::between(form.def, resource.def).convert_owned(fields);
        }
    }
    lost_managers
}

/// Drops managed fields of versions that nobody knows, because nobody knows what their names mean.
pub fn drop_owners_of_unknown_versions(resource: &ServedResource, tree: &mut Tree) -> LostManagers {
    let is_known = |entry: &Tree| {
        let text = |name: &str| entry.get(name).and_then(Tree::as_str).unwrap_or_default();
        let version = text("apiVersion");
        // A malformed entry stays: later it makes the whole list count as not sent.
        let is_entry = matches!(text("operation"), "Apply" | "Update") && text("fieldsType") == "FieldsV1";
        !is_entry
            || version.is_empty()
            || version == resource.api_version
            || resource.forms.iter().any(|form| form.api_version == version)
    };
    if Meta::of(tree).managed_fields().iter().all(is_known) {
        return LostManagers::None;
    }
    let mut entries = managed_fields::take_entries(tree);
    entries.retain(is_known);
    let lost = if entries.is_empty() { LostManagers::All } else { LostManagers::Some };
    MetaMut::of(tree).set_managed_fields(entries);
    lost
}

/// Puts them back. An entry that the write has left alone stays as it is in `stored`, the managed fields
/// before the write: a set of fields does not always come back from other names as it was.
pub fn name_owners_there(resource: &ServedResource, stored: &[Tree], tree: &mut Tree) {
    let stored = LazyCell::new(|| {
        // The first of several that are alike.
        stored.iter().rev().map(|before| (owner(before), before)).collect::<HashMap<_, _>>()
    });
    for (form, entry) in owners_of_others(resource, tree) {
        let before = stored.get(&owner(entry));
        let kept = before.map(|before| &before["fieldsV1"]).filter(|before| {
            let mut here = (*before).clone();
            Way::between(form.def, resource.def).convert_owned(&mut here);
            here == entry["fieldsV1"]
        });
        match (kept, entry.get_mut("fieldsV1")) {
            (Some(kept), Some(fields)) => *fields = kept.clone(),
            (_, Some(fields)) => Way::between(resource.def, form.def).convert_owned(fields),
            (_, None) => {}
        }
    }
}

/// What tells one entry from another.
fn owner(entry: &Tree) -> [Option<&str>; 4] {
    ["manager", "operation", "apiVersion", "subresource"].map(|name| entry.get(name).and_then(Tree::as_str))
}

/// Whether an object has managed fields of other forms.
pub fn has_other_owners(resource: &ServedResource, tree: &mut Tree) -> bool {
    owners_of_others(resource, tree).next().is_some()
}

/// The entries that were written in other forms, with these forms.
fn owners_of_others<'t>(
    resource: &'t ServedResource,
    tree: &'t mut Tree,
) -> impl Iterator<Item = (&'t Form, &'t mut Tree)> {
    let has_others = !resource.forms.is_empty() && !Meta::of(tree).managed_fields().is_empty();
    let metadata = if has_others { tree.get_mut("metadata") } else { None };
    let entries = metadata.and_then(|metadata| metadata.get_mut(field::MANAGED_FIELDS)?.as_array_mut());
    entries.into_iter().flatten().filter_map(|entry| {
        let version = entry.get("apiVersion").and_then(Tree::as_str).unwrap_or_default();
        if version == resource.api_version {
            return None;
        }
        let form = resource.forms.iter().find(|form| form.api_version == version)?;
        Some((form, entry))
    })
}

#[cfg(test)]
mod tests;
