//! Who set which field: keeps `metadata.managedFields` true through creates and updates.
//!
//! A create makes its manager the owner of every field that it gave. An update makes its manager the owner of the
//! fields that it changed or added, and takes those, and what it removed, from everybody else; what it wrote without
//! changing it stays with its owners. An object that nobody tracks stays untracked through updates.

mod compare;
mod entry;

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

/// More entries of updates than these are merged, the oldest first.
const MAX_UPDATE_ENTRIES: usize = 10;

/// The manager of what was set before anybody was recorded.
const UNTRACKED_MANAGER: &str = "before-first-apply";

/// The manager of merged entries.
const MERGED_MANAGER: &str = "ancient-changes";

/// Fields that belong to the server or name the object: no manager owns them. Each name stands with the names of the
/// fields below it.
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
    pub(crate) fn without_reset<'t>(&self, set: FieldSet<'t>) -> FieldSet<'t> {
        self.reset.iter().fold(set, |set, path| set.without(path))
    }
}

/// The `metadata.managedFields` of a new object, as JSON; empty where nobody owns anything. What the client gave there is
/// ignored.
///
/// `empty` is the object of the kind with nothing set, as the typed form writes it: objects and lists that are always
/// written are in it, and are therefore nobody's.
pub fn owners_of_new(write: &Write<'_>, empty: &Tree, new: &Tree, def: &'static TypeDef) -> String {
    entry::write_json(&created(write, empty, new, def))
}

/// Tracks a create: sets the `metadata.managedFields` of the new object to what [`owners_of_new`] says.
pub fn track_create(write: &Write<'_>, empty: &Tree, new: &mut Tree, def: &'static TypeDef) {
    let entries = written(created(write, empty, new, def));
    store(new, entries);
}

fn created<'t>(write: &Write<'_>, empty: &'t Tree, new: &'t Tree, def: &'static TypeDef) -> Vec<Entry<'t>> {
    take_over(Vec::new(), Change::of(write, compare(empty, new, def)), write)
}

/// Tracks an update: sets `metadata.managedFields` of the new object, and takes them out of the old one. Returns whether
/// they differ in anything but times.
///
/// `given` is what the client gave as `metadata.managedFields`. Entries of its own replace the stored ones; `[]` or
/// `[{}]` ends the tracking; nothing, or what cannot be read, leaves the stored ones. Writes to a sub-resource never
/// replace them.
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
        // As they were read.
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

/// Tracks an update of an object whose entries were `stored`.
fn track_stored(
    write: &Write<'_>,
    stored: Vec<Tree>,
    old: &Tree,
    new: &mut Tree,
    def: &'static TypeDef,
) -> bool {
    if stored.is_empty() {
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

/// Takes `metadata.managedFields` out of an object.
pub fn take_entries(tree: &mut Tree) -> Vec<Tree> {
    match tree
        .get_mut("metadata")
        .and_then(|metadata| metadata.as_object_mut()?.remove(field::MANAGED_FIELDS))
    {
        Some(Tree::Array(entries)) => entries,
        _ => Vec::new(),
    }
}

/// Whether two lists of entries differ in anything but times, which alone are no change.
pub fn owners_differ(old: &[Tree], new: &[Tree]) -> bool {
    old.len() != new.len() || old.iter().zip(new).any(|(old, new)| !same_but(old, new, "time"))
}

/// Whether two states of an object are the same besides `metadata.managedFields`.
pub fn same_but_owners(old: &Tree, new: &Tree) -> bool {
    same_but(old, new, "metadata") && same_but(&old["metadata"], &new["metadata"], field::MANAGED_FIELDS)
}

/// Whether two objects are the same in all fields but one.
fn same_but(one: &Tree, other: &Tree, ignored: &str) -> bool {
    let (Tree::Object(one), Tree::Object(other)) = (one, other) else { return one == other };
    let others = |map: &TreeMap| map.len() - usize::from(map.contains_key(ignored));
    others(one) == others(other)
        && one.iter().all(|(name, value)| name == ignored || other.get(name) == Some(value))
}

/// The entries of an object that nobody tracked so far, for its first apply: everything there is belongs to nobody in
/// particular, and conflicts.
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

/// What a write does to ownership.
struct Change<'t> {
    /// What its manager owns from now on.
    taken: FieldSet<'t>,
    /// What nobody owns any more.
    removed: FieldSet<'t>,
}

impl<'t> Change<'t> {
    fn of(write: &Write<'_>, comparison: Comparison<'t>) -> Self {
        let Comparison { added, modified, removed } = comparison;
        let taken = without_never_owned(write.without_reset(added.union(modified)));
        Change { taken, removed: without_never_owned(write.without_reset(removed)) }
    }
}

/// The entry of a write's manager.
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

/// The entries after a write that made this change.
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

/// What becomes of a stored entry.
enum Settled {
    /// It stays as it is.
    Kept,
    /// It stays, and gets the time of the write.
    Renewed,
    /// It is another one, in its written form; none where it has no fields left.
    Changed(Option<Tree>),
}

/// What becomes of the stored entries, then the write's own where it is new. Of stored ones only those are read that the
/// change concerns: reading and writing all of them costs more than the rest of a write. None where entries have to be
/// merged.
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

/// Merges the oldest entries of updates, one per version, until no more than the allowed number remain.
fn merge_oldest(mut entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    entry::sort(&mut entries);
    let (applied, mut updates): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| entry.operation == Operation::Apply);
    let mut merged: Vec<Entry<'_>> = Vec::new();
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

/// The written form of the entries, in their order.
pub(crate) fn written(mut entries: Vec<Entry<'_>>) -> Vec<Tree> {
    entry::sort(&mut entries);
    write_entries(entries)
}

pub(crate) fn store(new: &mut Tree, entries: Vec<Tree>) {
    MetaMut::of(new).set_managed_fields(entries);
}

#[cfg(test)]
mod tests;
