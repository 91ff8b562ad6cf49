//! What the map of a resource holds under each name: the object, and beside it what lets a scan pass it by.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::object::Object;

/// An object with its digest, which stands in the map itself: a scan that rejects by digests reads the map from
/// one end to the other and follows no pointer.
pub(super) struct Digested {
    object: Arc<Object>,
    /// 0 until somebody asked for it.
    digest: AtomicU64,
}

impl Digested {
    pub(super) fn new(object: Arc<Object>) -> Self {
        Self { object, digest: AtomicU64::new(0) }
    }

    pub(super) fn object(&self) -> &Arc<Object> {
        &self.object
    }

    /// The digest; made by `init` if nobody asked before. `init` always says the same of the same object, so that
    /// it does not matter which of two readers writes it down.
    pub(super) fn digest(&self, init: impl FnOnce(&Object) -> NonZeroU64) -> NonZeroU64 {
        if let Some(known) = NonZeroU64::new(self.digest.load(Ordering::Relaxed)) {
            return known;
        }
        let digest = init(&self.object);
        self.digest.store(digest.get(), Ordering::Relaxed);
        digest
    }
}

impl Clone for Digested {
    fn clone(&self) -> Self {
        Self { object: Arc::clone(&self.object), digest: AtomicU64::new(self.digest.load(Ordering::Relaxed)) }
    }
}
