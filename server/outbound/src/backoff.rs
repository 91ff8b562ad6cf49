//! Pauses between attempts.

use std::time::Duration;

/// How often a call is tried, and how long the pauses are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// The first pause.
    pub initial: Duration,
    /// By how much each pause is longer than the one before.
    pub factor: f64,
    /// The share of a pause that is added at random, so that callers do not come back together.
    pub jitter: f64,
    /// All attempts.
    pub attempts: u32,
}

impl Default for Backoff {
    /// As webhooks are called by the reference: five attempts, from half a second on.
    fn default() -> Self {
        Backoff { initial: Duration::from_millis(500), factor: 1.5, jitter: 0.2, attempts: 5 }
    }
}

impl Backoff {
    /// One attempt.
    pub const ONCE: Backoff = Backoff { initial: Duration::ZERO, factor: 1.0, jitter: 0.0, attempts: 1 };

    /// The pause after an attempt, which is counted from 1; `None` after the last one. `random` is in `0..1`.
    pub fn pause(&self, attempt: u32, random: f64) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        let growth = self.factor.powi(i32::try_from(attempt - 1).unwrap_or(i32::MAX));
        Some(self.initial.mul_f64(growth * (1.0 + self.jitter * random)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    #[test]
    fn pauses_grow_until_the_last_attempt() {
        let backoff = Backoff::default();
        let pauses: Vec<_> = (1..=5).map(|attempt| backoff.pause(attempt, 0.0)).collect();
        let millis = |millis: f64| Some(Duration::from_secs_f64(millis / 1000.0));
        assert_eq!(pauses, [millis(500.0), millis(750.0), millis(1125.0), millis(1687.5), None]);
        assert_eq!(backoff.pause(1, 1.0), millis(600.0));
        assert_eq!(Backoff::ONCE.pause(1, 0.5), None);
    }
}
