//! Empties namespaces that are being deleted, then lets them go.
//!
//! Every object in such a namespace is deleted as a client would delete it; those with finalizers stay until
//! these are gone, and conditions tell what is left and why. When nothing is left, the server's own entry is
//! taken out of `spec.finalizers`, which removes the namespace. No new object can come in: a create commits
//! only while the namespace is as it was before the deletion.

mod conditions;
mod content;

use std::{sync::Arc, time::Duration};

use orch_api::core::v1::Namespace;
use orch_machinery::meta::Meta;
use orch_registry::{
    catalog::ServedResource,
    error::{ApiError, Result},
};
use orch_runtime::Tree;

use self::{conditions::tell, content::empty};
use super::release;
use crate::{
    account::Account,
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

    fn account(&self) -> Account {
        Account::ServiceAccount("namespace-controller")
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let namespaces = cx.served::<Namespace>()?;
        let Some(current) = cx.lookup(namespaces, key)? else { return Ok(Action::Done) };
        let own = namespaces.vocabulary.namespace_finalizer;
        let is_deleted = Meta::of(&current.tree).deletion_timestamp().is_some();
        if !is_deleted || !finalizers(&current.tree).any(|name| name == own) {
            return Ok(Action::Done);
        }
        let mut left = empty(cx, &key.name).await;
        if left.is_nothing() {
            release(cx, namespaces, "finalize", without_finalizer(current.tree, own)).await?;
            return Ok(Action::Done);
        }
        let mut namespace = current.tree;
        if tell(&mut namespace, &left, cx.client().core().now()) {
            store_status(cx, namespaces, namespace).await?;
        }
        left.failures.pop().map_or(Ok(Action::Again(RETRY)), Err)
    }
}

/// Where somebody has changed the namespace meanwhile, that change brings its key again.
async fn store_status(cx: &Context, namespaces: &Arc<ServedResource>, namespace: Tree) -> Result<()> {
    match cx.client().update(namespaces, "status", namespace).await {
        Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(()),
        Err(error) => Err(error),
    }
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
