//! Lets volumes and claims go that are being deleted and that nobody uses any more.
//!
//! Both are born with a finalizer, which stays while a volume is bound to a claim, or while a pod uses a claim.

use std::{sync::Arc, time::Duration};

use orch_machinery::meta::{self, Meta};
use orch_runtime::{Tree, resource_def::Verb, vocabulary::Vocabulary};

use super::{stopped, target};
use crate::{
    app::App,
    catalog::ServedResource,
    error::{ApiError, Result},
    kinds::{persistent_volume, persistent_volume_claim},
    query::Query,
    registry::{Call, current, options::WriteOptions, update},
};

/// How soon something that is still used is looked at again.
const RETRY: Duration = Duration::from_secs(1);

/// A kind whose objects are kept while they are used.
struct Protected {
    plural: &'static str,
    finalizer: fn(&Vocabulary) -> String,
    is_in_use: fn(&App, &Tree) -> bool,
}

const VOLUMES: Protected = Protected {
    plural: "persistentvolumes",
    finalizer: persistent_volume::finalizer,
    is_in_use: |_, volume| persistent_volume::is_in_use(volume),
};

const CLAIMS: Protected = Protected {
    plural: "persistentvolumeclaims",
    finalizer: persistent_volume_claim::finalizer,
    is_in_use: is_claim_in_use,
};

/// Looks after both kinds until the server stops.
pub async fn run(app: Arc<App>) {
    tokio::join!(watch(&app, &VOLUMES), watch(&app, &CLAIMS));
}

async fn watch(app: &Arc<App>, protected: &Protected) {
    let Some(resource) = app.catalog.resource("", "v1", protected.plural).cloned() else { return };
    loop {
        // Taken before looking, so that nothing can happen unseen between looking and waiting.
        let seen = app.storage.current_revision();
        let waiting = match reconcile(app, &resource, protected).await {
            Ok(waiting) => waiting,
            Err(error) => {
                tracing::error!(?error, resource = protected.plural, "cannot let an object go");
                true
            }
        };
        let Ok(mut changes) = app.storage.watch(&resource.storage_name, orch_storage::Scope::All, seen)
        else {
            // History is shorter than one round: look again.
            continue;
        };
        tokio::select! {
            biased;
            () = stopped(app) => return,
            _ = changes.next() => {}
            () = tokio::time::sleep(RETRY), if waiting => {}
        }
    }
}

/// Takes the finalizer from every deleted object that is not used; tells whether one has to wait.
async fn reconcile(app: &Arc<App>, resource: &Arc<ServedResource>, protected: &Protected) -> Result<bool> {
    let finalizer = (protected.finalizer)(app.catalog.vocabulary);
    let snapshot = app.storage.snapshot(&resource.storage_name);
    let mut waiting = false;
    for object in snapshot.iter() {
        let Ok(tree) = current::tree_of(resource, object) else { continue };
        let meta = Meta::of(&tree);
        if meta.deletion_timestamp().is_none() || !finalizers(&tree).any(|name| name == finalizer) {
            continue;
        }
        if (protected.is_in_use)(app, &tree) {
            waiting = true;
        } else {
            release(app, resource, tree, &finalizer).await?;
        }
    }
    Ok(waiting)
}

async fn release(
    app: &Arc<App>,
    resource: &Arc<ServedResource>,
    mut tree: Tree,
    finalizer: &str,
) -> Result<()> {
    let kept: Vec<Tree> = finalizers(&tree).filter(|name| *name != finalizer).map(Tree::from).collect();
    meta::metadata_mut(&mut tree).insert("finalizers".to_owned(), kept.into());
    let (namespace, name) = (Meta::of(&tree).namespace().to_owned(), Meta::of(&tree).name().to_owned());
    let target = target(resource, Verb::Update, &namespace, &name);
    let call = Call { app, target: &target, query: &Query::default(), user_agent: "", asker: None };
    let options = WriteOptions::internal();
    match update::apply(call, &update::Proposal::Replacement(tree), &options, &mut Vec::new()).await {
        // Somebody else changed the object: the change wakes this controller again.
        Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

fn is_claim_in_use(app: &App, claim: &Tree) -> bool {
    let Some(pods) = app.catalog.resource("", "v1", "pods") else { return false };
    let meta = Meta::of(claim);
    let snapshot = app.storage.snapshot(&pods.storage_name);
    snapshot.in_namespace(meta.namespace()).any(|pod| {
        // A pod that cannot be read keeps what it may use.
        current::tree_of(pods, pod).map_or(true, |pod| persistent_volume_claim::uses(&pod, meta.name()))
    })
}

fn finalizers(tree: &Tree) -> impl Iterator<Item = &str> {
    tree.pointer("/metadata/finalizers")
        .and_then(Tree::as_array)
        .into_iter()
        .flatten()
        .filter_map(Tree::as_str)
}
