//! Field ownership: keeps `metadata.managedFields` up to date in creates and updates.
//!
//! A create makes its manager the owner of all fields of the object. An update makes its manager the owner of
//! the fields that it changed or added, and takes these and the removed ones from all other managers. Fields
//! that it wrote without a change stay with their owners. An object without entries is not tracked, and an
//! update does not begin to track it.

mod compare;
mod entry;

use std::collections::{HashMap, hash_map};

use orch_runtime::{Tree, TreeMap, resource_def::FieldPath, type_def::TypeDef};

pub(crate) use self::entry::stored_entries;
pub use self::{
    compare::{Comparison, compare},
    entry::{Entry, ManagedFieldsError, Operation, parse_entries, write_entries},
};
use crate::{
    fieldset::FieldSet,
    meta::{Meta, MetaMut, field},
};

/// If there are more entries of updates than this, the oldest are merged.
const MAX_UPDATE_ENTRIES: usize = 10;

/// The manager of fields that were set before the object was tracked.
const UNTRACKED_MANAGER: &str = "before-first-apply";

/// The manager of merged entries.
const MERGED_MANAGER: &str = "ancient-changes";

/// Fields that belong to the server or name the object: no manager owns them. Each name stands with the names
/// of the fields below it.
const NEVER_OWNED: &[(&str, &[&str])] = &[
    ("apiVersion", &[]),
    ("kind", &[]),
    (
        "metadata",
        &[
            field::NAME,
            field::NAMESPACE,
            field::CREATION_TIMESTAMP,
            field::SELF_LINK,
            field::UID,
            "clusterName",
            field::GENERATION,
            field::MANAGED_FIELDS,
            field::RESOURCE_VERSION,
        ],
    ),
];

/// A write, as field ownership sees it.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// The manager; an empty name counts as `unknown`.
    pub manager: &'a str,
    /// The API version of the written object.
    pub api_version: &'a str,
    /// The subresource of the endpoint; empty for the object itself.
    pub subresource: &'a str,
    /// The current time, RFC 3339 in whole seconds.
    pub time: &'a str,
    /// Fields that the endpoint does not set, even if the object has them: `status` at the main endpoint.
    pub reset: &'a [FieldPath],
    /// Whether the object had managers although none is left: what those of versions that are gone own is not
    /// known any more. Such an object is tracked.
    pub lost_managers: bool,
}

impl Write<'_> {
    /// The set without the fields that the endpoint does not set.
    pub(crate) fn without_reset<'t>(&self, set: FieldSet<'t>) -> FieldSet<'t> {
        self.reset.iter().fold(set, |set, path| set.without(path))
    }
}

/// The `metadata.managedFields` of a new object, as JSON; empty if there is no owned field. The value in
/// `new` is ignored.
///
/// `empty` is the typed form of an object with nothing set, as a tree. It has the objects and lists that are
/// always written; these have no owner.
pub fn owners_of_new(write: &Write<'_>, empty: &Tree, new: &Tree, def: &'static TypeDef) -> String {
    entry::write_json(&created(write, empty, new, def))
}

/// Tracks a create: sets the `metadata.managedFields` of the new object to the value of [`owners_of_new`].
pub fn track_create(write: &Write<'_>, empty: &Tree, new: &mut Tree, def: &'static TypeDef) {
    let entries = written(created(write, empty, new, def));
    store(new, entries);
}

fn created<'t>(write: &Write<'_>, empty: &'t Tree, new: &'t Tree, def: &'static TypeDef) -> Vec<Entry<'t>> {
    take_over(Vec::new(), Change::of(write, compare(empty, new, def)), write)
}

/// Tracks an update: sets `metadata.managedFields` of the new object, and removes them from the old one.
/// Returns whether they differ in more than their times.
///
/// `given` is the `metadata.managedFields` that the client sent. Its entries replace the stored ones; `[]` or
/// `[{}]` ends the tracking; if it is absent or cannot be read, the stored ones stay. Writes to a subresource
/// never replace them.
pub fn track_update(
    write: &Write<'_>,
    old: &mut Tree,
    given: Option<&Tree>,
    new: &mut Tree,
    def: &'static TypeDef,
) -> bool {
    let stored = take_entries(old);
    let given = given.and_then(Tree::as_array).filter(|_| write.subresource.is_empty());
    let entries = match given {
        Some(given) if ends_tracking(given) => Vec::new(),
        // The client sent back what it had read.
        Some(given) if *given == stored => return track_stored(write, stored, old, new, def),
        Some(given) => match parse_entries(given) {
            Ok(entries) => entries,
            Err(_) => return track_stored(write, stored, old, new, def),
        },
        None => return track_stored(write, stored, old, new, def),
    };
    let entries = if entries.is_empty() {
        entries
    } else {
        take_over(entries, Change::of(write, compare(old, new, def)), write)
    };
    let entries = written(entries);
    store(new, entries);
    owners_differ(&stored, Meta::of(new).managed_fields())
}

