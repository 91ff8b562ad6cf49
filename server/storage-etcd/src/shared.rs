//! What callers and the follower share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use orch_storage::engine::Memory;
use orch_storage::{Clock, ResourceName, Revision, StoreError};
use tokio::time::{Instant, timeout_at};

use crate::client::Client;
use crate::form::Form;
use crate::keys::Keys;
use crate::load::Reader;
use crate::mark::Mark;
use crate::pending::Pending;

/// One open store.
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) keys: Keys,
    pub(crate) form: Form,
    pub(crate) timeout: Duration,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) memory: Memory,
    pub(crate) pending: Pending,
    pub(crate) claims: Claims,
    pub(crate) mark: Mark,
}

/// The revisions at which terms were claimed last, by resource.
///
/// A revision that is read here is visible in memory already, so whoever reads it first and looks at memory
/// then misses no term that was claimed up to it.
#[derive(Default)]
pub(crate) struct Claims(Mutex<HashMap<ResourceName, Revision>>);

impl Claims {
    /// 0 where none was claimed.
    pub(crate) fn of(&self, resource: &ResourceName) -> Revision {
        self.locked().get(resource).copied().unwrap_or_default()
    }

    /// To be called when memory shows `revision`.
    pub(crate) fn changed(&self, resource: ResourceName, revision: Revision) {
        self.locked().insert(resource, revision);
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<ResourceName, Revision>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { client: &self.client, keys: &self.keys, timeout: self.timeout }
    }

    /// When a caller that comes now has waited long enough.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    /// Returns when memory shows `revision`.
    pub(crate) async fn reach(&self, revision: Revision, deadline: Instant) -> Result<(), StoreError> {
        if self.memory.revision() >= revision {
            return Ok(());
        }
        let reached = timeout_at(deadline, self.memory.reach(revision)).await;
        reached.unwrap_or_else(|_| {
            let detail = format!("the watch of etcd has not brought revision {revision} yet");
            Err(StoreError::Unreachable { detail: detail.into() })
        })
    }
}

/// The error of a write for which other ones leave no time.
pub(crate) fn too_late() -> StoreError {
    StoreError::Unreachable { detail: "the writes before have taken all the time".into() }
}
