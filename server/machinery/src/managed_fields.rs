//! Who set which field: keeps `metadata.managedFields` true through creates and updates.
//!
//! A create makes its manager the owner of every field that it gave. An update makes its manager the owner of the
//! fields that it changed or added, and takes those, and what it removed, from everybody else; what it wrote without
//! changing it stays with its owners. An object that nobody tracks stays untracked through updates.

mod compare;
mod entry;

use std::sync::LazyLock;

use orch_runtime::{Tree, resource_def::FieldPath, type_def::TypeDef};

pub use self::{
    compare::{Comparison, compare},
    entry::{Entry, ManagedFieldsError, Operation, parse_entries, write_entries},
};
use crate::{
    fieldset::{FieldSet, field_element},
    meta::{Meta, MetaMut, metadata_mut},
};

/// More entries of updates than these are merged, the oldest first.
const MAX_UPDATE_ENTRIES: usize = 10;

/// The manager of what was set before anybody was recorded.
const UNTRACKED_MANAGER: &str = "before-first-apply";

/// The manager of merged entries.
const MERGED_MANAGER: &str = "ancient-changes";

/// Fields that belong to the server, or name the object: nobody owns them.
const NEVER_OWNED: &[&[&str]] = &[
    &["apiVersion"],
    &["kind"],
    &["metadata"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "creationTimestamp"],
    &["metadata", "selfLink"],
    &["metadata", "uid"],
    &["metadata", "clusterName"],
    &["metadata", "generation"],
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
];

/// A write that is not an apply.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// Who writes; an empty name counts as `unknown`.
    pub manager: &'a str,
    /// The version of the object as written.
    pub api_version: &'a str,
    /// The sub-resource written to; empty for the object itself.
    pub subresource: &'a str,
    /// Now, RFC 3339 in whole seconds.
    pub time: &'a str,
    /// Fields that this path of the API does not set, whatever the object holds: `status` on the main path.
    pub reset: &'a [FieldPath],
}

impl Write<'_> {
    /// A set without the fields that this path of the API does not set.
    pub(crate) fn without_reset(&self, set: FieldSet) -> FieldSet {
        self.reset.iter().fold(set, |set, path| set.without(&elements(path)))
    }
}

/// Tracks a create: sets `metadata.managedFields` of the new object. What the client gave there is ignored.
///
/// `empty` is the object of the kind with nothing set, as the typed form writes it: objects and lists that are always
/// written are in it, and are therefore nobody's.
pub fn track_create(write: &Write<'_>, empty: &Tree, new: &mut Tree, def: &'static TypeDef) {
    let comparison = compare(empty, new, def);
    let entries = take_over(Vec::new(), write, comparison);
    store(new, entries);
}

/// Tracks an update: sets `metadata.managedFields` of the new object.
///
/// `given` is what the client gave as `metadata.managedFields`. Entries of its own replace the stored ones; `[]` or
/// `[{}]` ends the tracking; nothing, or what cannot be read, leaves the stored ones. Writes to a sub-resource never
/// replace them.
pub fn track_update(
    write: &Write<'_>,
    old: &Tree,
    given: Option<&Tree>,
    new: &mut Tree,
    def: &'static TypeDef,
) {
    let stored = || parse_entries(Meta::of(old).managed_fields()).unwrap_or_default();
    let entries = match given.and_then(Tree::as_array) {
        Some(given) if write.subresource.is_empty() => {
            if ends_tracking(given) {
                Vec::new()
            } else {
                parse_entries(given).unwrap_or_else(|_| stored())
            }
        }
        _ => stored(),
    };
    if entries.is_empty() {
        store(new, entries);
        return;
    }
    let comparison = compare(old, new, def);
    store(new, take_over(entries, write, comparison));
}

