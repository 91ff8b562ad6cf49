//! Empties namespaces that are being deleted, then lets them go.
//!
//! Every object in such a namespace is deleted as a client would delete it; those with finalizers stay until these are
//! gone. When nothing is left, the server's own entry is taken out of `spec.finalizers`, which removes the namespace.

use std::{sync::Arc, time::Duration};

use orch_machinery::meta::Meta;
use orch_runtime::{
    Tree,
    resource_def::{Scope, Verb},
};

use super::{stopped, target};
use crate::{
    app::App,
    catalog::ServedResource,
    error::{ApiError, Result},
    query::Query,
    registry::{Call, current, delete, options::DeletionOptions, options::WriteOptions, update},
};

/// How soon a namespace with content that stays is looked at again.
const RETRY: Duration = Duration::from_secs(1);

/// Runs until the server stops.
pub async fn run(app: Arc<App>) {
    let Some(namespaces) = app.catalog.resource("", "v1", "namespaces").cloned() else {
        return;
    };
    loop {
        // Taken before looking, so that nothing can happen unseen between looking and waiting.
        let seen = app.storage.current_revision();
        // A round that is cut short by the end of the server goes on after the next start.
        let waiting = tokio::select! {
            biased;
            () = stopped(&app) => return,
            waiting = reconcile(&app, &namespaces) => waiting,
        };
        let Ok(mut changes) = app.storage.watch(&namespaces.storage_name, orch_storage::Scope::All, seen)
        else {
            // History is shorter than one round: look again.
            continue;
        };
        tokio::select! {
            biased;
            () = stopped(&app) => return,
            // A watch that has fallen behind is as good a reason to look as an event.
            _ = changes.next() => {}
            () = tokio::time::sleep(RETRY), if waiting => {}
        }
    }
}

/// Brings every namespace that is being deleted nearer to its end; tells whether one has to wait.
/// What goes wrong in one namespace holds up no other.
async fn reconcile(app: &Arc<App>, namespaces: &Arc<ServedResource>) -> bool {
    let snapshot = app.storage.snapshot(&namespaces.storage_name);
    let mut waiting = false;
    for object in snapshot.iter() {
        let Ok(tree) = current::tree_of(namespaces, object) else { continue };
        let own = app.catalog.vocabulary.namespace_finalizer;
        if Meta::of(&tree).deletion_timestamp().is_none() || !spec_finalizers(&tree).any(|name| name == own) {
            continue;
        }
        let name = &object.key().name;
        let emptied = match empty(app, name).await {
            Ok(true) => finalize(app, namespaces, name, own).await.map(|()| true),
            outcome => outcome,
        };
        waiting |= !emptied.unwrap_or_else(|error| {
            tracing::error!(?error, namespace = &**name, "cannot empty a namespace that is being deleted");
            false
        });
    }
    waiting
}

/// Deletes everything in a namespace; tells whether nothing is left. An object that cannot be deleted holds up no other.
async fn empty(app: &Arc<App>, namespace: &str) -> Result<bool> {
    // Creates that were let in before the namespace was marked are stored after this.
    drop(app.namespace_gate.write().await);
    let mut is_empty = true;
    let mut failure = None;
    for resource in app.catalog.resources().filter(|resource| resource.def.scope == Scope::Namespaced) {
        let snapshot = app.storage.snapshot(&resource.storage_name);
        for object in snapshot.in_namespace(namespace) {
            let name = &object.key().name;
            let target = target(resource, Verb::Delete, namespace, name);
            let call = Call { app, target: &target, query: &Query::default(), user_agent: "", asker: None };
            match delete::delete_named(call, name, &DeletionOptions::default()).await {
                Ok(delete::Deleted::Removed(..)) | Err(ApiError::NotFound { .. }) => {}
                Ok(delete::Deleted::Terminating(_)) => is_empty = false,
                Err(error) => failure = Some(error),
            }
        }
    }
    failure.map_or(Ok(is_empty), Err)
}

/// Takes the server's entry out of `spec.finalizers`.
async fn finalize(app: &Arc<App>, namespaces: &Arc<ServedResource>, name: &str, own: &str) -> Result<()> {
    let mut target = target(namespaces, Verb::Update, "", name);
    target.subresource = namespaces.def.subresource("finalize");
    let call = Call { app, target: &target, query: &Query::default(), user_agent: "", asker: None };
    let mut tree = match current::find(call, name) {
        Ok(current) => current.tree,
        Err(ApiError::NotFound { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let kept: Vec<Tree> = spec_finalizers(&tree).filter(|entry| *entry != own).map(Tree::from).collect();
    if let Some(spec) = tree.get_mut("spec").and_then(Tree::as_object_mut) {
        spec.insert("finalizers".to_owned(), kept.into());
    }
    let options = WriteOptions::internal();
    match update::apply(call, &update::Proposal::Replacement(tree), &options, &mut Vec::new()).await {
        // Somebody else changed the namespace: the change wakes this controller again.
        Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

fn spec_finalizers(tree: &Tree) -> impl Iterator<Item = &str> {
    tree.pointer("/spec/finalizers").and_then(Tree::as_array).into_iter().flatten().filter_map(Tree::as_str)
}
