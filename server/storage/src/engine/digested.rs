//! What the map of a resource holds under each name: the object, and a digest that lets a scan skip it.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::object::Object;

/// An object with its digest. The digest is in the map itself, so that a scan that skips objects by their
/// digests reads the map from one end to the other and follows no pointers.
pub(super) struct Digested {
    object: Arc<Object>,
    /// 0 until it is asked for.
    digest: AtomicU64,
}

impl Digested {
    pub(super) fn new(object: Arc<Object>) -> Self {
        Self { object, digest: AtomicU64::new(0) }
    }

    pub(super) fn object(&self) -> &Arc<Object> {
        &self.object
    }

    /// The digest; computed by `init` the first time. `init` always returns the same for the same object, so
    /// it does not matter which of two readers stores it.
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
