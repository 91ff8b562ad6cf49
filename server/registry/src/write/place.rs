//! The stage **place**: the part of an object's metadata that the server owns, on create and on update.

use orch_machinery::meta::{Meta, MetaMut, field};
use orch_meta::{meta::v1::ObjectMeta, validators::object_meta_update};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Shown as _, Validation},
    path::Path,
    resource_def::{ResourceDef, Scope},
    scalar::Time,
};

use super::{
    Attempt,
    draft::{Ownership, Placed, Proposed},
    names,
    races::MODIFIED,
};
use crate::{
    error::{ApiError, Result},
    objects::Current,
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

/// Fields that an update takes over where the client leaves them out; changing them is against the rules.
const FILLED_ON_UPDATE: &[&str] = &[field::UID, field::DELETION_GRACE_PERIOD_SECONDS];

/// Puts the server's metadata in place, and reports what is wrong with names and metadata.
///
/// # Errors
/// 400 where the object names another namespace, 409 and 422 for a version that does not fit.
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
        fields.remove("status");
    }
    let sent_version = sent_version(tree).unwrap_or_default();
    let base = Meta::of(tree).generate_name().to_owned();
    let is_generated = begin(resource.def, &base, tree, cx.core.now());
    let mut violations = Validation::new(cx.core.vocabulary());
    names::validate(resource.def, tree, &mut violations);
    let name = Meta::of(tree).name().to_owned();
    Ok(Placed { proposed, name, base, is_generated, sent_version, violations })
}

fn place_changed(attempt: Attempt<'_>, mut proposed: Proposed, current: Current) -> Result<Placed<'_>> {
    let target = attempt.target;
    let tree = &mut proposed.tree;
    check_version(attempt, &current, tree)?;
    restrict(target, &current.tree, tree);
    let managed_fields = carry_over(&current.tree, tree);
    if let Ownership::Tracked { sent } = &mut proposed.ownership {
        *sent = managed_fields;
    }
    let mut violations = Validation::new(attempt.cx.core.vocabulary());
    validate_update(&current.tree, tree, &mut violations)?;
    proposed.current = Some(current);
    let name = target.name.to_string();
    Ok(Placed { proposed, name, base: String::new(), is_generated: false, sent_version: 0, violations })
}

/// Gives a new object its identity: uid, creation time, first generation, and a name where one is to be generated.
/// Returns whether the name was generated.
fn begin(def: &ResourceDef, base: &str, tree: &mut Tree, now: Time) -> bool {
    let generated = Meta::of(tree).name().is_empty() && !base.is_empty();
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
        metadata.set_name(&names::generated_name(base));
    }
    generated
}

/// Puts the object into the namespace of the URL.
///
/// # Errors
/// 400 where the body names another one. A namespace on a cluster-scoped kind is dropped.
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

/// The version that a client relies on; none and zero are 0.
///
/// # Errors
/// 500 without a reason for what is no number, as the reference answers.
pub fn sent_version(tree: &Tree) -> Result<u64> {
    let version = Meta::of(tree).resource_version();
    if version.is_empty() {
        return Ok(0);
    }
    version.parse().map_err(|_| {
        ApiError::Unclassified(format!("strconv.ParseUint: parsing {}: invalid syntax", version.shown()))
    })
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
        violations.push(FieldError::invalid(&metadata.field("resourceVersion"), &0_i32, detail));
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

/// The main path leaves the status alone, and `/status` leaves everything else alone; of metadata, what the kind says.
fn restrict(target: &Target<'_>, current: &Tree, proposed: &mut Tree) {
    let def = target.resource.def;
    let subresource = target.subresource_name();
    for path in target.resource.behaviour.kept_metadata(subresource) {
        let Some(name) = path.last() else { continue };
        MetaMut::of(proposed).set(name, Meta::of(current).get(name).cloned());
    }
    if !def.has_status() && subresource.is_empty() {
        return;
    }
    let Some(fields) = proposed.as_object_mut() else { return };
    for field in def.type_def.fields.iter().map(|field| field.name).filter(|name| *name != "metadata") {
        let is_sent = (field == "status") == (subresource == "status");
        if is_sent {
            continue;
        }
        match current.get(field) {
            Some(value) => drop(fields.insert(field.to_owned(), value.clone())),
            None => drop(fields.remove(field)),
        }
    }
}

/// Takes over from the stored object what an update cannot change. Takes out what the client sent as managed fields,
/// which have rules of their own.
fn carry_over(current: &Tree, proposed: &mut Tree) -> Option<Tree> {
    let old = Meta::of(current);
    let mut new = MetaMut::of(proposed);
    new.remove(field::SELF_LINK);
    let managed_fields = new.remove(field::MANAGED_FIELDS);
    for field in FILLED_ON_UPDATE {
        if let (None, Some(value)) = (new.read().get(field), old.get(field)) {
            new.set(field, Some(value.clone()));
        }
    }
    // When an object goes can be said once, and only by deleting it.
    if let Some(value) = old.get(field::DELETION_TIMESTAMP) {
        new.set(field::DELETION_TIMESTAMP, Some(value.clone()));
    }
    for field in KEPT_ON_UPDATE {
        new.set(field, old.get(field).cloned());
    }
    new.set_resource_version(old.resource_version());
    managed_fields
}

/// Marks an object as being deleted: when it goes, which is `grace` seconds from now, and one more generation where
/// generations are counted.
pub fn mark_deleted(tree: &mut Tree, now: Time, grace: i64) {
    let ends = Time::from_unix_seconds(now.as_unix_seconds().saturating_add(grace));
    let mut metadata = MetaMut::of(tree);
    metadata.set_deletion(ends, grace);
    let generation = metadata.read().generation();
    if generation > 0 {
        metadata.set_generation(generation + 1);
    }
}

/// Reports what an update changes in metadata against the rules: once for all kinds and once as a part of the kind's
/// own rules, because the reference does and its clients get each cause twice.
///
/// # Errors
/// 400 where the metadata is none.
fn validate_update(current: &Tree, proposed: &Tree, violations: &mut Validation<'_>) -> Result<()> {
    let read = |tree: &Tree| {
        // Neither is about who owns what, which is often the larger part.
        let fields = tree.get("metadata").and_then(Tree::as_object).into_iter().flatten();
        let fields = fields.filter(|(name, _)| *name != "managedFields");
        let metadata: Tree = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
        serde_json::from_value::<ObjectMeta>(metadata)
            .map_err(|error| ApiError::BadRequest(format!("the metadata cannot be read: {error}")))
    };
    let (new, old) = (read(proposed)?, read(current)?);
    for _ in 0..2 {
        object_meta_update(&new, &old, &Path::ROOT.field("metadata"), violations);
    }
    Ok(())
}

/// Whether the times that a client sends are times. The server sets these fields itself, so that nobody else reads them.
///
/// # Errors
/// Why one is none.
pub fn check_times(tree: &Tree) -> Result<(), String> {
    let metadata = Meta::of(tree);
    let own = ["creationTimestamp", "deletionTimestamp"].map(|name| metadata.get(name));
    let entries = metadata.managed_fields().iter().map(|entry| entry.get("time"));
    for text in own.into_iter().chain(entries).flatten().filter_map(Tree::as_str) {
        text.parse::<Time>().map_err(|error| error.to_string())?;
    }
    Ok(())
}