/// Whether two states of an object differ in nothing but the times of their entries, which alone are no change.
pub fn differ_only_in_times(old: &Tree, new: &Tree) -> bool {
    let without_times = |tree: &Tree| {
        let mut tree = tree.clone();
        if let Some(Tree::Array(entries)) = metadata_mut(&mut tree).get_mut("managedFields") {
            for entry in entries.iter_mut().filter_map(Tree::as_object_mut) {
                entry.remove("time");
            }
        }
        tree
    };
    without_times(old) == without_times(new)
}

/// The entries of an object that nobody tracked so far, for its first apply: everything there is belongs to nobody in
/// particular, and conflicts.
pub(crate) fn begin_tracking(
    write: &Write<'_>,
    empty: &Tree,
    live: &Tree,
    def: &'static TypeDef,
) -> Vec<Entry> {
    let unknown = Write { manager: UNTRACKED_MANAGER, ..*write };
    take_over(Vec::new(), &unknown, compare(empty, live, def))
}

fn ends_tracking(given: &[Tree]) -> bool {
    match given {
        [] => true,
        [only] => only.as_object().is_some_and(serde_json::Map::is_empty),
        _ => false,
    }
}

/// The entries after a write that made these changes.
fn take_over(mut entries: Vec<Entry>, write: &Write<'_>, comparison: Comparison) -> Vec<Entry> {
    let Comparison { added, modified, removed } = comparison;
    let taken = write.without_reset(added.union(modified)).difference(never_owned());
    if !entries.is_empty() {
        let lost = write.without_reset(removed).union(taken.clone());
        for entry in &mut entries {
            entry.fields = std::mem::take(&mut entry.fields).difference(&lost).difference(never_owned());
        }
    }
    if !taken.is_empty() {
        let own = Entry {
            manager: if write.manager.is_empty() { "unknown" } else { write.manager }.to_owned(),
            operation: Operation::Update,
            api_version: write.api_version.to_owned(),
            time: write.time.to_owned(),
            subresource: write.subresource.to_owned(),
            fields: taken,
        };
        match entries.iter_mut().find(|entry| entry.is_same_manager(&own)) {
            Some(entry) => {
                entry.fields = std::mem::take(&mut entry.fields).union(own.fields);
                entry.time = own.time;
            }
            None => entries.push(own),
        }
    }
    entries.retain(|entry| !entry.fields.is_empty());
    merge_oldest(entries)
}

/// The fields of [`NEVER_OWNED`].
pub(crate) fn never_owned() -> &'static FieldSet {
    static SET: LazyLock<FieldSet> = LazyLock::new(|| {
        let mut set = FieldSet::new();
        for path in NEVER_OWNED {
            set.insert(&elements(path));
        }
        set
    });
    &SET
}

fn elements(path: &[&str]) -> Vec<String> {
    path.iter().map(|name| field_element(name)).collect()
}

/// Merges the oldest entries of updates, one per version, until no more than the allowed number remain.
fn merge_oldest(mut entries: Vec<Entry>) -> Vec<Entry> {
    entry::sort(&mut entries);
    let (applied, mut updates): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| entry.operation == Operation::Apply);
    let mut merged: Vec<Entry> = Vec::new();
    let mut rest = updates.split_off(0).into_iter().peekable();
    while merged.len() + rest.len() > MAX_UPDATE_ENTRIES {
        let Some(oldest) = rest.next() else { break };
        match merged.iter_mut().find(|entry| entry.api_version == oldest.api_version) {
            None => merged.push(oldest),
            Some(bucket) => {
                MERGED_MANAGER.clone_into(&mut bucket.manager);
                bucket.subresource.clear();
                bucket.fields = std::mem::take(&mut bucket.fields).union(oldest.fields);
                bucket.time = oldest.time;
            }
        }
    }
    applied.into_iter().chain(merged).chain(rest).collect()
}

pub(crate) fn store(new: &mut Tree, mut entries: Vec<Entry>) {
    entry::sort(&mut entries);
    let list = write_entries(entries);
    MetaMut::of(new).set("managedFields", (!list.is_empty()).then_some(Tree::Array(list)));
}

#[cfg(test)]
mod tests;
