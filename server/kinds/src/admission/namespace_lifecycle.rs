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

#[cfg(test)]
mod tests {
    use orch_api::core::v1::ConfigMap;
    use orch_registry::options::DeletionOptions;
    use serde_json::json;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer};

    #[tokio::test]
    async fn objects_need_a_namespace() {
        let server = TestServer::start().await;
        let object = json!({"metadata": {"name": "a"}});
        let missing = server.create::<ConfigMap>("lost", object.clone()).await.unwrap_err();
        assert_eq!(missing, ApiError::not_found(server.resource::<Namespace>(), "lost"));
        server.create::<ConfigMap>(NAMESPACE, object.clone()).await.unwrap();

        let namespaces = server.resource::<Namespace>();
        let is_gone = server.client.delete(namespaces, "", NAMESPACE, DeletionOptions::default()).await;
        assert_eq!(is_gone, Ok(false));
        let refused = server.create::<ConfigMap>(NAMESPACE, json!({"metadata": {"name": "b"}})).await;
        let Err(ApiError::Forbidden(forbidden)) = refused else { panic!("{refused:?}") };
        assert_eq!(
            forbidden.message,
            "configmaps \"b\" is forbidden: unable to create new content in namespace n \
             because it is being terminated"
        );
        let (reason, message, field) = forbidden.cause.unwrap();
        assert_eq!(
            (reason, &*message, field),
            ("NamespaceTerminating", "namespace n is being terminated", "metadata.namespace")
        );
        server.update::<ConfigMap>("", NAMESPACE, "a", |tree| tree["data"]["k"] = "v".into()).await.unwrap();
    }

    #[tokio::test]
    async fn a_create_depends_on_its_namespace() {
        let server = TestServer::start().await;
        let user = orch_auth::user::UserInfo::anonymous();
        let mut conditions = Vec::new();
        let mut request = AdmissionRequest {
            operation: Verb::Create,
            resource: server.resource::<ConfigMap>(),
            subresource: None,
            namespace: NAMESPACE,
            name: "a",
            name_in_path: "",
            user: &user,
            dry_run: false,
            object: None,
            old: None,
            body: None,
            objects: server.core.objects(),
            conditions: &mut conditions,
        };
        NamespaceLifecycle.mutate(&mut request).resolve().await.unwrap();
        let namespaces = server.resource::<Namespace>();
        let namespace = server.client.get(namespaces, "", NAMESPACE).unwrap();
        let key = namespace.object.key().clone();
        assert_eq!(conditions, [Condition::At { key, revision: namespace.revision() }]);
    }

    #[tokio::test]
    async fn some_namespaces_stay() {
        let server = TestServer::start().await;
        let namespaces = server.resource::<Namespace>();
        for name in ["default", "kube-system", "kube-public"] {
            server.create::<Namespace>("", json!({"metadata": {"name": name}})).await.unwrap();
            let deleted = server.client.delete(namespaces, "", name, DeletionOptions::default()).await;
            let expected = ApiError::not_admitted(namespaces, name, "this namespace may not be deleted");
            assert_eq!(deleted, Err(expected));
        }
    }
}
