//! Garbage collection: what is deleted because of the owners that objects have, over all kinds.
//!
//! | asked for | the owner | its dependents |
//! |---|---|---|
//! | Background | goes at once | go when none of their owners is left |
//! | Foreground | waits with a finalizer until no dependent blocks it | go before it |
//! | Orphan | waits with a finalizer until no dependent names it | stay, without the reference |
//!
//! An [index](graph) by owner, fed by the events of the store, tells what a change concerns: deleting an
//! owner costs what it owns, and nothing is asked for regularly. It is made anew at each start, so nothing
//! is forgotten by a crash. What happens to an object is [decided](decision) from its newest state. Every
//! write has the version of that state, so an object that changed meanwhile is looked at again. It also ends
//! deletions that a crash [cut off](cut_off).

mod cut_off;
mod decision;
mod graph;
mod node;
mod owners;
mod source;
#[cfg(test)]
mod tests;
mod warning;

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use futures_util::{TryStreamExt, future::BoxFuture, stream};
use orch_machinery::meta::{Meta, MetaMut};
use orch_registry::{
    catalog::{Catalog, ServedResource},
    client::Client,
    error::{ApiError, Result},
    options::{DeletionOptions, Propagation},
};
use orch_runtime::Tree;
use orch_storage::{Key, StoreError};
use tokio::time::Instant;

pub(super) use self::node::{FOREGROUND, ORPHAN};
use self::{
    cut_off::CutOff,
    decision::{Step, decide},
    graph::Graph,
    node::{Found, Kinds, Lookup, StoredNodes},
    source::GraphSource,
    warning::Warned,
};
use crate::{
    account::Account,
    controller::{Action, AnyController, Context},
    source::KeySource,
};

/// How many objects are worked on at a time. Each waits for the disk, and the store writes many at once.
const WORKERS: usize = 32;
/// How many dependents of one owner lose their references at a time.
const ORPHANED_AT_A_TIME: usize = 16;

/// See the module.
#[derive(Default)]
pub(super) struct GarbageCollector {
    kinds: OnceLock<Arc<Kinds>>,
    graph: Arc<Mutex<Graph>>,
    warned: Warned,
    cut_off: CutOff,
}

impl AnyController for GarbageCollector {
    fn name(&self) -> &'static str {
        "garbage-collector-controller"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("generic-garbage-collector")
    }

    fn workers(&self) -> usize {
        WORKERS
    }

    fn is_served(&self, _: &Catalog) -> bool {
        true
    }

    fn begin(&self, client: &Client) -> Result<Box<dyn KeySource>, StoreError> {
        let core = client.core();
        self.cut_off.clear();
        Ok(Box::new(GraphSource::begin(self.kinds(core.catalog()), core.storage(), &self.graph)?))
    }

    fn reconcile<'a>(&'a self, key: &'a Key, cx: &'a Context) -> BoxFuture<'a, Result<Action>> {
        Box::pin(self.collect(key, cx))
    }
}

impl GarbageCollector {
    fn kinds(&self, catalog: &Arc<Catalog>) -> &Arc<Kinds> {
        self.kinds.get_or_init(|| Arc::new(Kinds::new(catalog)))
    }

    async fn collect(&self, key: &Key, cx: &Context) -> Result<Action> {
        let core = cx.client().core();
        let kinds = self.kinds(core.catalog());
        let Some(resource) = kinds.of(key) else { return Ok(Action::Done) };
        let lookup = StoredNodes { kinds, storage: core.storage() };
        let Found::Node(node) = lookup.find(key) else {
            self.cut_off.forget(key);
            return Ok(Action::Done);
        };
        self.warned.tell(key, &node, resource, &self.graph, &lookup, cx).await;
        let step = {
            let graph = self.graph.lock().unwrap_or_else(PoisonError::into_inner);
            decide(key, &node, &graph, &lookup)
        };
        if step == Step::Finish
            && let Some(left) = self.cut_off.wait(key, node.revision, Instant::now())
        {
            return Ok(Action::Again(left));
        }
        self.cut_off.forget(key);
        let object = Target { cx, resource, key };
        let version = node.revision.to_string();
        let is_same = DeletionOptions {
            uid: Some(node.uid.to_string()),
            resource_version: Some(version.clone()),
            ..DeletionOptions::default()
        };
        match step {
            Step::Nothing => {}
            Step::Delete { foreground } => {
                let propagation = foreground.then_some(Propagation::Foreground);
                object.delete(DeletionOptions { propagation, ..is_same }).await?;
            }
            Step::Finish => object.delete(is_same).await?,
            Step::Disown(lost) => object.change(Some(&version), |tree| disown(tree, &lost)).await?,
            Step::Orphan(dependents) => {
                let owner = [Arc::clone(&node.uid)];
                let each = dependents.into_iter().map(|key| Ok::<_, ApiError>((key, &owner)));
                let all = stream::iter(each).try_for_each_concurrent(
                    ORPHANED_AT_A_TIME,
                    |(key, owner)| async move {
                        let Some(resource) = kinds.of(&key) else { return Ok(()) };
                        Target { cx, resource, key: &key }.change(None, |tree| disown(tree, owner)).await
                    },
                );
                all.await?;
                object.change(Some(&version), |tree| drop_finalizer(tree, ORPHAN)).await?;
            }
            Step::Release => object.change(Some(&version), |tree| drop_finalizer(tree, FOREGROUND)).await?,
        }
        Ok(Action::Done)
    }
}

/// An object that is to change.
struct Target<'a> {
    cx: &'a Context,
    resource: &'a Arc<ServedResource>,
    key: &'a Key,
}

impl Target<'_> {
    async fn delete(&self, options: DeletionOptions) -> Result<()> {
        let Self { cx, resource, key } = self;
        gone_is_fine(cx.client().delete(resource, &key.namespace, &key.name, options).await)
    }

    /// Changes the object if it has this version, or whichever it has where none is given. It may be gone.
    async fn change(&self, version: Option<&str>, how: impl Fn(&mut Tree) + Sync) -> Result<()> {
        let client = self.cx.client();
        let Self { resource, key, .. } = self;
        let Some(current) = client.core().objects().lookup(resource, &key.namespace, &key.name)? else {
            return Ok(());
        };
        let mut tree = current.tree;
        how(&mut tree);
        if let Some(version) = version {
            // Where the object has changed since, the write is refused, and the object looked at again.
            MetaMut::of(&mut tree).set_resource_version(version);
        }
        gone_is_fine(client.update(resource, "", tree).await)
    }
}

fn gone_is_fine<T>(result: Result<T>) -> Result<()> {
    match result {
        Ok(_) | Err(ApiError::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Takes out the references to the owners with these uids.
fn disown(tree: &mut Tree, lost: &[Arc<str>]) {
    let lost: HashSet<&str> = lost.iter().map(|uid| &**uid).collect();
    let mut kept = Meta::of(tree).owner_references().to_vec();
    kept.retain(|reference| {
        let uid = reference.get("uid").and_then(Tree::as_str).unwrap_or_default();
        !lost.contains(uid)
    });
    MetaMut::of(tree).set_owner_references(kept);
}

fn drop_finalizer(tree: &mut Tree, name: &str) {
    MetaMut::of(tree).remove_finalizer(name);
}
