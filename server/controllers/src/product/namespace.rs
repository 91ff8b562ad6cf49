//! Empties namespaces that are being deleted, then lets them go.
//!
//! Every object in such a namespace is deleted as a client would delete it; those with finalizers stay until
//! these are gone. When nothing is left, the server's own entry is taken out of `spec.finalizers`, which
//! removes the namespace. No new object can come in: a create commits only while the namespace is as it was
//! before the deletion.

use std::{sync::Arc, time::Duration};

use orch_api::core::v1::Namespace;
use orch_machinery::meta::Meta;
use orch_registry::{
    error::{ApiError, Result},
    options::DeletionOptions,
};
use orch_runtime::{Tree, resource_def::Scope};

use super::release;
use crate::{
    controller::{Action, Context, Controller},
    key::ObjectKey,
};

/// How soon a namespace with content that stays is looked at again.
const RETRY: Duration = Duration::from_secs(1);

/// See the module.
pub(super) struct NamespaceContent;

impl Controller for NamespaceContent {
    type Resource = Namespace;

    fn name(&self) -> &'static str {
        "namespace"
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let namespaces = cx.served::<Namespace>()?;
        let Some(current) = cx.lookup(namespaces, key)? else { return Ok(Action::Done) };
        let own = namespaces.vocabulary.namespace_finalizer;
        let is_deleted = Meta::of(&current.tree).deletion_timestamp().is_some();
        if !is_deleted || !finalizers(&current.tree).any(|name| name == own) {
            return Ok(Action::Done);
        }
        if !empty(cx, &key.name).await? {
            return Ok(Action::Again(RETRY));
        }
        release(cx, namespaces, "finalize", without_finalizer(current.tree, own)).await?;
        Ok(Action::Done)
    }
}

/// Deletes everything in a namespace; says whether nothing is left. An object that cannot be deleted holds up
/// no other.
async fn empty(cx: &Context, namespace: &str) -> Result<bool> {
    let client = cx.client();
    let mut is_empty = true;
    let mut failure = None;
    let resources = client.core().catalog().resources();
    for resource in resources.filter(|resource| resource.def.scope == Scope::Namespaced) {
        let objects: Vec<_> = client.snapshot(resource).in_namespace(namespace).map(Arc::clone).collect();
        for object in objects {
            let deleted =
                client.delete(resource, namespace, &object.key().name, DeletionOptions::default()).await;
            match deleted {
                Ok(true) | Err(ApiError::NotFound { .. }) => {}
                Ok(false) => is_empty = false,
                Err(error) => failure = Some(error),
            }
        }
    }
    failure.map_or(Ok(is_empty), Err)
}

fn without_finalizer(mut namespace: Tree, own: &str) -> Tree {
    let kept: Vec<Tree> = finalizers(&namespace).filter(|name| *name != own).map(Tree::from).collect();
    if let Some(spec) = namespace.get_mut("spec").and_then(Tree::as_object_mut) {
        spec.insert("finalizers".to_owned(), kept.into());
    }
    namespace
}

/// `spec.finalizers`, which are other ones than those in `metadata`.
fn finalizers(namespace: &Tree) -> impl Iterator<Item = &str> {
    let names = namespace.pointer("/spec/finalizers").and_then(Tree::as_array);
    names.into_iter().flatten().filter_map(Tree::as_str)
}
