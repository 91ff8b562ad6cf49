//! The stage **place**: sets the metadata that the server owns, and checks names and versions, on create and
//! on update.

use orch_machinery::meta::{Meta, MetaMut, field};
use orch_meta::meta::v1::ObjectMeta;
use orch_runtime::{
    Tree,
    field_error::{FieldError, Rendered, Validation},
    object::Validate as _,
    path::Path,
    resource_def::{ResourceDef, Scope},
    scalar::Time,
    tree_reader,
};

use super::{
    attempt::Attempt,
    draft::{Ownership, Placed, Proposed},
    names,
    prepare::typed,
    races::MODIFIED,
};
use crate::{
    error::{ApiError, Result},
    objects::Current,
    read::version::fault_of,
    request::Target,
};

/// Fields that the server alone writes; whatever a client sends in them on create is dropped.
const SERVER_OWNED: &[&str] = &[
    field::SELF_LINK,
    field::UID,
    field::CREATION_TIMESTAMP,
    field::DELETION_TIMESTAMP,
    field::DELETION_GRACE_PERIOD_SECONDS,
    field::MANAGED_FIELDS,
    field::RESOURCE_VERSION,
];

/// Fields that an update takes over from the stored object, whatever the client sends.
const KEPT_ON_UPDATE: &[&str] = &[field::CREATION_TIMESTAMP, field::GENERATION];

/// Fields that an update takes over where the client leaves them out or empty, as typed clients do with a
/// uid that they do not know. Changing them is refused.
const FILLED_ON_UPDATE: &[&str] = &[field::UID, field::DELETION_GRACE_PERIOD_SECONDS];

