//! Where the keys of a controller come from: a list first, then what happens.
//!
//! [`KindSource`] finds those of a controller of one kind: the names of all its objects, then those that
//! events of the kind, and of the kinds that trigger it, concern. It keeps no objects.

use std::{future::poll_fn, sync::Arc, task::Poll};

use futures_util::future::BoxFuture;
use orch_registry::{catalog::ServedResource, client::Client};
use orch_storage::{Event, Key, Revision, StoreError, Watch};

use crate::{key::ObjectKey, trigger::Trigger};

/// Finds keys.
pub trait KeySource: Send {
    /// All keys there are now, to begin with. To be called once, first.
    fn list(&mut self) -> BoxFuture<'_, Vec<Key>>;

    /// The keys that the next events concern; waits for events. There may be no keys.
    ///
    /// # Errors
    /// Where events were missed, so that a new source has to begin, and where the store is closed.
    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Key>, StoreError>>;
}

/// The keys of one kind.
pub(crate) struct KindSource {
    resource: Arc<ServedResource>,
    listed: Vec<Key>,
    watched: Vec<Watched>,
}

/// A kind that is watched.
struct Watched {
    resource: Arc<ServedResource>,
    watch: Watch,
    /// Of the controller's own kind there is none: the keys are the names of the objects.
    trigger: Option<Trigger>,
}

impl KindSource {
    /// Lists and watches a kind, and watches those that trigger it, as far as they are served.
    ///
    /// # Errors
    /// Where the state that was just taken is no longer in the history.
    pub(crate) fn begin(
        resource: &Arc<ServedResource>,
        triggers: Vec<Trigger>,
        client: &Client,
    ) -> Result<Self, StoreError> {
        let snapshot = client.snapshot(resource);
        let after = snapshot.revision();
        let own =
            Watched { resource: Arc::clone(resource), watch: client.watch(resource, after)?, trigger: None };
        let mut watched = vec![own];
        for trigger in triggers {
            if let Some(resource) = client.core().catalog().served(trigger.resource()) {
                watched.push(Watched::triggering(resource, trigger, client, after)?);
            }
        }
        // The snapshot itself would keep old states in memory.
        let listed = snapshot.iter().map(|object| object.key().clone()).collect();
        Ok(KindSource { resource: Arc::clone(resource), listed, watched })
    }

    /// The same, which lists these keys too.
    pub(crate) fn and(mut self, more: Vec<ObjectKey>) -> Self {
        let storage_name = &self.resource.storage_name;
        let more = more
            .into_iter()
            .map(|ObjectKey { namespace, name }| Key::new(storage_name.clone(), namespace, name));
        self.listed.extend(more);
        self
    }

    async fn next_keys(&mut self) -> Result<Vec<Key>, StoreError> {
        poll_fn(|context| {
            let mut keys = Vec::new();
            let mut is_pending = true;
            for watched in &mut self.watched {
                if let Poll::Ready(events) = watched.watch.poll_next(context) {
                    is_pending = false;
                    keys.extend(events?.iter().flat_map(|event| watched.keys(&self.resource, event)));
                }
            }
            if is_pending { Poll::Pending } else { Poll::Ready(Ok(keys)) }
        })
        .await
    }
}

impl KeySource for KindSource {
    fn list(&mut self) -> BoxFuture<'_, Vec<Key>> {
        Box::pin(std::future::ready(std::mem::take(&mut self.listed)))
    }

    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Key>, StoreError>> {
        Box::pin(self.next_keys())
    }
}

impl Watched {
    fn triggering(
        resource: &Arc<ServedResource>,
        trigger: Trigger,
        client: &Client,
        after: Revision,
    ) -> Result<Self, StoreError> {
        let watch = client.watch(resource, after)?;
        Ok(Watched { resource: Arc::clone(resource), watch, trigger: Some(trigger) })
    }

    /// The objects of the kind `of` that an event concerns.
    fn keys(&self, of: &ServedResource, event: &Event) -> Vec<Key> {
        let Some(trigger) = &self.trigger else { return vec![event.key().clone()] };
        let named = trigger.keys(&self.resource, event).into_iter();
        named
            .map(|ObjectKey { namespace, name }| Key::new(of.storage_name.clone(), namespace, name))
            .collect()
    }
}
