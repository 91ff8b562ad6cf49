//! How many seats a level could use, over time: those in use and those that are waited for.

use crate::{Nanos, SECOND};

/// The share of the past in the smoothed demand, which falls slowly and rises at once (KEP-1040).
const SMOOTHING: f64 = 0.977;

/// Watches the demand of one level.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand {
    seats: u32,
    highest: u32,
    began: Nanos,
    changed: Nanos,
    /// Integrals over time of the seats and of their square, since `began`.
    integral: f64,
    of_squares: f64,
}

/// The demand over one period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observed {
    /// The most seats at a time.
    pub highest: u32,
    /// The average and the standard deviation over time; none where no time has passed.
    pub spread: Option<(f64, f64)>,
}

/// What is kept of the demand of past periods.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Smoothed {
    /// The most seats at a time in the last period.
    pub highest: u32,
    /// The average and the standard deviation in the last period that had a length.
    pub spread: (f64, f64),
    /// The demand that is expected, in seats.
    pub expected: f64,
}

impl Demand {
    /// Without any, from now on.
    pub fn begin(now: Nanos) -> Self {
        Demand { began: now, changed: now, ..Demand::default() }
    }

    /// Notes how many seats could be used from now on.
    pub fn set(&mut self, now: Nanos, seats: u32) {
        self.pass(now);
        self.seats = seats;
        self.highest = self.highest.max(seats);
    }

    /// The demand since the last call; a new period begins.
    pub fn take(&mut self, now: Nanos) -> Observed {
        self.pass(now);
        let duration = seconds(now.saturating_sub(self.began));
        let spread = (duration > 0.0).then(|| {
            let average = self.integral / duration;
            let variance = self.of_squares / duration - average * average;
            // Rounding may leave a variance of nothing below 0.
            (average, variance.max(0.0).sqrt())
        });
        let observed = Observed { highest: self.highest, spread };
        *self = Demand { seats: self.seats, highest: self.seats, ..Demand::begin(now) };
        observed
    }

    fn pass(&mut self, now: Nanos) {
        let (passed, seats) = (seconds(now.saturating_sub(self.changed)), f64::from(self.seats));
        self.integral += seats * passed;
        self.of_squares += seats * seats * passed;
        self.changed = self.changed.max(now);
    }
}

impl Smoothed {
    /// Adds a period.
    pub fn add(&mut self, observed: Observed) {
        self.highest = observed.highest;
        if let Some((average, deviation)) = observed.spread {
            let envelope = average + deviation;
            self.spread = (average, deviation);
            self.expected = envelope.max(SMOOTHING * self.expected + (1.0 - SMOOTHING) * envelope);
        }
    }
}

fn seconds(nanos: Nanos) -> f64 {
    nanos as f64 / SECOND as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demand_is_weighted_by_time() {
        let mut demand = Demand::default();
        demand.set(SECOND, 4);
        demand.set(2 * SECOND, 9);
        demand.set(2 * SECOND, 2);
        // One second of 0, one of 4, two of 2: the average is 2, of squares 6.
        let observed = demand.take(4 * SECOND);
        assert_eq!(observed.highest, 9);
        let (average, deviation) = observed.spread.unwrap();
        assert!((average - 2.0).abs() < 1e-9 && (deviation - 2f64.sqrt()).abs() < 1e-9, "{observed:?}");
        // What is in use stays so.
        let observed = demand.take(5 * SECOND);
        assert_eq!(observed, Observed { highest: 2, spread: Some((2.0, 0.0)) });
        assert_eq!(demand.take(5 * SECOND).spread, None);
    }

    #[test]
    fn expected_demand_rises_at_once_and_falls_slowly() {
        let of = |average| Observed { highest: 1, spread: Some((average, 0.0)) };
        let mut smoothed = Smoothed::default();
        smoothed.add(of(100.0));
        assert!((smoothed.expected - 100.0).abs() < 1e-9);
        smoothed.add(of(0.0));
        assert!((smoothed.expected - 97.7).abs() < 1e-9);
        smoothed.add(of(10.0));
        assert!((smoothed.expected - (97.7 * 0.977 + 0.23)).abs() < 1e-9);
        smoothed.add(Observed { highest: 7, spread: None });
        assert!((smoothed.expected - (97.7 * 0.977 + 0.23)).abs() < 1e-9);
        assert_eq!((smoothed.highest, smoothed.spread), (7, (10.0, 0.0)));
    }
}
