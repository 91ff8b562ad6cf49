//! The authorities that clients of this server trust, and what follows them: the config map of each
//! namespace, and secrets with tokens.

use std::{future::pending, sync::Arc};

use futures_util::future::BoxFuture;
use orch_registry::{catalog::ServedResource, client::Client};
use orch_storage::{Key, StoreError};
use tokio::sync::watch;

use crate::{
    source::{KeySource, KindSource},
    trigger::Trigger,
};

/// PEM of the authorities that the serving certificate is trusted by, as it is now. `None` where clients
/// trust it by the authorities of their system.
pub type Trust = watch::Receiver<Option<String>>;

/// The keys of one kind; all of them again when the authorities change.
pub(super) struct FollowingTrust {
    keys: KindSource,
    trust: Trust,
    client: Client,
    resource: Arc<ServedResource>,
}

impl FollowingTrust {
    /// Lists and watches a kind, and what triggers it.
    ///
    /// # Errors
    /// Where the state that was just taken is no longer in the history.
    pub(super) fn begin(
        resource: &Arc<ServedResource>,
        triggers: Vec<Trigger>,
        trust: &Trust,
        client: &Client,
    ) -> Result<Self, StoreError> {
        let mut trust = trust.clone();
        // What is listed from here on sees what there is now.
        trust.mark_unchanged();
        let keys = KindSource::begin(resource, triggers, client)?;
        Ok(FollowingTrust { keys, trust, client: client.clone(), resource: Arc::clone(resource) })
    }

    async fn next_keys(&mut self) -> Result<Vec<Key>, StoreError> {
        let changed = async {
            if self.trust.changed().await.is_err() {
                // Nobody will change it any more.
                pending::<()>().await;
            }
        };
        tokio::select! {
            keys = self.keys.next() => keys,
            () = changed => {
                let snapshot = self.client.snapshot(&self.resource);
                Ok(snapshot.iter().map(|object| object.key().clone()).collect())
            }
        }
    }
}

impl KeySource for FollowingTrust {
    fn list(&mut self) -> BoxFuture<'_, Vec<Key>> {
        self.keys.list()
    }

    fn next(&mut self) -> BoxFuture<'_, Result<Vec<Key>, StoreError>> {
        Box::pin(self.next_keys())
    }
}
