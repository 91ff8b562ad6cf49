//! DELETE of an item: at once, or after its finalizers.

use std::sync::Arc;

use orch_machinery::meta::{Meta, MetaMut};
use orch_meta::meta::v1::{Status, StatusDetails};
use orch_runtime::Tree;
use orch_storage::{Change, Object};

use super::unsafe_delete;
use crate::{
    answer::{Answer, Outcome},
    context::RequestContext,
    conversion,
    error::{ApiError, ResourceName, Result},
    objects::{Current, key},
    options::{DeletionOptions, Propagation},
    request::{DeleteRequest, Target},
    store_error::Refused,
    stored,
    write::{
        commit::commit,
        grace::{self, Grace},
        place, plugins,
        races::Races,
    },
};

/// Finalizers by which a DELETE asks the garbage collector to act before the object is removed.
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What became of a deleted object.
pub enum Deleted {
    /// It is gone.
    Removed {
        /// Its last state.
        tree: Tree,
        /// What the store has of it; `None` for a dry run.
        object: Option<Arc<Object>>,
    },
    /// It stays until its finalizers are gone.
    Terminating(Answer),
}

impl Deleted {
    /// It is as it was.
    fn unchanged(current: &Current) -> Self {
        Deleted::Terminating(Answer::Object(current.object.clone()))
    }
}

/// Deletes an object.
///
/// # Errors
/// 403 for objects that the server needs, 404, 409 for preconditions.
pub async fn delete(cx: &RequestContext<'_>, request: &DeleteRequest<'_>) -> Result<Answer> {
    let DeleteRequest { target, options } = request;
    if let Some(why) = target.resource.behaviour.why_undeletable(&target.name) {
        return Err(ApiError::not_admitted(target.resource, &target.name, why));
    }
    if options.ignores_read_errors {
        unsafe_delete::authorize(cx, target).await?;
    }
    let deleted = match delete_object(cx, target, options).await {
        Err(error) if options.ignores_read_errors => {
            return unsafe_delete::remove_unreadable(cx, target).await?.ok_or(error);
        }
        deleted => deleted?,
    };
    let resource = target.resource;
    Ok(match deleted {
        Deleted::Terminating(Answer::Object(object)) if options.expects_removal => Answer::Accepted(object),
        Deleted::Terminating(Answer::Transient { json, .. }) if options.expects_removal => {
            Answer::Transient { json, outcome: Outcome::Accepted }
        }
        Deleted::Terminating(answer) => answer,
        Deleted::Removed { tree, object } if resource.def.delete_returns_object => match object {
            Some(object) => Answer::Object(object),
            None => shown(target, &tree)?,
        },
        Deleted::Removed { tree, .. } => {
            let meta = Meta::of(&tree);
            let details = StatusDetails {
                name: meta.name().to_owned(),
                group: resource.group.clone(),
                kind: resource.def.plural.to_owned(),
                uid: meta.uid().to_owned(),
                ..StatusDetails::default()
            };
            let status = Status { status: "Success".to_owned(), details: Some(details), ..Status::default() };
            Answer::Status(Box::new(status))
        }
    })
}

/// A state that is not in the store, in the version that the client speaks. Deletions work in the stored one.
fn shown(target: &Target<'_>, tree: &Tree) -> Result<Answer> {
    let resource = target.resource;
    let converted = resource.storage_version().map(|stored| {
        let converted = conversion::convert(stored.def, resource, tree.clone());
        converted.map_err(|error| ApiError::internal("the object cannot be converted", error))
    });
    let converted = converted.transpose()?;
    let json = stored::transient(resource.def.type_def, converted.as_ref().unwrap_or(tree), None);
    Ok(Answer::Transient { json, outcome: Outcome::Done })
}

/// Deletes one object; runs again when another write came first.
///
/// # Errors
/// As [`delete`].
pub async fn delete_object(
    cx: &RequestContext<'_>,
    target: &Target<'_>,
    options: &DeletionOptions,
) -> Result<Deleted> {
    let in_storage_version = target.in_storage_version();
    let ruled = in_storage_version.as_ref().unwrap_or(target);
    plugins::begin_deletion(cx, ruled, options.dry_run).await?;
    let mut races = Races::at(target);
    loop {
        let current = cx.core.objects().find(ruled.resource, &target.namespace, &target.name)?;
        check_preconditions(target, &current, options)?;
        plugins::validate_deletion(cx, ruled, options.dry_run, &current.tree).await?;
        match delete_current(cx, target, ruled, &current, options).await {
            Err(Refused::Race | Refused::Exists) => races.lost().await?,
            Err(Refused::Error(error)) => return Err(error),
            Ok(deleted) => return Ok(deleted),
        }
    }
}