/// Tracks an update of an object whose stored entries are `stored`.
fn track_stored(
    write: &Write<'_>,
    stored: Vec<Tree>,
    old: &Tree,
    new: &mut Tree,
    def: &'static TypeDef,
) -> bool {
    if stored.is_empty() && !write.lost_managers {
        store(new, Vec::new());
        return false;
    }
    let change = Change::of(write, compare(old, new, def));
    let Some(settled) = settle_written(&stored, &change, write) else {
        let entries = written(take_over(stored_entries(&stored).unwrap_or_default(), change, write));
        store(new, entries);
        return owners_differ(&stored, Meta::of(new).managed_fields());
    };
    let differ = settled.iter().any(|entry| matches!(entry, Settled::Changed(_)));
    let entries = settled_entries(stored, settled, write);
    MetaMut::of(new).set_managed_fields(entries);
    differ
}

/// Removes `metadata.managedFields` from an object and returns its entries.
pub fn take_entries(tree: &mut Tree) -> Vec<Tree> {
    match tree
        .get_mut("metadata")
        .and_then(|metadata| metadata.as_object_mut()?.remove(field::MANAGED_FIELDS))
    {
        Some(Tree::Array(entries)) => entries,
        _ => Vec::new(),
    }
}

/// Whether two lists of entries differ in more than their times. A new time alone is no change.
pub fn owners_differ(old: &[Tree], new: &[Tree]) -> bool {
    old.len() != new.len() || old.iter().zip(new).any(|(old, new)| !same_but(old, new, "time"))
}

/// Whether two states of an object are the same except for `metadata.managedFields`.
pub fn same_but_owners(old: &Tree, new: &Tree) -> bool {
    same_but(old, new, "metadata") && same_but(&old["metadata"], &new["metadata"], field::MANAGED_FIELDS)
}

/// Whether two objects are the same except for one field.
fn same_but(one: &Tree, other: &Tree, ignored: &str) -> bool {
    let (Tree::Object(one), Tree::Object(other)) = (one, other) else { return one == other };
    let others = |map: &TreeMap| map.len() - usize::from(map.contains_key(ignored));
    others(one) == others(other)
        && one.iter().all(|(name, value)| name == ignored || other.get(name) == Some(value))
}

/// The entries of an object that is not tracked, at its first apply: one manager owns all fields, so that
/// they are conflicts.
pub(crate) fn begin_tracking<'t>(
    write: &Write<'_>,
    empty: &'t Tree,
    live: &'t Tree,
    def: &'static TypeDef,
) -> Vec<Entry<'t>> {
    let unknown = Write { manager: UNTRACKED_MANAGER, ..*write };
    created(&unknown, empty, live, def)
}

fn ends_tracking(given: &[Tree]) -> bool {
    match given {
        [] => true,
        [only] => only.as_object().is_some_and(serde_json::Map::is_empty),
        _ => false,
    }
}

/// How a write changes ownership.
struct Change<'t> {
    /// The fields that its manager gets.
    taken: FieldSet<'t>,
    /// The fields that all managers lose.
    removed: FieldSet<'t>,
}

impl<'t> Change<'t> {
    fn of(write: &Write<'_>, comparison: Comparison<'t>) -> Self {
        let Comparison { added, modified, removed } = comparison;
        let taken = without_never_owned(write.without_reset(added.union(modified)));
        Change { taken, removed: without_never_owned(write.without_reset(removed)) }
    }
}

/// The entry of the manager of a write.
fn own_entry<'t>(write: &Write<'_>, fields: FieldSet<'t>) -> Entry<'t> {
    Entry {
        manager: if write.manager.is_empty() { "unknown" } else { write.manager }.to_owned(),
        operation: Operation::Update,
        api_version: write.api_version.to_owned(),
        time: write.time.to_owned(),
        subresource: write.subresource.to_owned(),
        fields,
    }
}

