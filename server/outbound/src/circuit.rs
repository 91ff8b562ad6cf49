//! When a target that cannot be reached is not called for a while.
//!
//! Requests wait for webhooks. If each of them waited for the deadline of a target that is gone, they would
//! fill the server. So after some failures in a row calls fail at once; after a pause one call tries whether
//! the target is back, and the next pause is longer if it is not.

use std::time::{Duration, Instant};

/// Calls in a row that must fail.
const FAILURES: u32 = 5;
/// The first pause, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// What is known about a target.
#[derive(Debug, Default)]
pub struct Circuit {
    failures: u32,
    /// Not called before this time, but for one call that tries.
    closed_until: Option<Instant>,
    pause: Duration,
}

impl Circuit {
    /// Whether a call may be made now. Where the target has failed often, one call is let through after each
    /// pause; its result must be told.
    pub fn admits(&mut self, now: Instant) -> bool {
        let Some(until) = self.closed_until else { return true };
        if now < until {
            return false;
        }
        // The next ones wait until this one is told, or for another pause if it never is.
        self.closed_until = Some(now + self.pause);
        true
    }

    /// Whether the target has failed often, and not answered since.
    pub fn has_opened(&self) -> bool {
        self.closed_until.is_some()
    }

    /// The target answered.
    pub fn succeeded(&mut self) {
        *self = Circuit::default();
    }

    /// The target could not be talked to.
    pub fn failed(&mut self, now: Instant) {
        self.failures += 1;
        if self.failures >= FAILURES {
            let longer = (self.pause * 2).min(LONGEST_PAUSE);
            self.pause = if self.pause.is_zero() { FIRST_PAUSE } else { longer };
            self.closed_until = Some(now + self.pause);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Circuit, FAILURES, LONGEST_PAUSE};

    #[test]
    fn one_call_tries_after_each_pause() {
        let (mut circuit, start) = (Circuit::default(), Instant::now());
        for _ in 1..FAILURES {
            circuit.failed(start);
            assert!(circuit.admits(start));
        }
        circuit.failed(start);
        assert!(!circuit.admits(start));
        let later = start + Duration::from_millis(500);
        assert!(circuit.admits(later), "one call tries");
        assert!(!circuit.admits(later), "the others wait for its result");
        circuit.failed(later);
        assert!(!circuit.admits(later + Duration::from_millis(999)), "the pause is longer");
        assert!(circuit.admits(later + Duration::from_secs(1)));
        circuit.succeeded();
        assert!(circuit.admits(later));
    }

    #[test]
    fn pauses_are_bounded() {
        let (mut circuit, start) = (Circuit::default(), Instant::now());
        for _ in 0..1000 {
            circuit.failed(start);
        }
        assert!(circuit.admits(start + LONGEST_PAUSE));
    }
}