/// One attempt, from the object as it is now, in the version of `ruled`.
async fn delete_current(
    cx: &RequestContext<'_>,
    target: &Target<'_>,
    ruled: &Target<'_>,
    current: &Current,
    options: &DeletionOptions,
) -> Result<Deleted, Refused> {
    let behaviour = &*ruled.resource.behaviour;
    let mut tree = current.tree.clone();
    let in_steps = behaviour.is_deleted_in_steps();
    if in_steps && Meta::of(&tree).deletion_timestamp().is_some() && !behaviour.may_be_removed(&tree) {
        return Ok(Deleted::unchanged(current));
    }
    let allowed = behaviour.grace_period(&tree, options.grace_period);
    let grace = grace::begin(&mut tree, options.grace_period, allowed, cx.core.now());
    if grace == Grace::Pending {
        return Ok(Deleted::unchanged(current));
    }
    // As in the reference, `orphanDependents: false` means more for a namespace than for other kinds.
    let waits = in_steps && options.expects_removal;
    set_propagation_finalizers(
        &mut tree,
        if waits { Some(Propagation::Foreground) } else { options.propagation },
    );
    let has_finalizers = Meta::of(&tree).finalizers().next().is_some();
    let stays = has_finalizers || matches!(grace, Grace::Of(1..)) || !behaviour.may_be_removed(&tree);
    if stays {
        retire(cx, target, ruled, current, options, tree).await
    } else {
        remove(cx, ruled, current, options, tree, grace).await
    }
}

/// Removes the object, which is `tree` now.
async fn remove(
    cx: &RequestContext<'_>,
    ruled: &Target<'_>,
    current: &Current,
    options: &DeletionOptions,
    mut tree: Tree,
    grace: Grace,
) -> Result<Deleted, Refused> {
    let resource = ruled.resource;
    if options.dry_run {
        return Ok(Deleted::Removed { tree, object: None });
    }
    if grace != Grace::Of(0) {
        // Its last state is the one that was stored: finalizers that this DELETE takes away go with it.
        tree.clone_from(&current.tree);
    }
    let body = stored::encode_body(resource, &tree, None, true)?;
    let key = key(resource, &ruled.namespace, &ruled.name);
    let mut expected = current.revision();
    if grace == Grace::Of(0) {
        // Watchers of kinds with a grace period see the object marked as deleted before it is removed.
        let retired = Change::Retire { key: key.clone(), expected, body: body.clone() };
        expected = commit(cx, resource, retired).await?.revision();
    }
    let object = commit(cx, resource, Change::Remove { key, expected, body }).await?;
    Ok(Deleted::Removed { tree, object: Some(object) })
}

/// Marks the object, which is `tree` now, as being deleted; it stays until later.
async fn retire(
    cx: &RequestContext<'_>,
    target: &Target<'_>,
    ruled: &Target<'_>,
    current: &Current,
    options: &DeletionOptions,
    mut tree: Tree,
) -> Result<Deleted, Refused> {
    let resource = ruled.resource;
    if Meta::of(&tree).deletion_timestamp().is_none() {
        place::mark_deleted(&mut tree, cx.core.now(), 0);
        resource.behaviour.mark_deleted(&mut tree);
    }
    if options.dry_run {
        return Ok(Deleted::Terminating(shown(target, &tree)?));
    }
    if tree == current.tree {
        return Ok(Deleted::unchanged(current));
    }
    let body = stored::encode_body(resource, &tree, None, true)?;
    let key = key(resource, &ruled.namespace, &ruled.name);
    let retired = Change::Retire { key, expected: current.revision(), body };
    let object = commit(cx, resource, retired).await?;
    Ok(Deleted::Terminating(Answer::Object(object)))
}

/// The policy of a DELETE decides which of the collector's finalizers the object carries. A client that does
/// not choose leaves them as they are.
fn set_propagation_finalizers(tree: &mut Tree, propagation: Option<Propagation>) {
    let Some(propagation) = propagation else { return };
    let wanted = match propagation {
        Propagation::Orphan => Some(ORPHAN),
        Propagation::Foreground => Some(FOREGROUND),
        Propagation::Background => None,
    };
    let mut finalizers: Vec<String> = Meta::of(tree)
        .finalizers()
        .filter(|name| (*name != ORPHAN && *name != FOREGROUND) || Some(*name) == wanted)
        .map(str::to_owned)
        .collect();
    if let Some(wanted) = wanted
        && !finalizers.iter().any(|name| name == wanted)
    {
        finalizers.push(wanted.to_owned());
    }
    MetaMut::of(tree).set_finalizers(finalizers);
}

/// Checks that the object is the one that the client means. As in the reference, the error names the kind
/// where other errors name the resource, except for kinds that are deleted in steps.
///
/// # Errors
/// 409 where it is another one.
pub fn check_preconditions(target: &Target<'_>, current: &Current, options: &DeletionOptions) -> Result<()> {
    let uid = Meta::of(&current.tree).uid();
    let version = current.revision().to_string();
    let in_steps = target.resource.behaviour.is_deleted_in_steps();
    let cause = if let Some(wanted) = options.uid.as_deref().filter(|wanted| *wanted != uid) {
        if in_steps {
            let cause =
                format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}");
            return Err(ApiError::conflict(target.resource, &target.name, cause));
        }
        format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). \
             The object might have been deleted and then recreated"
        )
    } else if let Some(wanted) = options.resource_version.as_deref().filter(|wanted| *wanted != version) {
        if in_steps {
            let cause = format!(
                "Precondition failed: ResourceVersion in precondition: {wanted}, ResourceVersion in object meta: \
                 {version}"
            );
            return Err(ApiError::conflict(target.resource, &target.name, cause));
        }
        format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record \
             ({version}). The object might have been modified"
        )
    } else {
        return Ok(());
    };
    let resource = target.resource;
    let subject = ResourceName { group: resource.group.clone(), resource: resource.def.kind.to_owned() };
    Err(ApiError::Conflict { resource: subject, name: target.name.to_string(), cause })
}
