//! Watches the content of namespaces that wait for it to go, so that nobody has to look again and again.
//!
//! Only such namespaces are watched, from the revision on at which they began to wait.

use std::{
    collections::HashMap,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use futures_util::future::BoxFuture;
use orch_registry::{catalog::ServedResource, client::Client};
use orch_runtime::resource_def::Scope;
use orch_storage::{Key, ResourceName, Revision, Scope as StoreScope, StoreError, Watch};
use tokio::sync::Notify;

use crate::source::{KeySource, KindSource};

/// The namespaces that wait, and since which revision.
#[derive(Clone, Default)]
pub(super) struct Waiting(Arc<State>);

#[derive(Default)]
struct State {
    namespaces: Mutex<HashMap<Arc<str>, Revision>>,
    changed: Notify,
}

/// The keys of namespaces: those that change themselves, and those that wait and whose content changes.
pub(super) struct ContentSource {
    namespaces: KindSource,
    name: ResourceName,
    client: Client,
    waiting: Waiting,
    watched: HashMap<Arc<str>, Vec<Watch>>,
}

impl Waiting {
    /// What happens in a namespace after a revision brings its key. One that waits already goes on waiting.
    pub(super) fn enter(&self, namespace: &Arc<str>, after: Revision) {
        if self.namespaces().insert(Arc::clone(namespace), after).is_none() {
            self.0.changed.notify_one();
        }
    }

    /// A namespace waits no more.
    pub(super) fn leave(&self, namespace: &str) {
        if self.namespaces().remove(namespace).is_some() {
            self.0.changed.notify_one();
        }
    }

    fn namespaces(&self) -> MutexGuard<'_, HashMap<Arc<str>, Revision>> {
        self.0.namespaces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ContentSource {
    /// Lists and watches namespaces. Those that wait are entered again when they are looked at.
    ///
    /// # Errors
    /// Where the state that was just taken is no longer in the history.
    pub(super) fn begin(
        resource: &Arc<ServedResource>,
        client: &Client,
        waiting: &Waiting,
    ) -> Result<Self, StoreError> {
        waiting.namespaces().clear();
        Ok(ContentSource {
            namespaces: KindSource::begin(resource, Vec::new(), client)?,
            name: resource.storage_name.clone(),
            client: client.clone(),
            waiting: waiting.clone(),
            watched: HashMap::new(),
        })
    }

    /// Watches what began to wait, and nothing that no longer does.
    fn follow(&mut self) -> Result<(), StoreError> {
        let waiting = self.waiting.namespaces();
        self.watched.retain(|namespace, _| waiting.contains_key(namespace));
        for (namespace, after) in waiting.iter() {
            if !self.watched.contains_key(namespace) {
                let watches = watches(&self.client, namespace, *after)?;
                self.watched.insert(Arc::clone(namespace), watches);
            }
        }
        Ok(())
    }

    async fn next_keys(&mut self) -> Result<Vec<Key>, StoreError> {
        self.follow()?;
        tokio::select! {
            keys = self.namespaces.next() => keys,
            namespaces = changed(&mut self.watched) => {
                let key = |namespace| Key::new(self.name.clone(), "", namespace);
                Ok(namespaces?.into_iter().map(key).collect())
            }
            () = self.waiting.0.changed.notified() => Ok(Vec::new()),
        }
    }
}

impl KeySource for ContentSource {
    fn list(&mut self) -> BoxFuture<'_, Vec<Key>> {
        self.namespaces.list()
    }

    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Key>, StoreError>> {
        Box::pin(self.next_keys())
    }
}

fn watches(client: &Client, namespace: &Arc<str>, after: Revision) -> Result<Vec<Watch>, StoreError> {
    let core = client.core();
    let resources = core.catalog().stored_resources();
    let namespaced = resources.filter(|resource| resource.def.scope == Scope::Namespaced);
    let scope = || StoreScope::Namespace(Arc::clone(namespace));
    namespaced.map(|resource| core.storage().watch(&resource.storage_name, scope(), after)).collect()
}

/// The namespaces whose content changes next.
async fn changed(watched: &mut HashMap<Arc<str>, Vec<Watch>>) -> Result<Vec<Arc<str>>, StoreError> {
    poll_fn(|context| {
        let mut changed = Vec::new();
        for (namespace, watches) in &mut *watched {
            let mut has_changed = false;
            // Each is polled, so that each wakes this task.
            for watch in watches {
                if let Poll::Ready(events) = watch.poll_next(context) {
                    has_changed |= !events?.is_empty();
                }
            }
            if has_changed {
                changed.push(Arc::clone(namespace));
            }
        }
        if changed.is_empty() { Poll::Pending } else { Poll::Ready(Ok(changed)) }
    })
    .await
}
