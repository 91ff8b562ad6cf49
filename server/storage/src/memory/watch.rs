//! Following a resource from a revision on.

use std::sync::Arc;

use tokio::sync::watch as signal;

use super::Memory;
use super::event_log::{EventLog, Hub};
use crate::error::StoreError;
use crate::event::Event;
use crate::key::Scope;
use crate::revision::Revision;

/// How many events one call to [`Watch::next`] returns at most.
const BATCH: usize = 128;

/// A reader of events: every event in its scope after the revision that it was started at, in order, each once.
///
/// It holds no events of its own. A reader that is slower than history is kept gets
/// [`StoreError::Expired`] and must start over from a snapshot.
pub struct Watch {
    memory: Memory,
    hub: Arc<Hub>,
    log: Arc<EventLog>,
    scope: Scope,
    cursor: Revision,
    /// None only while it is dropped.
    wake: Option<signal::Receiver<()>>,
}

impl Watch {
    pub(super) fn new(
        memory: Memory,
        hub: Arc<Hub>,
        scope: Scope,
        after: Revision,
    ) -> Result<Self, StoreError> {
        let (log, wake) = hub.subscribe(&scope, after)?;
        Ok(Self { memory, hub, log, scope, cursor: after, wake: Some(wake) })
    }

    /// The next events, at least one; waits for them. [`StoreError::Expired`] if some were missed,
    /// [`StoreError::Closed`] when the store has shut down and all events were read. Dropping the future loses
    /// nothing.
    pub async fn next(&mut self) -> Result<Vec<Arc<Event>>, StoreError> {
        loop {
            // In this order: whatever comes after the mark wakes us, whatever came before it is read.
            if let Some(wake) = &mut self.wake {
                wake.mark_unchanged();
            }
            let closed = self.memory.is_closed();
            let events = self.take()?;
            if !events.is_empty() {
                return Ok(events);
            }
            let woken = match &mut self.wake {
                Some(wake) if !closed => wake.changed().await.is_ok(),
                _ => false,
            };
            if !woken {
                return Err(StoreError::Closed);
            }
        }
    }

    /// The next events if there are any now, else none.
    pub fn take(&mut self) -> Result<Vec<Arc<Event>>, StoreError> {
        let events = self.log.read(self.cursor, self.memory.revision(), BATCH)?;
        if let Some(newest) = events.last() {
            self.cursor = newest.revision();
        }
        Ok(events)
    }

    /// The newest revision up to which everything in scope has been returned. A watch that is started after it
    /// continues this one. This is what a bookmark tells.
    pub fn progress(&mut self) -> Revision {
        let newest = self.memory.revision();
        if newest > self.cursor && self.log.read(self.cursor, newest, 1).is_ok_and(|events| events.is_empty())
        {
            self.cursor = newest;
        }
        self.cursor
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.wake.take());
        self.hub.release(&self.scope);
    }
}
