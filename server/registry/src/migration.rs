//! Objects that are not stored in the storage version, or not under the key that is used for writing: they
//! are written again, without a change.
//!
//! Nothing else is remembered of a migration. What is written is no longer found, so one that was cut off
//! begins again and finds less to do.

use std::sync::Arc;

use orch_machinery::media_type::PatchKind;
use orch_storage::Object;
use serde_json::json;

use crate::{
    catalog::ServedResource,
    client::Client,
    error::{ApiError, Result},
    stored,
};

/// Whether an object of a stored resource is to be written.
///
/// # Errors
/// 500 where its stored bytes are damaged.
pub fn is_outdated(client: &Client, resource: &ServedResource, object: &Object) -> Result<bool> {
    Ok(!stored::is_in_storage_version(resource, object)? || client.core().storage().is_stale(object))
}

/// Writes an object by a patch that changes nothing, of this state, which needs no right but that to patch.
/// Where others have changed it meanwhile it is in the storage version, or gone.
///
/// # Errors
/// As of PATCH, where the object still is what it was.
pub async fn rewrite(client: &Client, resource: &Arc<ServedResource>, object: &Object) -> Result<()> {
    let (key, version) = (object.key(), object.revision().to_string());
    let (kind, api_version) = (resource.def.kind, &resource.api_version);
    let metadata = json!({"resourceVersion": version});
    let patch = json!({"kind": kind, "apiVersion": api_version, "metadata": metadata});
    match Box::pin(client.patch(resource, &key.namespace, &key.name, PatchKind::Merge, &patch)).await {
        Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
