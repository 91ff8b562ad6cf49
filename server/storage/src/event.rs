//! What a watch delivers: one event per write.

use std::fmt;
use std::sync::Arc;

use crate::clock::Timestamp;
use crate::frame_bytes::{FrameBytes, FrameTotal};
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
    frame_bytes: FrameBytes,
    history_bytes: u64,
}

impl Event {
    pub(crate) fn new(
        kind: EventKind,
        time: Timestamp,
        object: Arc<Object>,
        previous: Option<Arc<Object>>,
        frames: &FrameTotal,
    ) -> Self {
        /// An event, its place in the logs, and an object without its value.
        const OVERHEAD: usize = 384;
        let frame_bytes = FrameBytes::of(frames);
        let removed = if kind == EventKind::Remove { object.size() } else { 0 };
        let replaced = previous.as_ref().map_or(0, |previous| previous.size());
        let history_bytes = (OVERHEAD + removed + replaced) as u64;
        Self { kind, time, object, previous, memo: Memo::default(), frame_bytes, history_bytes }
    }

    /// The same event without what was computed from it.
    pub(crate) fn without_memo(&self) -> Self {
        let (object, previous) = (Arc::clone(&self.object), self.previous.clone());
        let bare = Self::new(self.kind, self.time, object, previous, self.frame_bytes.total());
        // The sum of all events stays right.
        Self { history_bytes: self.history_bytes, ..bare }
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

    /// What was computed from this event before, or now by `init`: one value per type `T`. Frames ready to
    /// send, shared by all watchers. It is kept as long as there is room for it, and made again after that.
    pub fn memo<T: Send + Sync + 'static>(&self, init: impl FnOnce(&Self) -> T) -> &T {
        self.memo.get_or_init(|| init(self))
    }

    /// Says that a value of [`memo`](Event::memo) holds this many bytes, or that many more. They count as
    /// memory of the history.
    pub fn memo_grows(&self, bytes: usize) {
        self.frame_bytes.add(bytes);
    }

    /// Says that a value of [`memo`](Event::memo) gave up this many of the bytes that it had.
    pub fn memo_shrinks(&self, bytes: usize) {
        self.frame_bytes.subtract(bytes);
    }

    /// The bytes of [`memo_grows`](Event::memo_grows).
    pub(crate) fn memo_bytes(&self) -> u64 {
        self.frame_bytes.get()
    }

    /// Memory in bytes that is held only because history is kept: what the event replaced, without what was
    /// computed from it, and the event itself.
    pub(crate) fn history_bytes(&self) -> u64 {
        self.history_bytes
    }

    /// The states that are in memory only because of this event.
    pub(crate) fn departed(&self) -> impl Iterator<Item = &Arc<Object>> {
        let removed = (self.kind == EventKind::Remove).then_some(&self.object);
        self.previous.iter().chain(removed)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({:?} {:?}, was {:?})", self.kind, self.object, self.previous)
    }
}
