//! Rules that a write must satisfy besides those of its own object.

use std::sync::Arc;

use orch_machinery::meta::Meta;
use orch_runtime::resource_def::Scope;

use orch_storage::{Object, Write};

use super::{
    Call, current, store_error,
    write::{self, Allocating},
};
use crate::error::{ApiError, Forbidden, ResourceName, Result};

/// New objects need a namespace that exists and stays.
///
/// # Errors
/// 404 for a namespace that does not exist, 403 for one that is being deleted.
pub fn namespace_exists(call: Call<'_>, name: &str) -> Result<()> {
    let resource = call.target.resource;
    if resource.def.scope == Scope::Cluster {
        return Ok(());
    }
    let Some(namespaces) = call.app.catalog.resource("", "v1", "namespaces") else {
        // A server without the kind Namespace has no namespaces to check.
        return Ok(());
    };
    let namespace = call.target.namespace.as_ref();
    let snapshot = call.app.storage.snapshot(&namespaces.storage_name);
    let Some(object) = snapshot.get("", namespace) else {
        return Err(ApiError::not_found(namespaces, namespace));
    };
    current::bytes_of(namespaces, object)?;
    let is_open = |object: &Object| {
        let tree = current::tree_of(namespaces, object).unwrap_or_default();
        IsOpen(Meta::of(&tree).deletion_timestamp().is_none())
    };
    if object.memo::<IsOpen>(is_open).0 {
        return Ok(());
    }
    let subject = ResourceName::of(resource);
    let message = format!(
        "{} \"{name}\" is forbidden: unable to create new content in namespace {namespace} because it is being terminated",
        subject.qualified()
    );
    let cause =
        ("NamespaceTerminating", format!("namespace {namespace} is being terminated"), "metadata.namespace");
    Err(ApiError::Forbidden(Box::new(Forbidden {
        resource: subject,
        name: name.to_owned(),
        message,
        cause: Some(cause),
    })))
}

/// Whether a namespace takes new objects; remembered with each state of it.
struct IsOpen(bool);

/// Stores a new object while its namespace is kept from being emptied, so that nothing is left behind in a namespace
/// that goes: the namespace is looked at once more, and whoever empties it waits until the object is stored. The
/// commit goes on when the client leaves, and so does the waiting for it.
///
/// # Errors
/// As [`namespace_exists`], and what the store says.
pub async fn store_in_namespace(
    call: Call<'_>,
    write: Write,
    allocating: Option<Allocating>,
) -> Result<Arc<Object>, store_error::Refused> {
    let entry = Arc::clone(&call.app.namespace_gate).read_owned().await;
    namespace_exists(call, &write.key().name)?;
    write::commit_holding(call, write, (entry, allocating)).await
}
