//! Apply with field ownership: makes the new object with its `managedFields`.

use orch_runtime::{Tree, type_def::TypeDef};

use super::{
    ApplyError, Conflict, Conflicts, check, conflict,
    fields::fields_of,
    merge::merge,
    migrate::{self, MIGRATING_MANAGER},
    prune::prune,
};
use crate::{
    fieldset::FieldSet,
    managed_fields::{
        Comparison, Entry, Operation, Write, begin_tracking, compare, same_but_owners, store, stored_entries,
        without_never_owned, written,
    },
    meta::{Meta, without_managed_fields},
};

/// A request to apply a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Application<'a> {
    /// Who applies, in which version, through which subresource, and when.
    pub write: Write<'a>,
    /// Whether fields of other managers are taken over instead of being a conflict.
    pub force: bool,
    /// The configuration, with `apiVersion` and `kind`.
    pub config: &'a Tree,
}

/// Applies a configuration to the live object. To create an object, `live` is an object without fields.
/// `empty` is as in [`track_create`](crate::managed_fields::track_create).
///
/// The result has its `metadata.managedFields`. Its values are merged, but no defaults are set and no types
/// are checked.
///
/// # Errors
/// [`ApplyError`]. The live object is not changed.
pub fn apply(
    application: &Application<'_>,
    empty: &Tree,
    live: &Tree,
    def: &'static TypeDef,
) -> Result<Tree, ApplyError> {
    let Application { write, config, .. } = application;
    check::check(config, def).map_err(ApplyError::Schema)?;
    let mut entries = stored_entries(Meta::of(live).managed_fields()).unwrap_or_default();
    if entries.is_empty() && !write.lost_managers {
        entries = begin_tracking(write, empty, live, def);
    }
    let own = entries.iter().position(|entry| is_own(entry, write)).map(|at| entries.remove(at));
    let (last, time) = own.map(|entry| (entry.fields, entry.time)).unwrap_or_default();
    let fields = write.without_reset(fields_of(config, def));
    // The entries may be as large as the rest of the object, and are written anew anyway.
    let mut merged = merge(without_managed_fields(live), config, def);
    // Mostly a configuration lists all fields that the last one listed; then there is nothing to remove.
    if !last.is_subset(&fields) {
        let owned = entries.iter().map(|entry| entry.fields.clone()).chain([fields.clone()]).collect();
        merged = prune(merged, &last, &FieldSet::union_of(owned), def);
    }
    let changes = compare(live, &merged, def);
    let changes = Changes::of(write, changes);
    settle(application, live, &changes, &mut entries, def)?;
    entries.retain(|entry| !entry.fields.is_empty());
    let fields = without_never_owned(fields);
    if !fields.is_empty() {
        entries.push(Entry { time, ..entry_of(write, fields) });
    }
    // A change of ownership alone does not change the object: the time stays.
    if !same_but_owners(live, &merged)
        && let Some(entry) = entries.iter_mut().find(|entry| is_own(entry, write))
    {
        write.time.clone_into(&mut entry.time);
    }
    if write.manager == MIGRATING_MANAGER {
        migrate::refresh_annotation(&mut merged, config);
    }
    store(&mut merged, written(entries));
    Ok(merged)
}

/// The changes of an apply, without the fields that its endpoint does not set.
struct Changes<'t> {
    /// Changed or added fields.
    set: FieldSet<'t>,
    /// Removed fields.
    removed: FieldSet<'t>,
}

impl<'t> Changes<'t> {
    fn of(write: &Write<'_>, comparison: Comparison<'t>) -> Self {
        let Comparison { added, modified, removed } = comparison;
        Changes { set: write.without_reset(added.union(modified)), removed: write.without_reset(removed) }
    }
}

/// Takes the changed fields from the other managers, unless that is a conflict. Removed fields are taken
/// without a conflict.
fn settle(
    application: &Application<'_>,
    live: &Tree,
    changes: &Changes<'_>,
    others: &mut [Entry<'_>],
    def: &'static TypeDef,
) -> Result<(), ApplyError> {
    let write = &application.write;
    let contested: Vec<FieldSet<'_>> =
        others.iter().map(|entry| entry.fields.intersection(&changes.set)).collect();
    if !application.force && contested.iter().any(|fields| !fields.is_empty()) {
        let allowed = (write.manager == MIGRATING_MANAGER)
            .then(|| migrate::taken_over(live, write.api_version, def))
            .flatten()
            .unwrap_or_default();
        let left = contested.iter().map(|fields| fields.clone().difference(&allowed));
        let conflicts = conflicts(others, left);
        if !conflicts.is_empty() {
            return Err(ApplyError::Conflicts(Conflicts(conflicts)));
        }
    }
    for (entry, contested) in others.iter_mut().zip(contested) {
        let fields = std::mem::take(&mut entry.fields);
        entry.fields = fields.difference(&contested).difference(&changes.removed);
    }
    Ok(())
}

/// Conflicts are told until their text has this many bytes. A path repeats the names of all levels above a
/// field, so that all of them could be far larger than the object.
const MAX_CONFLICT_BYTES: usize = 256 * 1024;

/// Sorted by the managers' identifiers.
fn conflicts<'t>(others: &[Entry<'_>], contested: impl Iterator<Item = FieldSet<'t>>) -> Vec<Conflict> {
    let mut by_manager: Vec<(&Entry<'_>, FieldSet<'t>)> = others.iter().zip(contested).collect();
    by_manager.sort_by_cached_key(|(entry, _)| entry.identifier());
    let (mut conflicts, mut bytes) = (Vec::new(), 0);
    for (entry, fields) in by_manager {
        for path in fields.paths() {
            let conflict =
                Conflict { manager: conflict::manager_text(entry), field: conflict::path_text(&path) };
            bytes += conflict.manager.len() + conflict.field.len();
            conflicts.push(conflict);
            if bytes > MAX_CONFLICT_BYTES {
                return conflicts;
            }
        }
    }
    conflicts
}

fn entry_of<'t>(write: &Write<'_>, fields: FieldSet<'t>) -> Entry<'t> {
    Entry {
        manager: write.manager.to_owned(),
        operation: Operation::Apply,
        api_version: write.api_version.to_owned(),
        time: write.time.to_owned(),
        subresource: write.subresource.to_owned(),
        fields,
    }
}

fn is_own(entry: &Entry<'_>, write: &Write<'_>) -> bool {
    entry.operation == Operation::Apply
        && entry.manager == write.manager
        && entry.subresource == write.subresource
}
