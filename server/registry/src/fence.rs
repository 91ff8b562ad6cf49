//! A fence: writes of a part of the server commit only as long as a lease is held.
//!
//! Of several servers over one store, the one that holds the lease does the work. A server may have lost it
//! and not know that yet, because it was stopped for a while or cut off. So each of its writes has the
//! condition that the lease is still in the state in which it was held last; the store checks that at the
//! instant of the commit, whatever clocks say.

use std::sync::atomic::{AtomicU64, Ordering};

use orch_storage::{Condition, Key, Revision, StoreError};

use crate::error::ApiError;

/// See the module.
#[derive(Debug)]
pub struct Fence {
    lease: Key,
    /// The revision of the lease under which it is held; 0 where it is not.
    held: AtomicU64,
}

impl Fence {
    /// Around what is done under this lease, which is not held yet.
    pub fn of(lease: Key) -> Self {
        Fence { lease, held: AtomicU64::new(0) }
    }

    /// The lease.
    pub fn lease(&self) -> &Key {
        &self.lease
    }

    /// The lease is held, and this is its newest state. An older one than is known changes nothing.
    pub fn hold(&self, revision: Revision) {
        self.held.fetch_max(revision.get(), Ordering::AcqRel);
    }

    /// The lease is not held any more: nothing is written from now on.
    pub fn end(&self) {
        self.held.store(0, Ordering::Release);
    }

    /// Whether the lease is held, as far as is known.
    pub fn is_held(&self) -> bool {
        self.held.load(Ordering::Acquire) > 0
    }

    /// What must hold when a write commits.
    ///
    /// # Errors
    /// 503 where the lease is not held.
    pub(crate) fn condition(&self) -> Result<Condition, ApiError> {
        match self.held.load(Ordering::Acquire) {
            0 => Err(not_held()),
            held => Ok(Condition::At { key: self.lease.clone(), revision: Revision::new(held) }),
        }
    }

    /// Whether a write failed because the lease is not held any more. Where it only was renewed meanwhile,
    /// the write can run again.
    pub(crate) fn has_ended(&self, error: &StoreError) -> bool {
        let StoreError::ConditionFailed { condition, .. } = error else { return false };
        matches!(&**condition, Condition::At { key, .. } if *key == self.lease) && !self.is_held()
    }
}

/// 503: this server must not do that now.
pub(crate) fn not_held() -> ApiError {
    ApiError::Unavailable("another server does this now".to_owned())
}
