//! Resources that read and write the stored objects of another resource, each in a form of its own.
//!
//! Objects are converted where stored bytes are read and written ([`stored`](crate::stored)); everything else
//! sees one form. An entry of `metadata.managedFields` names fields as the version does that it was written
//! in. So a write reads the entries of other versions in its own names, and puts them back.

use std::collections::BTreeMap;

use orch_machinery::{
    meta::{self, field},
    nullable,
};
use orch_runtime::{Tree, TreeMap};

use crate::{catalog::ServedResource, field_names::FieldNames};

/// An object of a resource, in the form in which it is stored.
///
/// # Errors
/// Where it does not fit the type.
pub fn to_stored(resource: &ServedResource, tree: Tree) -> Result<Tree, serde_json::Error> {
    renamed(tree, |name| resource.names.stored(name), resource.stored())
}

/// A stored object in the form of a resource.
///
/// # Errors
/// Where it does not fit the type.
pub fn from_stored(resource: &ServedResource, tree: Tree) -> Result<Tree, serde_json::Error> {
    renamed(tree, |name| resource.names.own(name), resource)
}

fn renamed(
    tree: Tree,
    rename: impl Fn(&str) -> &str,
    into: &ServedResource,
) -> Result<Tree, serde_json::Error> {
    let fields = match tree {
        Tree::Object(fields) => fields,
        _ => TreeMap::new(),
    };
    let fields = fields.into_iter().map(|(name, value)| (rename(&name).to_owned(), value)).collect();
    // The types decide which empty fields are written.
    let mut tree = (into.def.from_tree)(Tree::Object(fields))?.to_tree()?;
    meta::set_type(&mut tree, into.def.kind, &into.api_version);
    nullable::empty_to_null(&mut tree, into.def.type_def);
    Ok(tree)
}

/// Puts the managed fields that were written in other versions into the names of this one.
pub fn name_owners_here(resource: &ServedResource, tree: &mut Tree) {
    rename_owned(resource, tree, |there, name| resource.names.own(there.stored(name)).to_owned());
}

/// Puts them back.
pub fn name_owners_there(resource: &ServedResource, tree: &mut Tree) {
    rename_owned(resource, tree, |there, name| there.own(resource.names.stored(name)).to_owned());
}

fn rename_owned(resource: &ServedResource, tree: &mut Tree, rename: impl Fn(FieldNames, &str) -> String) {
    if resource.forms.is_empty() {
        return;
    }
    let entries = tree.get_mut("metadata").and_then(|metadata| metadata.get_mut(field::MANAGED_FIELDS));
    for entry in entries.and_then(Tree::as_array_mut).into_iter().flatten() {
        let version = entry.get("apiVersion").and_then(Tree::as_str).unwrap_or_default();
        let is_other = version != resource.api_version;
        let Some(form) = resource.forms.iter().find(|form| is_other && form.api_version == version) else {
            continue;
        };
        if let Some(fields) = entry.get_mut("fieldsV1").and_then(Tree::as_object_mut) {
            let renamed = std::mem::take(fields).into_iter().map(|(key, below)| {
                let name = key.strip_prefix("f:").map(|name| format!("f:{}", rename(form.names, name)));
                (name.unwrap_or(key), below)
            });
            // Fields are sorted by their names.
            let renamed: BTreeMap<String, Tree> = renamed.collect();
            fields.extend(renamed);
        }
    }
}