/// The entries after a write with this change.
fn take_over<'t>(mut entries: Vec<Entry<'t>>, change: Change<'t>, write: &Write<'_>) -> Vec<Entry<'t>> {
    for entry in &mut entries {
        let fields = std::mem::take(&mut entry.fields);
        entry.fields = without_never_owned(fields.difference(&change.taken).difference(&change.removed));
    }
    if !change.taken.is_empty() {
        let own = own_entry(write, change.taken);
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

/// The fate of a stored entry.
enum Settled {
    /// It does not change.
    Kept,
    /// Only its time changes.
    Renewed,
    /// It has other fields now, and is written anew; none if it has no fields left.
    Changed(Option<Tree>),
}

/// The fate of every stored entry, and after them the write's own entry if it is new. Only the entries that
/// the change concerns are read, because reading and writing all of them costs more than the rest of a write.
/// None if entries have to be merged.
fn settle_written(stored: &[Tree], change: &Change<'_>, write: &Write<'_>) -> Option<Vec<Settled>> {
    let own = own_entry(write, FieldSet::new());
    let mut is_new = !change.taken.is_empty();
    let mut settled = Vec::with_capacity(stored.len() + 1);
    for written in stored {
        let mut entry = entry::parse_head(written).ok()?;
        let fields = &written["fieldsV1"];
        let is_own = is_new && entry.is_same_manager(&own);
        let loses = change.removed.meets(fields);
        settled.push(if is_own && !loses && change.taken.is_within(fields) {
            Settled::Renewed
        } else if is_own || loses || change.taken.meets(fields) {
            entry.fields =
                FieldSet::of_stored(fields).ok()?.difference(&change.taken).difference(&change.removed);
            if is_own {
                entry.fields = entry.fields.union(change.taken.clone());
                write.time.clone_into(&mut entry.time);
            }
            Settled::Changed((!entry.fields.is_empty()).then(|| entry::write_entry(entry)))
        } else {
            Settled::Kept
        });
        is_new &= !is_own;
    }
    if is_new {
        settled
            .push(Settled::Changed(Some(entry::write_entry(Entry { fields: change.taken.clone(), ..own }))));
    }
    let remain = |entry: &&Settled| !matches!(entry, Settled::Changed(None));
    (1..=MAX_UPDATE_ENTRIES).contains(&settled.iter().filter(remain).count()).then_some(settled)
}

fn settled_entries(stored: Vec<Tree>, settled: Vec<Settled>, write: &Write<'_>) -> Vec<Tree> {
    let mut stored = stored.into_iter();
    let mut entries = Vec::with_capacity(settled.len());
    for settled in settled {
        match (settled, stored.next()) {
            (Settled::Changed(entry), _) => entries.extend(entry),
            (Settled::Renewed, Some(mut written)) => {
                written["time"] = write.time.into();
                entries.push(written);
            }
            (Settled::Kept, Some(written)) => entries.push(written),
            (Settled::Kept | Settled::Renewed, None) => {}
        }
    }
    entry::sort_written(&mut entries);
    entries
}

/// The set without [`NEVER_OWNED`].
pub(crate) fn without_never_owned(set: FieldSet<'_>) -> FieldSet<'_> {
    set.without_named(NEVER_OWNED)
}

/// Merges the oldest entries of updates, one per version, until no more than [`MAX_UPDATE_ENTRIES`] are left.
fn merge_oldest(entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let (applied, mut updates): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| entry.operation == Operation::Apply);
    if updates.len() > MAX_UPDATE_ENTRIES {
        updates.sort_by_cached_key(|entry| (entry.time.clone(), entry.identifier()));
    }
    let mut rest = updates.into_iter();
    let mut merged: Vec<(Entry<'_>, Vec<FieldSet<'_>>)> = Vec::new();
    let mut buckets: HashMap<String, usize> = HashMap::new();
    while merged.len() + rest.len() > MAX_UPDATE_ENTRIES {
        let Some(mut oldest) = rest.next() else { break };
        let fields = std::mem::take(&mut oldest.fields);
        match buckets.entry(oldest.api_version.clone()) {
            hash_map::Entry::Vacant(free) => {
                free.insert(merged.len());
                merged.push((oldest, vec![fields]));
            }
            hash_map::Entry::Occupied(known) => {
                let (bucket, sets) = &mut merged[*known.get()];
                MERGED_MANAGER.clone_into(&mut bucket.manager);
                bucket.subresource.clear();
                bucket.time = oldest.time;
                sets.push(fields);
            }
        }
    }
    let merged = merged.into_iter().map(|(entry, sets)| Entry { fields: FieldSet::union_of(sets), ..entry });
    applied.into_iter().chain(merged).chain(rest).collect()
}

/// The entries in their written form, sorted.
pub(crate) fn written(mut entries: Vec<Entry<'_>>) -> Vec<Tree> {
    entry::sort(&mut entries);
    write_entries(entries)
}

pub(crate) fn store(new: &mut Tree, entries: Vec<Tree>) {
    MetaMut::of(new).set_managed_fields(entries);
}

#[cfg(test)]
mod tests;
