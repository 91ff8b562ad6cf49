//! How many seats a level could use, over time: those in use and those that are waited for.

use crate::Nanos;

/// The share of the past in the smoothed demand, which falls slowly and rises at once (KEP-1040).
const SMOOTHING: f64 = 0.977;

/// Upper bounds of the demand, in parts of the seats that its shares give a level: those of the reference.
pub const BOUNDS: [f64; 12] = [0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0, 6.0];

/// Watches the demand of one level.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    seats: u32,
    highest: u32,
    began: Nanos,
    changed: Nanos,
    /// Integrals over time, in nanoseconds, of the seats and of their square, since `began`. They are whole
    /// numbers: they are summed for each request, and divided when they are read.
    integral: u64,
    of_squares: u128,
    /// The seats that the demand is compared with, at least one.
    nominal: u32,
    /// The most seats below each bound, and the place of the demand among the bounds.
    most: [u32; BOUNDS.len()],
    place: usize,
    /// The ratios so far; their sum is that until the nominal seats changed last.
    ratios: Ratios,
    /// The integral of the seats since then.
    compared: u64,
}

/// A histogram of the demand of a level relative to its nominal seats, weighted by time, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ratios {
    /// Nanoseconds between a bound and the one before; the last are above all [`BOUNDS`].
    pub counts: [u64; BOUNDS.len() + 1],
    /// The integral over time, in nanoseconds.
    pub sum: f64,
}

/// The demand over one period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observed {
    /// The most seats at a time.
    pub highest: u32,
    /// The average and the standard deviation over time; `None` if no time has passed.
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
    /// Without any, from now on, at a level with so many seats of its own.
    pub fn begin(now: Nanos, nominal: u32) -> Self {
        Demand {
            seats: 0,
            highest: 0,
            began: now,
            changed: now,
            integral: 0,
            of_squares: 0,
            nominal: nominal.max(1),
            most: most(nominal.max(1)),
            place: 0,
            ratios: Ratios::default(),
            compared: 0,
        }
    }

    /// Notes how many seats could be used from now on.
    pub fn set(&mut self, now: Nanos, seats: u32) {
        self.pass(now);
        self.seats = seats;
        self.highest = self.highest.max(seats);
        self.compare();
    }

    /// Changes how many seats of its own the level has.
    pub fn set_nominal(&mut self, now: Nanos, nominal: u32) {
        self.pass(now);
        self.ratios = self.ratios();
        self.compared = 0;
        // A level without seats of its own is compared with one seat.
        self.nominal = nominal.max(1);
        self.most = most(self.nominal);
        self.compare();
    }

    /// The histogram of the demand.
    pub fn ratios(&self) -> Ratios {
        let Ratios { counts, sum } = self.ratios;
        Ratios { counts, sum: sum + self.compared as f64 / f64::from(self.nominal) }
    }

    /// The demand since the last call; a new period begins.
    pub fn take(&mut self, now: Nanos) -> Observed {
        self.pass(now);
        let duration = now.saturating_sub(self.began) as f64;
        let spread = (duration > 0.0).then(|| {
            let average = self.integral as f64 / duration;
            let variance = self.of_squares as f64 / duration - average * average;
            // Rounding may leave a variance of nothing below 0.
            (average, variance.max(0.0).sqrt())
        });
        let observed = Observed { highest: self.highest, spread };
        *self = Demand { highest: self.seats, began: now, changed: now, integral: 0, of_squares: 0, ..*self };
        observed
    }

    fn compare(&mut self) {
        self.place = self.most.iter().position(|most| self.seats <= *most).unwrap_or(BOUNDS.len());
    }

    fn pass(&mut self, now: Nanos) {
        let nanos = now.saturating_sub(self.changed);
        let passed = u64::from(self.seats) * nanos;
        self.ratios.counts[self.place] += nanos;
        self.compared += passed;
        self.integral += passed;
        self.of_squares += u128::from(self.seats) * u128::from(passed);
        self.changed = self.changed.max(now);
    }
}

/// The most seats below each bound, at a level with so many of its own. Bounds are whole tenths.
fn most(nominal: u32) -> [u32; BOUNDS.len()] {
    BOUNDS.map(|bound| ((bound * 10.0).round() as u64 * u64::from(nominal) / 10) as u32)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SECOND;

    #[test]
    fn demand_is_weighted_by_time() {
        let mut demand = Demand::begin(0, 5);
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
    fn demand_is_compared_with_the_seats_of_the_level() {
        let mut demand = Demand::begin(SECOND, 5);
        demand.set(2 * SECOND, 1);
        demand.set(4 * SECOND, 6);
        demand.set_nominal(5 * SECOND, 0);
        demand.take(8 * SECOND);
        // One second of 0 and two of 0.2, one of 1.2, three of 6 seats beside one.
        let mut counts = [0; 13];
        (counts[0], counts[5], counts[11]) = (3 * SECOND, SECOND, 3 * SECOND);
        let ratios = demand.ratios();
        assert_eq!(ratios.counts, counts);
        let sum = (2.0 * 0.2 + 1.2 + 3.0 * 6.0) * SECOND as f64;
        assert!((ratios.sum - sum).abs() < 1.0, "{}", ratios.sum);
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
