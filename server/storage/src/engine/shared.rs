//! What readers, watches and the writer share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::watch as signal;

use super::event_log::Hub;
use super::history::HistoryMeter;
use super::state::State;
use crate::error::StoreError;
use crate::key::ResourceName;
use crate::revision::Revision;

/// The newest state, and the logs of all resources.
pub(super) struct Shared {
    pub(super) state: ArcSwap<State>,
    pub(super) hubs: ArcSwap<HashMap<ResourceName, Arc<Hub>>>,
    /// Held while a hub is added, so that two threads do not add the same one.
    adding: Mutex<()>,
    /// History up to here was dropped before this process began, or on request. Watches that began before
    /// then do not go by it: their logs know what they have seen.
    pub(super) begins_after: AtomicU64,
    /// The revision of `state`, for those who wait for it.
    pub(super) reached: signal::Sender<Revision>,
    pub(super) closed: AtomicBool,
    pub(super) history: Arc<HistoryMeter>,
}

impl Shared {
    pub(super) fn new(state: State, begins_after: Revision, history: Arc<HistoryMeter>) -> Self {
        Self {
            reached: signal::Sender::new(state.revision),
            state: ArcSwap::from_pointee(state),
            hubs: ArcSwap::default(),
            adding: Mutex::default(),
            begins_after: AtomicU64::new(begins_after.get()),
            closed: AtomicBool::new(false),
            history,
        }
    }

    /// The revision of the newest state that readers see.
    pub(super) fn revision(&self) -> Revision {
        self.state.load().revision
    }

    /// Whether the writer has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// [`StoreError::Expired`] if history does not reach back to `asked`.
    pub(super) fn covers(&self, asked: Revision) -> Result<(), StoreError> {
        let oldest = self.begins_after();
        if asked < oldest { Err(StoreError::Expired { asked, oldest }) } else { Ok(()) }
    }

    /// The logs of `resource`; made on first use, by a reader or by the writer.
    pub(super) fn hub(&self, resource: &ResourceName) -> Arc<Hub> {
        if let Some(hub) = self.hubs.load().get(resource) {
            return Arc::clone(hub);
        }
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hubs = HashMap::clone(&self.hubs.load());
        let hub =
            hubs.entry(resource.clone()).or_insert_with(|| Arc::new(Hub::new(self.begins_after()))).clone();
        self.hubs.store(Arc::new(hubs));
        hub
    }

    fn begins_after(&self) -> Revision {
        Revision::new(self.begins_after.load(Ordering::Acquire))
    }
}
