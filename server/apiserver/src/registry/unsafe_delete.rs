//! Removal of objects that cannot be read: what an operator is left with when stored bytes are damaged.
//!
//! It is asked for with an option of DELETE, needs a permission of its own, and happens only where the ordinary way
//! fails because of the stored form. Finalizers and preconditions are not looked at: nobody can say what they are.

use orch_api::meta::v1::{Status, StatusDetails};
use orch_storage::Write;
use serde_json::json;

use super::{
    Answer, Call,
    current::{self, Stored},
    store_error, write,
};
use crate::error::{ApiError, Result};

/// The verb that a caller must be allowed besides `delete`.
const VERB: &str = "unsafe-delete-ignore-read-errors";

/// Refuses those who may delete objects, but not unseen.
///
/// # Errors
/// 403.
pub async fn authorize(call: Call<'_>) -> Result<()> {
    let Some(asker) = call.asker else { return Ok(()) };
    let decision = asker.may(call.app, VERB).await;
    if decision.is_allowed() {
        return Ok(());
    }
    let why = format!("not permitted to do \"{VERB}\", reason: {}", decision.reason());
    Err(ApiError::not_admitted(call.target.resource, &call.target.name, &why))
}

/// Removes the object that the request names if it cannot be read; otherwise there is nothing to do here.
///
/// # Errors
/// What the store says.
pub async fn remove_unreadable(call: Call<'_>) -> Result<Option<Answer>> {
    let target = call.target;
    while let Stored::Unreadable(expected) = current::stored(call, &target.name) {
        tracing::warn!(
            resource = %target.resource.group_resource, namespace = %target.namespace, name = %target.name,
            "an object that cannot be read is removed"
        );
        let body = write::stored_form(call, &husk(call), false)?;
        let removal = Write::Remove { key: current::key(call, &target.name), expected, body };
        match write::commit(call, removal).await {
            Ok(_) => return Ok(Some(Answer::Status(Box::new(removed(call))))),
            Err(store_error::Refused::Race) => {}
            Err(store_error::Refused::Error(error)) => return Err(error),
        }
    }
    Ok(None)
}

/// All that is known of the object: watchers are shown this as its last state.
fn husk(call: Call<'_>) -> orch_runtime::Tree {
    let target = call.target;
    let mut husk = json!({
        "kind": target.resource.def.kind,
        "apiVersion": target.resource.api_version,
        "metadata": {"name": target.name},
    });
    if !target.namespace.is_empty() {
        husk["metadata"]["namespace"] = target.namespace.to_string().into();
    }
    husk
}

/// Existing clients find the kind here, not the resource, and no uid: it is not known.
fn removed(call: Call<'_>) -> Status {
    let details = StatusDetails {
        name: call.target.name.to_string(),
        kind: call.target.resource.def.kind.to_owned(),
        ..StatusDetails::default()
    };
    Status { status: "Success".to_owned(), details: Some(details), code: 200, ..Status::default() }
}
