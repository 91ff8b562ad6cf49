//! The stage **own**: the object becomes a tree again, with `metadata.managedFields` that record which
//! manager owns which field.

use std::time::Instant;

use orch_machinery::{
    managed_fields::{self, Write},
    meta::{self, Meta, MetaMut},
    nullable,
};
use orch_runtime::{Tree, object::ApiObject, resource_def::FieldPath};

use super::{
    attempt::Attempt,
    draft::{Draft, Owned, Ownership},
};
use crate::{
    behaviour::Overruled,
    catalog::ServedResource,
    conversion::{self, LostManagers, name_owners_there},
    error::{ApiError, Result},
    objects::Current,
    stored,
};

/// Turns the draft into a complete tree, counts its generation, records its owners, and gives the warnings of
/// validation.
///
/// # Errors
/// 500 where it has no structural form.
pub fn own(attempt: Attempt<'_>, draft: Draft<'_>) -> Result<Owned> {
    let Draft { object, old: _, mut placed, unowned, before_additions, overruled, conditions } = draft;
    let resource = attempt.target.resource;
    let mut tree = tree_of(resource, &*object)?;
    let warnings = placed.violations.take_warnings();
    let ownership = placed.proposed.ownership;
    let may_shrink = matches!(ownership, Ownership::Tracked { .. });
    let (current, owners, differs) = match placed.proposed.current {
        None => {
            attempt.cx.warn_all(warnings);
            (None, own_new(attempt, ownership, &unowned, before_additions.as_ref(), &mut tree)?, true)
        }
        Some(mut current) => {
            count_generation(resource, &current.tree, &mut tree);
            if hears_warnings(attempt, &current, &tree) {
                attempt.cx.warn_all(warnings);
            }
            // Managers that were dropped are still stored, so this write changes what is stored.
            let asked = Asked { unowned: &unowned, before_additions, overruled };
            let owners_differ = own_changed(attempt, ownership, asked, &mut current, &mut tree)
                || current.lost_managers != LostManagers::None;
            nullable::empty_to_null(&mut tree, resource.def.type_def);
            let began = Instant::now();
            let differs = owners_differ || !managed_fields::same_but_owners(&current.tree, &tree);
            if let Some(meter) = attempt.cx.core.meter() {
                meter.compared(differs, began.elapsed());
            }
            (Some(current), None, differs)
        }
    };
    if conversion::has_other_owners(resource, &mut tree) {
        let before = match &current {
            Some(current) => managed_fields::take_entries(&mut stored::tree_of(resource, &current.object)?),
            None => Vec::new(),
        };
        name_owners_there(resource, &before, &mut tree);
    }
    Ok(Owned {
        tree,
        owners,
        current,
        differs,
        may_shrink,
        generate_name: placed.generate_name,
        is_generated: placed.is_generated,
        sent_version: placed.sent_version,
        conditions,
    })
}

/// An object of the stored version in the version that the client speaks.
///
/// # Errors
/// 500 where it has no structural form.
pub fn tree_of(resource: &ServedResource, object: &dyn ApiObject) -> Result<Tree> {
    let mut tree =
        object.to_tree().map_err(|error| ApiError::internal("the object cannot be written", error))?;
    match resource.storage_version() {
        None => meta::set_type(&mut tree, resource.def.kind, &resource.api_version),
        Some(stored) => {
            tree = conversion::convert(stored.def, resource, tree)
                .map_err(|error| ApiError::internal("the object cannot be converted", error))?;
        }
    }
    Ok(tree)
}

/// Records the owners of a new object's fields. Returns them as JSON text where they are not put into the
/// tree.
fn own_new(
    attempt: Attempt<'_>,
    ownership: Ownership,
    unowned: &[FieldPath],
    before_additions: Option<&Tree>,
    tree: &mut Tree,
) -> Result<Option<String>> {
    let resource = attempt.target.resource;
    let owners = match ownership {
        Ownership::Tracked { .. } => {
            let time = attempt.cx.core.now().to_string();
            let write = record(attempt, &time, unowned);
            let owned = before_additions.unwrap_or(tree);
            Some(managed_fields::owners_of_new(&write, empty_object(resource)?, owned, resource.def.type_def))
        }
        Ownership::Applied { entries } => {
            MetaMut::of(tree).set_managed_fields(entries);
            None
        }
    };
    nullable::empty_to_null(tree, resource.def.type_def);
    Ok(owners)
}

/// What differs, for ownership, between a changed object and what the client asked for.
struct Asked<'a> {
    unowned: &'a [FieldPath],
    before_additions: Option<Tree>,
    overruled: Vec<Overruled>,
}

/// Takes the managed fields out of the current object and puts the updated ones into the new one. Returns
/// whether they differ in more than times.
fn own_changed(
    attempt: Attempt<'_>,
    ownership: Ownership,
    asked: Asked<'_>,
    current: &mut Current,
    tree: &mut Tree,
) -> bool {
    if attempt.target.resource.behaviour.keeps_owners(attempt.target.subresource_name()) {
        MetaMut::of(tree).set_managed_fields(managed_fields::take_entries(&mut current.tree));
        return false;
    }
    match ownership {
        Ownership::Tracked { sent } => {
            let time = attempt.cx.core.now().to_string();
            let lost_managers = current.lost_managers == LostManagers::All;
            let Asked { unowned, before_additions, overruled } = asked;
            let write = Write { lost_managers, ..record(attempt, &time, unowned) };
            let def = attempt.target.resource.def.type_def;
            let Some(mut copy) = before_additions else {
                let kept = put_all(tree, overruled);
                let differ =
                    managed_fields::track_update(&write, &mut current.tree, sent.as_ref(), tree, def);
                put_all(tree, kept);
                return differ;
            };
            put_all(&mut copy, overruled);
            let differ =
                managed_fields::track_update(&write, &mut current.tree, sent.as_ref(), &mut copy, def);
            MetaMut::of(tree).set_managed_fields(managed_fields::take_entries(&mut copy));
            differ
        }
        Ownership::Applied { entries } => {
            let stored = managed_fields::take_entries(&mut current.tree);
            MetaMut::of(tree).set_managed_fields(entries);
            managed_fields::owners_differ(&stored, Meta::of(tree).managed_fields())
        }
    }
}

