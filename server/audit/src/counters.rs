//! What is counted, for the metrics of the server.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::policy::Level;

/// A part in which an event can be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    /// The log file.
    Log,
    /// The webhook.
    Webhook,
    /// A buffer that was full.
    Buffered,
    /// An event that is too large even without its objects.
    Truncate,
}

impl Plugin {
    /// Every one.
    pub const ALL: [Plugin; 4] = [Plugin::Log, Plugin::Webhook, Plugin::Buffered, Plugin::Truncate];

    /// As in the metric.
    pub fn name(self) -> &'static str {
        match self {
            Plugin::Log => "log",
            Plugin::Webhook => "webhook",
            Plugin::Buffered => "buffered",
            Plugin::Truncate => "truncate",
        }
    }
}

/// All counts since the start.
#[derive(Debug, Default)]
pub struct Counters {
    events: AtomicU64,
    rejected: AtomicU64,
    levels: [AtomicU64; Level::ALL.len()],
    errors: [AtomicU64; Plugin::ALL.len()],
}

impl Counters {
    /// Events that were made.
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Requests that were refused because their event could not be recorded.
    pub fn rejected(&self) -> u64 {
        self.rejected.load(Ordering::Relaxed)
    }

    /// Requests by the level that the policy gave them.
    pub fn of_level(&self, level: Level) -> u64 {
        self.levels[level as usize].load(Ordering::Relaxed)
    }

    /// Events that were lost.
    pub fn errors(&self, plugin: Plugin) -> u64 {
        self.errors[plugin as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn made(&self) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self) {
        self.rejected.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn judged(&self, level: Level) {
        self.levels[level as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self, plugin: Plugin, events: usize) {
        self.errors[plugin as usize].fetch_add(events as u64, Ordering::Relaxed);
    }
}
