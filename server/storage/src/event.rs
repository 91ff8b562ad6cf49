//! What a watch delivers: one event per write.

use std::fmt;
use std::sync::Arc;

use crate::clock::Timestamp;
use crate::key::Key;
use crate::memo::Memo;
use crate::object::Object;
use crate::revision::Revision;

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The object was created (no previous state) or replaced.
    Put,
    /// The object was removed.
    Remove,
}

/// One write, as watchers see it. Shared by all of them.
pub struct Event {
    kind: EventKind,
    time: Timestamp,
    object: Arc<Object>,
    previous: Option<Arc<Object>>,
    memo: Memo,
}

impl Event {
    pub(crate) fn new(
        kind: EventKind,
        time: Timestamp,
        object: Arc<Object>,
        previous: Option<Arc<Object>>,
    ) -> Self {
        Self { kind, time, object, previous, memo: Memo::default() }
    }

    /// What happened.
    pub fn kind(&self) -> EventKind {
        self.kind
    }

    /// The revision of the write.
    pub fn revision(&self) -> Revision {
        self.object.revision()
    }

    /// The object that it happened to.
    pub fn key(&self) -> &Key {
        self.object.key()
    }

    /// When the write was committed.
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// The new state; of a removal the last state, with the revision of the removal.
    pub fn object(&self) -> &Arc<Object> {
        &self.object
    }

    /// The state before; none for a creation.
    pub fn previous(&self) -> Option<&Arc<Object>> {
        self.previous.as_ref()
    }

    /// What was computed from this event before, or now by `init`: one value per type `T`, for as long as
    /// the event is in memory. Frames ready to send, shared by all watchers.
    pub fn memo<T: Send + Sync + 'static>(&self, init: impl FnOnce(&Self) -> T) -> &T {
        self.memo.get_or_init(|| init(self))
    }

    /// Memory in bytes that is held only because history is kept: what the event replaced, and itself.
    pub(crate) fn history_bytes(&self) -> u64 {
        /// An event, its place in the logs, and an object without its value.
        const OVERHEAD: usize = 320;
        let removed = if self.kind == EventKind::Remove { self.object.size() } else { 0 };
        (OVERHEAD + removed + self.previous.as_ref().map_or(0, |previous| previous.size())) as u64
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({:?} {:?}, was {:?})", self.kind, self.object, self.previous)
    }
}
