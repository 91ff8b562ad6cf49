//! Empties namespaces that are being deleted, then lets them go.
//!
//! Every object in such a namespace is deleted as a client would delete it; those with finalizers stay until
//! these are gone, and conditions tell what is left and why. Whatever happens in such a namespace brings it
//! again ([`waiting`]). When nothing is left, the server's own entry is taken out of `spec.finalizers`, which
//! removes the namespace. No new object can come in: a create commits only while the namespace is as it was
//! before the deletion.

mod conditions;
mod content;
mod waiting;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use orch_api::core::v1::Namespace;
use orch_machinery::meta::Meta;
use orch_registry::{
    catalog::{Catalog, ServedResource},
    client::Client,
    error::{ApiError, Result},
};
use orch_runtime::{Tree, object::Kind};
use orch_storage::{Key, StoreError};

use self::{
    conditions::tell,
    content::{Doomed, empty},
    waiting::{ContentSource, Waiting},
};
use super::release;
use crate::{
    account::Account,
    controller::{Action, AnyController, Context},
    key::ObjectKey,
    source::KeySource,
};

/// See the module.
#[derive(Default)]
pub(super) struct NamespaceContent {
    waiting: Waiting,
}

impl AnyController for NamespaceContent {
    fn name(&self) -> &'static str {
        "namespace"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("namespace-controller")
    }

    fn is_served(&self, catalog: &Catalog) -> bool {
        catalog.served(Namespace::RESOURCE).is_some()
    }

    fn begin(&self, client: &Client) -> Result<Box<dyn KeySource>, StoreError> {
        let served = client.core().catalog().served(Namespace::RESOURCE);
        let resource = served.expect("a controller runs where its kind is served");
        Ok(Box::new(ContentSource::begin(resource, client, &self.waiting)?))
    }

    fn reconcile<'a>(&'a self, key: &'a Key, cx: &'a Context) -> BoxFuture<'a, Result<Action>> {
        Box::pin(async move {
            self.look_at(&ObjectKey::from(key), cx).await?;
            Ok(Action::Done)
        })
    }
}

impl NamespaceContent {
    /// Empties a namespace that is being deleted. Where something stays, the namespace waits until something
    /// happens in it.
    async fn look_at(&self, key: &ObjectKey, cx: &Context) -> Result<()> {
        let namespaces = cx.served::<Namespace>()?;
        let own = namespaces.vocabulary.namespace_finalizer;
        let found = cx.lookup(namespaces, key)?.map(|current| current.tree);
        let Some(namespace) = found.filter(|it| is_to_be_emptied(it, own)) else {
            self.waiting.leave(&key.name);
            return Ok(());
        };
        let begun = cx.client().core().storage().current_revision();
        let uid = Meta::of(&namespace).uid().to_owned();
        let mut left = empty(cx, &Doomed { name: &key.name, uid: &uid }).await;
        if left.is_nothing() {
            self.waiting.leave(&key.name);
            // The conditions tell that nothing is left before the finalizer goes. This change brings the key
            // again.
            let mut told = namespace.clone();
            if tell(&mut told, &left, cx.client().core().now()) {
                match store_status(cx, namespaces, told).await {
                    // A full disk takes removals and no conditions.
                    Err(ApiError::InsufficientStorage(_)) => {}
                    stored => return stored,
                }
            }
            return release(cx, namespaces, "finalize", without_finalizer(namespace, own)).await;
        }
        // What has happened in it since then brings the key again.
        self.waiting.enter(&key.name, begun);
        let mut namespace = namespace;
        if tell(&mut namespace, &left, cx.client().core().now()) {
            store_status(cx, namespaces, namespace).await?;
        }
        left.failures.pop().map_or(Ok(()), Err)
    }
}

fn is_to_be_emptied(namespace: &Tree, own: &str) -> bool {
    Meta::of(namespace).deletion_timestamp().is_some() && finalizers(namespace).any(|name| name == own)
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