/// Puts values into fields, and returns what was there. A field of an object that is not there stays absent.
fn put_all(tree: &mut Tree, fields: Vec<Overruled>) -> Vec<Overruled> {
    fields.into_iter().map(|(path, value)| (path, put(tree, path, value))).collect()
}

fn put(tree: &mut Tree, path: FieldPath, value: Option<Tree>) -> Option<Tree> {
    let (name, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(tree, |tree, name| tree.get_mut(name))?.as_object_mut()?;
    match value {
        Some(value) => parent.insert((*name).to_owned(), value),
        None => parent.remove(*name),
    }
}

/// Whether a client that changes an object gets the warnings of validation: only for writes of the main path
/// of kinds that warn then, and where generations are counted, only for writes that begin a new one.
fn hears_warnings(attempt: Attempt<'_>, current: &Current, new: &Tree) -> bool {
    let (target, resource) = (attempt.target, attempt.target.resource);
    let begins = Meta::of(new).generation() != Meta::of(&current.tree).generation();
    target.subresource.is_none()
        && resource.behaviour.warns_of_change(new, &current.tree)
        && (begins || !resource.def.counts_generation)
}

/// The object of a kind with nothing set.
///
/// # Errors
/// 500 where the kind cannot be built from nothing.
pub fn empty_object(resource: &ServedResource) -> Result<&Tree> {
    resource.empty_object().map_err(|error| ApiError::internal("the kind cannot be empty", error))
}

/// What managed fields record about a write. `reset` are the fields that it does not own.
pub fn record<'a>(attempt: Attempt<'a>, time: &'a str, reset: &'a [FieldPath]) -> Write<'a> {
    Write {
        manager: &attempt.options.field_manager,
        api_version: &attempt.target.resource.api_version,
        subresource: attempt.target.subresource_name(),
        time,
        reset,
        lost_managers: false,
    }
}

/// The fields that a write on this path does not own: those that the server sets, and those of
/// [`reset_fields`].
pub fn unowned_fields(attempt: Attempt<'_>) -> Vec<FieldPath> {
    let behaviour = &attempt.target.resource.behaviour;
    [behaviour.server_fields(attempt.target.subresource_name()), &reset_fields(attempt)].concat()
}

/// The fields that a write on this path leaves as they are, whatever the client sends.
pub fn reset_fields(attempt: Attempt<'_>) -> Vec<FieldPath> {
    let (resource, subresource) = (attempt.target.resource, attempt.target.subresource_name());
    let other: &[FieldPath] = match subresource {
        "status" => &[&["spec"]],
        _ if resource.def.has_status() => &[&["status"]],
        _ => &[],
    };
    [other, resource.behaviour.kept_metadata(subresource)].concat()
}

/// Counts the generation up where anything but metadata and status changes. Both trees have their defaults,
/// so a field that a client leaves to its default is no change.
fn count_generation(resource: &ServedResource, current: &Tree, new: &mut Tree) {
    if resource.def.counts_generation && differs_in_substance(current, new) {
        let next = Meta::of(current).generation().saturating_add(1);
        MetaMut::of(new).set_generation(next);
    }
}

/// Whether anything but metadata and status differs.
fn differs_in_substance(current: &Tree, new: &Tree) -> bool {
    const BESIDES: [&str; 4] = ["metadata", "status", "kind", "apiVersion"];
    let fields = |tree: &Tree| {
        let fields = tree.as_object().into_iter().flatten();
        fields
            .map(|(name, _)| name.clone())
            .filter(|name| !BESIDES.contains(&name.as_str()))
            .collect::<Vec<_>>()
    };
    let mut names = fields(current).into_iter().chain(fields(new));
    names.any(|name| !is_same(current.get(&name), new.get(&name)))
}

/// Whether two values are the same. Null counts as absent.
fn is_same(one: Option<&Tree>, other: Option<&Tree>) -> bool {
    match (one.filter(|value| !value.is_null()), other.filter(|value| !value.is_null())) {
        (Some(Tree::Object(one)), Some(Tree::Object(other))) => {
            one.keys().chain(other.keys()).all(|name| is_same(one.get(name), other.get(name)))
        }
        (Some(Tree::Array(one)), Some(Tree::Array(other))) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(Some(one), Some(other)))
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::differs_in_substance;

    #[test]
    fn metadata_status_and_nulls_are_no_substance() {
        let spec = json!({"a": [{"b": 1, "c": null}]});
        let old = json!({"kind": "K", "metadata": {"uid": "1"}, "spec": spec, "status": {}});
        for (new, expected) in [
            (json!({"metadata": {}, "spec": {"a": [{"b": 1}]}, "status": {"x": 1}}), false),
            (json!({"spec": {"a": [{"b": 1}], "d": null}}), false),
            (json!({"spec": {"a": [{"b": 2}]}}), true),
            (json!({"spec": {"a": []}}), true),
            (json!({"spec": {"a": [{"b": 1}]}, "more": 1}), true),
            (json!({}), true),
        ] {
            assert_eq!(differs_in_substance(&old, &new), expected, "{new}");
        }
    }
}
