//! When the log is told of what happens over and over.

use std::{
    mem,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How often the log is told at most.
const PERIOD: Duration = Duration::from_mins(1);

/// Something that may happen with each request. The log is told of it when it begins, and once a minute
/// while it goes on.
#[derive(Debug, Default)]
pub struct Recurrence(Mutex<Happened>);

#[derive(Debug, Default)]
struct Happened {
    /// When the log was told.
    told: Option<Instant>,
    /// How often since then.
    since: u64,
}

impl Recurrence {
    /// It has happened. Where the log is to be told of that, returns how often since it was told last.
    pub fn count(&self, now: Instant) -> Option<u64> {
        // A panic elsewhere leaves the counts usable.
        let mut happened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        happened.since += 1;
        if happened.told.is_some_and(|told| now.saturating_duration_since(told) < PERIOD) {
            return None;
        }
        happened.told = Some(now);
        Some(mem::take(&mut happened.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_told_when_it_begins_and_once_a_minute() {
        let (recurrence, start) = (Recurrence::default(), Instant::now());
        assert_eq!(recurrence.count(start), Some(1));
        for _ in 0..1000 {
            assert_eq!(recurrence.count(start + Duration::from_secs(59)), None);
        }
        assert_eq!(recurrence.count(start + PERIOD), Some(1001));
        assert_eq!(recurrence.count(start + PERIOD), None);
        assert_eq!(recurrence.count(start + 10 * PERIOD), Some(2));
    }
}
