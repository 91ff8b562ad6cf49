//! Rules that a write must satisfy besides those of its own object.

use orch_machinery::meta::Meta;
use orch_runtime::resource_def::Scope;

use super::{Call, current};
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
    let namespace = call.target.namespace.as_str();
    let snapshot = call.app.storage.snapshot(&namespaces.storage_name);
    let Some(object) = snapshot.get("", namespace) else {
        return Err(ApiError::not_found(namespaces, namespace));
    };
    let tree = current::tree_of(namespaces, object)?;
    if Meta::of(&tree).deletion_timestamp().is_none() {
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
