//! Time as a parameter.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub u64);

/// Where the store reads the time from.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The time now. It may jump in both directions; the store lets no jump change the order of writes.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

/// A clock that stands still until it is told to move; for tests.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl Timestamp {
    /// The time `duration` earlier, or the epoch.
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl ManualClock {
    /// A clock that stands at `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(AtomicU64::new(now.0))
    }

    /// Moves it forward.
    pub fn advance(&self, duration: Duration) {
        self.0.fetch_add(duration.as_millis() as u64, Ordering::Relaxed);
    }

    /// Moves it back, as an administrator does to a real one.
    pub fn set_back(&self, duration: Duration) {
        self.0.fetch_sub(duration.as_millis() as u64, Ordering::Relaxed);
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(since.as_millis() as u64)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}
