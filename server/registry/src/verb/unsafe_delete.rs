//! Removal of objects that cannot be read, for operators with damaged data.
//!
//! A client asks for it with an option of DELETE and needs a permission of its own. It happens only where an
//! ordinary DELETE fails because of the stored form. Finalizers and preconditions are not checked, because
//! they cannot be read.

use orch_meta::meta::v1::{Status, StatusDetails};
use orch_runtime::Tree;
use orch_storage::Change;
use serde_json::json;

use crate::{
    answer::Answer,
    context::RequestContext,
    error::{ApiError, Result},
    objects::{Stored, key},
    request::Target,
    store_error::Refused,
    stored,
    write::{commit::commit, races::Races},
};

/// The verb that a caller needs beside `delete`.
const VERB: &str = "unsafe-delete-ignore-read-errors";

/// Refuses callers without the extra permission.
///
/// # Errors
/// 403.
pub async fn authorize(cx: &RequestContext<'_>, target: &Target<'_>) -> Result<()> {
    let decision = cx.caller.access.may(VERB).resolve().await;
    if decision.is_allowed() {
        return Ok(());
    }
    let why = format!("not permitted to do \"{VERB}\", reason: {}", decision.reason());
    Err(ApiError::not_admitted(target.resource, &target.name, &why))
}

/// Removes an object that cannot be read. `None` where it can be read or does not exist.
///
/// # Errors
/// Errors of the store.
pub async fn remove_unreadable(cx: &RequestContext<'_>, target: &Target<'_>) -> Result<Option<Answer>> {
    let resource = target.resource;
    let mut races = Races::at(target);
    while let Stored::Unreadable(expected) =
        cx.core.objects().stored(resource, &target.namespace, &target.name)
    {
        tracing::warn!(
            resource = %resource.group_resource, namespace = %target.namespace, name = %target.name,
            "an object that cannot be read is removed"
        );
        let body = stored::encode_body(resource, &known_part(target), None, false)?;
        let key = key(resource, &target.namespace, &target.name);
        match commit(cx, resource, Change::Remove { key, expected, body }).await {
            Ok(_) => return Ok(Some(Answer::Status(Box::new(removed(target))))),
            Err(Refused::Race | Refused::Exists) => races.lost().await?,
            Err(Refused::Error(error)) => return Err(error),
        }
    }
    Ok(None)
}

/// What is known of the object. Watchers see it as the last state.
fn known_part(target: &Target<'_>) -> Tree {
    let mut known = json!({
        "kind": target.resource.def.kind,
        "apiVersion": target.resource.api_version,
        "metadata": {"name": target.name},
    });
    if !target.namespace.is_empty() {
        known["metadata"]["namespace"] = target.namespace.to_string().into();
    }
    known
}

/// As in the reference, `details.kind` is the kind and not the resource. There is no uid, because it cannot
/// be read.
fn removed(target: &Target<'_>) -> Status {
    let details = StatusDetails {
        name: target.name.to_string(),
        kind: target.resource.def.kind.to_owned(),
        ..StatusDetails::default()
    };
    Status { status: "Success".to_owned(), details: Some(details), code: 200, ..Status::default() }
}
