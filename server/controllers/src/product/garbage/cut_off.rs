//! Deletions that were cut off.
//!
//! A kind with a grace period is deleted in two writes: watchers see the object marked as deleted, then gone.
//! A server that dies between the two leaves an object that nobody ends. It looks like one whose removal is
//! on its way, so it is removed only when it has looked so for a while.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use orch_storage::{Key, Revision};
use tokio::time::Instant;

/// Much longer than the second write takes. A DELETE whose object somebody else removes is told that there is
/// none.
const PATIENCE: Duration = Duration::from_secs(3);

/// Objects whose removal is on its way or was cut off, by the state in which they wait, and since when.
#[derive(Default)]
pub(super) struct CutOff(Mutex<HashMap<Key, (Revision, Instant)>>);

impl CutOff {
    /// How much longer the removal of an object may take; `None` where it was cut off.
    pub(super) fn wait(&self, key: &Key, state: Revision, now: Instant) -> Option<Duration> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = match waiting.get(key) {
            Some((known, since)) if *known == state => *since,
            _ => {
                waiting.insert(key.clone(), (state, now));
                now
            }
        };
        let left = PATIENCE.saturating_sub(now - since);
        (!left.is_zero()).then_some(left)
    }

    /// The object is gone, or is not to be removed.
    pub(super) fn forget(&self, key: &Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    /// Knows of no object.
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
