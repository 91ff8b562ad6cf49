//! DELETE of an item: at once, or after its finalizers.

use std::sync::Arc;

use orch_machinery::meta::{self, Meta};
use orch_runtime::Tree;
use orch_storage::{Object, Write};

use super::{
    Answer, Call, Reply,
    body_format::Body,
    current::{self, Current},
    grace::{self, Grace},
    metadata,
    options::{DeletionOptions, Propagation},
    store_error,
    turn::{MAX_ATTEMPTS, Turn},
    unsafe_delete,
    update::MODIFIED,
    write,
};
use crate::{
    error::{ApiError, ResourceName, Result},
    kinds, status,
};

/// Finalizers by which the garbage collector is asked to act before the object goes.
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What became of a deleted object.
pub enum Deleted {
    /// It is gone; this was its last state.
    Removed(Tree, Option<Arc<Object>>),
    /// It stays until its finalizers are gone.
    Terminating(Answer),
}

/// Deletes the object that the request names.
///
/// # Errors
/// 400 and 422 for wrong options, 403 for objects that the server needs, 404, 409 for preconditions.
pub async fn delete(call: Call<'_>, body: &Body) -> Result<Reply> {
    let options = DeletionOptions::parse(call, body)?;
    if options.ignores_read_errors {
        unsafe_delete::authorize(call).await?;
    }
    let deleted = match delete_named(call, &call.target.name, &options).await {
        Err(error) if options.ignores_read_errors => match unsafe_delete::remove_unreadable(call).await? {
            Some(answer) => return Ok(answer.into()),
            None => return Err(error),
        },
        deleted => deleted?,
    };
    let answer = match deleted {
        Deleted::Terminating(Answer::Object(object)) if options.expects_removal => Answer::Accepted(object),
        Deleted::Terminating(answer) => answer,
        Deleted::Removed(tree, object) if call.target.resource.def.delete_returns_object => match object {
            Some(object) => Answer::Object(object),
            None => Answer::Transient { json: write::transient_form(call, &tree), created: false },
        },
        Deleted::Removed(tree, _) => {
            let resource = ResourceName::of(call.target.resource);
            Answer::Status(Box::new(status::deleted(
                &resource,
                Meta::of(&tree).name(),
                Meta::of(&tree).uid(),
            )))
        }
    };
    Ok(answer.into())
}

/// Deletes one object; runs again when another write comes between.
///
/// # Errors
/// As [`delete`].
pub async fn delete_named(call: Call<'_>, name: &str, options: &DeletionOptions) -> Result<Deleted> {
    let hooks = kinds::hooks(call.target.resource.def);
    if hooks.is_protected(name, call.app.catalog.vocabulary) {
        return Err(ApiError::not_admitted(
            call.target.resource,
            name,
            &format!("this {} may not be deleted", call.target.resource.def.singular),
        ));
    }
    let mut turn = Turn::at(&current::key(call, name));
    for _ in 0..MAX_ATTEMPTS {
        turn.wait().await;
        let current = current::find(call, name)?;
        check_preconditions(call, name, &current, options)?;
        match attempt(call, name, &current, options).await {
            Err(store_error::Refused::Race) => turn.lost(),
            Err(store_error::Refused::Error(error)) => return Err(error),
            Ok(deleted) => return Ok(deleted),
        }
    }
    Err(ApiError::conflict(call.target.resource, name, MODIFIED))
}

async fn attempt(
    call: Call<'_>,
    name: &str,
    current: &Current,
    options: &DeletionOptions,
) -> Result<Deleted, store_error::Refused> {
    let hooks = kinds::hooks(call.target.resource.def);
    let mut tree = current.tree.clone();
    let allowed = hooks.grace_period(&tree, options.grace_period);
    let grace = grace::begin(&mut tree, options.grace_period, allowed, call.app.now());
    if grace == Grace::Pending {
        return Ok(Deleted::Terminating(Answer::Object(current.object.clone())));
    }
    set_propagation_finalizers(&mut tree, options.propagation);
    let has_finalizers = Meta::of(&tree).finalizers().next().is_some();
    let stays = has_finalizers || matches!(grace, Grace::Of(1..)) || !hooks.may_be_removed(&tree);
    let key = current::key(call, name);
    let expected = current.revision();
    if !stays {
        if options.dry_run {
            return Ok(Deleted::Removed(tree, None));
        }
        let body = write::stored_form(call, &tree, false)?;
        let mut expected = expected;
        if grace == Grace::Of(0) {
            // Watchers of kinds that know grace are shown that the object goes before it is gone.
            let retired = Write::Retire { key: key.clone(), expected, body: body.clone() };
            expected = write::commit(call, retired).await?.revision();
        }
        let object = write::commit(call, Write::Remove { key, expected, body }).await?;
        return Ok(Deleted::Removed(tree, Some(object)));
    }
    if Meta::of(&tree).deletion_timestamp().is_none() {
        metadata::mark_deleted(&mut tree, call.app.now(), 0);
        hooks.mark_deleted(&mut tree);
    }
    if options.dry_run {
        let json = write::transient_form(call, &tree);
        return Ok(Deleted::Terminating(Answer::Transient { json, created: false }));
    }
    if tree == current.tree {
        return Ok(Deleted::Terminating(Answer::Object(current.object.clone())));
    }
    let body = write::stored_form(call, &tree, false)?;
    let object = write::commit(call, Write::Retire { key, expected, body }).await?;
    Ok(Deleted::Terminating(Answer::Object(object)))
}

/// The policy of a DELETE decides which of the collector's finalizers the object carries. A client that does not
/// choose leaves them as they are.
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
    let metadata = meta::metadata_mut(tree);
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".to_owned(), finalizers.into());
    }
}

/// Whether the object is the one that the client means. The error names the kind where others name the resource; clients
/// know it so.
///
/// # Errors
/// 409 where it is another one.
pub fn check_preconditions(
    call: Call<'_>,
    name: &str,
    current: &Current,
    options: &DeletionOptions,
) -> Result<()> {
    let uid = Meta::of(&current.tree).uid();
    let version = current.revision().to_string();
    let cause = if let Some(wanted) = options.uid.as_deref().filter(|wanted| *wanted != uid) {
        format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). \
             The object might have been deleted and then recreated"
        )
    } else if let Some(wanted) = options.resource_version.as_deref().filter(|wanted| *wanted != version) {
        format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record \
             ({version}). The object might have been modified"
        )
    } else {
        return Ok(());
    };
    let resource = call.target.resource;
    let subject = ResourceName { group: resource.group.clone(), resource: resource.def.kind.to_owned() };
    Err(ApiError::Conflict { resource: subject, name: name.to_owned(), cause })
}
