//! `NamespaceLifecycle`: new objects need a namespace that exists and is not being deleted, and the
//! namespaces that the server needs cannot be deleted.

use orch_api::core::v1::Namespace;
use orch_auth::answer::Answer;
use orch_machinery::meta::Meta;
use orch_registry::{
    admission::{AdmissionPlugin, AdmissionRequest, Admitted},
    catalog::ServedResource,
    error::{ApiError, Forbidden, ResourceName, Result},
    stored,
};
use orch_runtime::{
    object::Kind,
    resource_def::{Scope, Verb},
    vocabulary::Vocabulary,
};
use orch_storage::{Condition, Object};

use super::is;

pub(crate) struct NamespaceLifecycle;

impl AdmissionPlugin for NamespaceLifecycle {
    fn name(&self) -> &'static str {
        "NamespaceLifecycle"
    }

    fn mutate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        Answer::Ready(match request.operation {
            Verb::Create => require_open_namespace(request),
            Verb::Delete => keep_needed_namespace(request),
            _ => Ok(()),
        })
    }
}

/// Whether a namespace takes new objects; remembered with each state of it.
struct IsOpen(bool);

/// A create commits only while the namespace is as it was seen here, so that no object is left behind in a
/// namespace that is being emptied.
///
/// # Errors
/// 404 for a namespace that does not exist, 403 for one that is being deleted.
fn require_open_namespace(request: &mut AdmissionRequest<'_>) -> Result<()> {
    if request.resource.def.scope == Scope::Cluster {
        return Ok(());
    }
    // A server without the kind has no namespaces to check.
    let Some(namespaces) = request.objects.catalog().served(Namespace::RESOURCE) else { return Ok(()) };
    let snapshot = request.objects.snapshot(namespaces);
    let Some(object) = snapshot.get("", request.namespace) else {
        return Err(ApiError::not_found(namespaces, request.namespace));
    };
    stored::bytes_of(namespaces, object)?;
    if !object.memo::<IsOpen>(|object| is_open(namespaces, object)).0 {
        return Err(terminating(request));
    }
    request.conditions.push(Condition::At { key: object.key().clone(), revision: object.revision() });
    Ok(())
}

fn is_open(namespaces: &ServedResource, namespace: &Object) -> IsOpen {
    let tree = stored::tree_of(namespaces, namespace).unwrap_or_default();
    IsOpen(Meta::of(&tree).deletion_timestamp().is_none())
}

fn terminating(request: &AdmissionRequest<'_>) -> ApiError {
    let AdmissionRequest { namespace, name, .. } = request;
    let resource = ResourceName::of(request.resource);
    let message = format!(
        "{} \"{name}\" is forbidden: unable to create new content in namespace {namespace} \
         because it is being terminated",
        resource.qualified()
    );
    let cause =
        ("NamespaceTerminating", format!("namespace {namespace} is being terminated"), "metadata.namespace");
    ApiError::Forbidden(Box::new(Forbidden {
        resource,
        name: (*name).to_owned(),
        message,
        cause: Some(cause),
    }))
}

/// Refuses the deletion of a namespace that the server needs, with 403.
fn keep_needed_namespace(request: &AdmissionRequest<'_>) -> Result<()> {
    let resource = request.resource;
    if !is::<Namespace>(resource.def) || !is_needed(request.name, resource.vocabulary) {
        return Ok(());
    }
    Err(ApiError::not_admitted(resource, request.name, "this namespace may not be deleted"))
}

fn is_needed(name: &str, vocabulary: &Vocabulary) -> bool {
    ["default", vocabulary.namespace_system, vocabulary.namespace_public].contains(&name)
}
