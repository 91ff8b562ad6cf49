//! How much memory the encoded forms of events hold. They are made by readers, kept with the events, and can
//! be made again; so they are counted beside the history, and dropped before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of all events of one memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrameTotal(Arc<AtomicU64>);

/// The bytes of one event. They leave the total when the event leaves memory, whoever holds it last.
#[derive(Debug)]
pub(crate) struct FrameBytes {
    own: AtomicU64,
    total: FrameTotal,
}

impl FrameTotal {
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl FrameBytes {
    pub(crate) fn of(total: &FrameTotal) -> Self {
        Self { own: AtomicU64::new(0), total: total.clone() }
    }

    pub(crate) fn total(&self) -> &FrameTotal {
        &self.total
    }

    pub(crate) fn get(&self) -> u64 {
        self.own.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.own.fetch_add(bytes as u64, Ordering::Relaxed);
        self.total.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// The caller has added as many before.
    pub(crate) fn subtract(&self, bytes: usize) {
        self.own.fetch_sub(bytes as u64, Ordering::Relaxed);
        self.total.0.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}

impl Drop for FrameBytes {
    fn drop(&mut self) {
        self.total.0.fetch_sub(self.get(), Ordering::Relaxed);
    }
}