/// Sets the metadata that the server owns, and reports violations of the rules for names and metadata.
///
/// # Errors
/// 400 where the object names another namespace, 409 for an outdated version, 422 where the kind needs one
/// and there is none.
pub fn place(attempt: Attempt<'_>, mut proposed: Proposed) -> Result<Placed<'_>> {
    match proposed.current.take() {
        None => place_new(attempt, proposed),
        Some(current) => place_changed(attempt, proposed, current),
    }
}

fn place_new(attempt: Attempt<'_>, mut proposed: Proposed) -> Result<Placed<'_>> {
    let Attempt { cx, target, .. } = attempt;
    let resource = target.resource;
    let tree = &mut proposed.tree;
    put_into_namespace(target, tree)?;
    if resource.def.has_status()
        && !resource.behaviour.keeps_sent_status()
        && let Some(fields) = tree.as_object_mut()
    {
        read_dropped(target, "status", fields.remove("status"))?;
    }
    let sent_version = sent_version(tree).unwrap_or_default();
    let generate_name = Meta::of(tree).generate_name().to_owned();
    let is_generated = begin(resource.def, &generate_name, tree, cx.core.now());
    let mut violations = Validation::new(cx.core.vocabulary());
    names::validate(resource.def, tree, &mut violations);
    let name = Meta::of(tree).name().to_owned();
    Ok(Placed { proposed, name, generate_name, is_generated, sent_version, violations })
}

fn place_changed(attempt: Attempt<'_>, mut proposed: Proposed, current: Current) -> Result<Placed<'_>> {
    let target = attempt.target;
    let tree = &mut proposed.tree;
    restrict(target, &current.tree, tree)?;
    check_version(attempt, &current, tree)?;
    let managed_fields = carry_over(&current.tree, tree);
    if let Ownership::Tracked { sent } = &mut proposed.ownership {
        *sent = managed_fields;
    }
    let mut violations = Validation::new(attempt.cx.core.vocabulary());
    validate_update(&current.tree, tree, &mut violations)?;
    let generate_name = Meta::of(tree).generate_name().to_owned();
    proposed.current = Some(current);
    let name = target.name.to_string();
    Ok(Placed { proposed, name, generate_name, is_generated: false, sent_version: 0, violations })
}

/// Gives a new object its identity: uid, creation time, first generation, and a generated name where it has
/// none. Returns whether the name was generated.
fn begin(def: &ResourceDef, generate_name: &str, tree: &mut Tree, now: Time) -> bool {
    let generated = Meta::of(tree).name().is_empty() && !generate_name.is_empty();
    let mut metadata = MetaMut::of(tree);
    for field in SERVER_OWNED {
        metadata.remove(field);
    }
    metadata.set_uid(&uuid::Uuid::new_v4().to_string());
    metadata.set_creation_timestamp(now);
    if def.counts_generation {
        metadata.set_generation(1);
    }
    if generated {
        metadata.set_name(&names::generated_name(generate_name));
    }
    generated
}

/// Drops what only the server writes, from an object that is answered and not stored. A version stays, for
/// rules to refuse.
pub fn forget_system_fields(tree: &mut Tree) {
    let mut metadata = MetaMut::of(tree);
    for field in SERVER_OWNED.iter().filter(|field| **field != field::RESOURCE_VERSION) {
        metadata.remove(field);
    }
}

/// Puts the object into the namespace of the URL.
///
/// # Errors
/// 400 where the body names another one. In an object of a cluster-scoped kind it is dropped.
pub fn put_into_namespace(target: &Target<'_>, tree: &mut Tree) -> Result<()> {
    match target.resource.def.scope {
        Scope::Cluster => {
            MetaMut::of(tree).set_namespace("");
        }
        Scope::Namespaced => {
            let given = Meta::of(tree).namespace();
            if !given.is_empty() && given != target.namespace {
                return Err(ApiError::BadRequest(
                    "the namespace of the provided object does not match the namespace sent on the request"
                        .to_owned(),
                ));
            }
            MetaMut::of(tree).set_namespace(&target.namespace);
        }
    }
    Ok(())
}

/// The version that a client sent in an object. No version is 0.
///
/// # Errors
/// 500 without a reason where it is not a number, as the reference answers.
pub fn sent_version(tree: &Tree) -> Result<u64> {
    let version = Meta::of(tree).resource_version();
    if version.is_empty() {
        return Ok(0);
    }
    version.parse().map_err(|_| ApiError::Unclassified(fault_of(version)))
}

/// A version that a client sends must be that of the current object.
///
/// # Errors
/// 409 where it is another one, 422 where the kind needs one and there is none.
fn check_version(attempt: Attempt<'_>, current: &Current, proposed: &Tree) -> Result<()> {
    let Attempt { cx, target, .. } = attempt;
    let resource = target.resource;
    let wanted = sent_version(proposed)?;
    if wanted == 0 {
        if resource.def.unconditional_update {
            return Ok(());
        }
        let mut violations = Validation::new(cx.core.vocabulary());
        let metadata = Path::ROOT.field("metadata");
        let detail = "must be specified for an update";
        // The reference shows unsigned numbers as its language writes them.
        let none = Rendered("0x0".to_owned());
        violations.push(FieldError::invalid(&metadata.field("resourceVersion"), &none, detail));
        // The reference names the resource here, not the kind.
        return Err(ApiError::Invalid {
            group: resource.group.clone(),
            kind: resource.def.plural.to_owned(),
            name: target.name.to_string(),
            errors: violations.into_errors(),
        });
    }
    if wanted == current.revision().get() {
        return Ok(());
    }
    Err(ApiError::conflict(resource, &target.name, MODIFIED))
}

/// Keeps the stored values of what this path does not write: the main path keeps the status, `/status` keeps
/// everything else but metadata. Which metadata is kept, the kind's behaviour says.
///
/// # Errors
/// 400 where what is not kept does not fit its type.
fn restrict(target: &Target<'_>, current: &Tree, proposed: &mut Tree) -> Result<()> {
    let def = target.resource.def;
    let subresource = target.subresource_name();
    for path in target.resource.behaviour.kept_metadata(subresource) {
        let Some(name) = path.last() else { continue };
        MetaMut::of(proposed).set(name, Meta::of(current).get(name).cloned());
    }
    if !def.has_status() && subresource.is_empty() {
        return Ok(());
    }
    let Some(fields) = proposed.as_object_mut() else { return Ok(()) };
    for field in def.type_def.fields.iter().map(|field| field.name).filter(|name| *name != "metadata") {
        let is_sent = (field == "status") == (subresource == "status");
        if is_sent {
            continue;
        }
        let kept = current.get(field);
        let dropped = match kept {
            Some(value) => fields.insert(field.to_owned(), value.clone()),
            None => fields.remove(field),
        };
        if kept != dropped.as_ref() {
            read_dropped(target, field, dropped)?;
        }
    }
    Ok(())
}

/// Reads a field of which nothing is kept: an object that does not fit its type is refused as a whole.
///
/// # Errors
/// 400 where it does not fit its type.
fn read_dropped(target: &Target<'_>, field: &str, value: Option<Tree>) -> Result<()> {
    let Some(value @ Tree::Object(_)) = value else { return Ok(()) };
    let alone = Tree::Object([(field.to_owned(), value)].into_iter().collect());
    typed(target.resource, alone).map(drop)
}

/// Takes over from the stored object what an update cannot change. Removes and returns the managed fields
/// that the client sent: the stage **own** treats them.
fn carry_over(current: &Tree, proposed: &mut Tree) -> Option<Tree> {
    let old = Meta::of(current);
    let mut new = MetaMut::of(proposed);
    new.remove(field::SELF_LINK);
    let managed_fields = new.remove(field::MANAGED_FIELDS);
    for field in FILLED_ON_UPDATE {
        if new.read().get(field).is_none_or(is_empty) {
            new.set(field, old.get(field).cloned());
        }
    }
    // Only a DELETE sets the time of deletion.
    if let Some(value) = old.get(field::DELETION_TIMESTAMP) {
        new.set(field::DELETION_TIMESTAMP, Some(value.clone()));
    }
    for field in KEPT_ON_UPDATE {
        new.set(field, old.get(field).cloned());
    }
    new.set_resource_version(old.resource_version());
    managed_fields
}

/// No value, as clients write it that send every field.
fn is_empty(value: &Tree) -> bool {
    value.is_null() || value.as_str() == Some("")
}

/// Marks an object as being deleted: its deletion time is `grace` seconds from now, and it gets a new
/// generation where generations are counted.
pub fn mark_deleted(tree: &mut Tree, now: Time, grace: i64) {
    let ends = Time::from_unix_seconds(now.as_unix_seconds().saturating_add(grace));
    let mut metadata = MetaMut::of(tree);
    metadata.set_deletion(ends, grace);
    let generation = metadata.read().generation();
    if generation > 0 {
        metadata.set_generation(generation.saturating_add(1));
    }
}

/// Reports forbidden changes of metadata. How often each is told is the business of the stage **validate**.
///
/// # Errors
/// 400 where the metadata cannot be read.
fn validate_update(current: &Tree, proposed: &Tree, violations: &mut Validation<'_>) -> Result<()> {
    let read = |tree: &Tree| {
        // No rule is about managed fields, which are often the larger part.
        let fields = tree.get("metadata").and_then(Tree::as_object).into_iter().flatten();
        let fields = fields.filter(|(name, _)| *name != "managedFields");
        let metadata: Tree = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
        tree_reader::read::<ObjectMeta>(metadata)
            .map_err(|error| ApiError::BadRequest(format!("the metadata cannot be read: {error}")))
    };
    let (new, old) = (read(proposed)?, read(current)?);
    new.validate_update(&old, &Path::ROOT.field("metadata"), violations);
    Ok(())
}

/// Checks that the times in metadata are times. The server sets these fields itself, so no other code parses
/// what a client sends.
///
/// # Errors
/// Why a text is not a time.
pub fn check_times(tree: &Tree) -> Result<(), String> {
    let metadata = Meta::of(tree);
    let own = ["creationTimestamp", "deletionTimestamp"].map(|name| metadata.get(name));
    let entries = metadata.managed_fields().iter().map(|entry| entry.get("time"));
    for text in own.into_iter().chain(entries).flatten().filter_map(Tree::as_str) {
        text.parse::<Time>().map_err(|error| error.to_string())?;
    }
    Ok(())
}
