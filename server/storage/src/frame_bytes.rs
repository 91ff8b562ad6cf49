//! How much memory is held by what readers compute and keep: the encoded forms of events, which can be made
//! again, and so are counted beside the history and dropped before it; and copies of states that are history.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of all events, or of all departed states, of one memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrameTotal(Arc<AtomicU64>);

/// The bytes of one event. They leave the total when the event leaves memory, whoever holds it last.
#[derive(Debug)]
pub(crate) struct FrameBytes {
    own: AtomicU64,
    total: FrameTotal,
}

impl FrameTotal {
    /// Additions and subtractions of several threads may be seen in another order, so a sum below zero is
    /// zero.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed).cast_signed().max(0).cast_unsigned()
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn subtract(&self, bytes: usize) {
        self.0.fetch_sub(bytes as u64, Ordering::Relaxed);
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
        self.total.add(bytes);
    }

    /// The caller has added as many before.
    pub(crate) fn subtract(&self, bytes: usize) {
        self.own.fetch_sub(bytes as u64, Ordering::Relaxed);
        self.total.subtract(bytes);
    }
}

impl Drop for FrameBytes {
    fn drop(&mut self) {
        self.total.0.fetch_sub(self.get(), Ordering::Relaxed);
    }
}
