//! One stored state of an object, and what readers computed from it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use crate::frame_bytes::FrameTotal;
use crate::key::{Key, ObjectName};
use crate::memo::Memo;
use crate::revision::Revision;
use crate::sealing::Seal;

/// One state of one object: never changed, shared by every snapshot and event that shows it.
pub struct Object {
    key: Arc<Key>,
    revision: Revision,
    value: Result<Bytes, Corrupt>,
    memo: Memo,
    /// With the bit [`DEPARTED`].
    memo_bytes: AtomicUsize,
}

/// Set while a state counts as history. It is in one number with the bytes, so that none are counted twice,
/// and none left out, where a reader computes something while the state is replaced.
const DEPARTED: usize = 1 << (usize::BITS - 1);

/// Where the bytes of a state count that departed. It is kept with the other memos: most states never need
/// it.
struct DepartedTotal(FrameTotal);

/// A stored value that is not what was written: its checksum does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored value of revision {revision} is damaged: {detail}")]
pub struct Corrupt {
    /// The revision of the damaged row.
    pub revision: Revision,
    /// What does not fit, for the operator.
    pub detail: Arc<str>,
}

impl Object {
    pub(crate) fn new(key: Arc<Key>, revision: Revision, value: Result<Bytes, Corrupt>) -> Self {
        Self { key, revision, value, memo: Memo::default(), memo_bytes: AtomicUsize::new(0) }
    }

    /// Its name.
    pub fn key(&self) -> &Key {
        &self.key
    }

    pub(crate) fn shared_key(&self) -> Arc<Key> {
        Arc::clone(&self.key)
    }

    pub(crate) fn object_name(&self) -> ObjectName {
        ObjectName::new(self.key.name_ref())
    }

    /// The revision of the write that made this state.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The bytes as they were written, with the revision in them; or why they cannot be trusted.
    pub fn value(&self) -> Result<&Bytes, &Corrupt> {
        self.value.as_ref()
    }

    /// What was computed from this state before, or now by `init`: one value per type `T`, for as long as
    /// the state is in memory. Decoded labels, an encoding in another format.
    pub fn memo<T: Send + Sync + 'static>(&self, init: impl FnOnce(&Self) -> T) -> &T {
        self.memo.get_or_init(|| init(self))
    }

    /// What [`memo`](Object::memo) keeps of type `T`, if somebody has asked for it.
    pub fn known<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.memo.get()
    }

    /// Says that a value of [`memo`](Object::memo) holds this many bytes. They count as memory of the history
    /// while the state is in memory because of that: from when it is replaced until that event is forgotten.
    pub fn memo_grows(&self, bytes: usize) {
        let before = self.memo_bytes.fetch_add(bytes, Ordering::AcqRel);
        if before & DEPARTED != 0
            && let Some(total) = self.memo.get::<DepartedTotal>()
        {
            total.0.add(bytes);
        }
    }

    /// The state is history from now on: what was and will be computed from it counts in `total`.
    pub(crate) fn enter_history(&self, total: &FrameTotal) {
        self.memo.get_or_init(|| DepartedTotal(total.clone()));
        let before = self.memo_bytes.fetch_or(DEPARTED, Ordering::AcqRel);
        if before & DEPARTED == 0 {
            total.add(before);
        }
    }

    /// History has forgotten the state: who still has it holds it for itself.
    pub(crate) fn leave_history(&self, total: &FrameTotal) {
        let before = self.memo_bytes.fetch_and(!DEPARTED, Ordering::AcqRel);
        if before & DEPARTED != 0 {
            total.subtract(before & !DEPARTED);
        }
    }

    /// The bytes of what was computed from this state.
    pub(crate) fn memo_bytes(&self) -> u64 {
        (self.memo_bytes.load(Ordering::Relaxed) & !DEPARTED) as u64
    }

    /// The key under which a store keeps this state; none where it is kept as it is.
    pub fn seal(&self) -> Option<Seal> {
        self.memo.get().copied()
    }

    /// Remembers the key under which a store keeps this state. Only the first one counts.
    pub fn kept_under(&self, seal: Seal) {
        self.memo.get_or_init(|| seal);
    }

    /// The size of the value in bytes; 0 if it is damaged.
    pub fn size(&self) -> usize {
        self.value.as_ref().map_or(0, Bytes::len)
    }
}

impl fmt::Debug for Object {
    /// Without the value, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({} at {}, {} bytes)", self.key, self.revision, self.size())
    }
}
