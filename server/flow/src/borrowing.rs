//! How levels lend each other seats: every [`PERIOD`], by the demand that was seen (KEP-1040).

use crate::{Nanos, SECOND, demand::Smoothed, shares::Seats};

/// How often seats are lent anew.
pub const PERIOD: Nanos = 10 * SECOND;

/// The least demand that a level is counted with, so that a level without any has a part all the same.
const LEAST_TARGET: f64 = 0.001;

/// A level, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Borrower {
    /// What its shares give it.
    pub seats: Seats,
    /// Its demand.
    pub demand: Smoothed,
    /// Whether it is never limited.
    pub is_exempt: bool,
}

/// Between which bounds a level gets its part of the seats.
#[derive(Clone, Copy, Debug)]
struct Claim {
    /// What it does not lend, and what it needed of its own seats in the last period.
    least: u32,
    most: u32,
    target: f64,
}

/// What levels have until the next time.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjusted {
    /// The seats of each level, in their order.
    pub seats: Vec<u32>,
    /// The part of its target that each level gets where no bound keeps it from that. 0 where there is not
    /// even enough for what levels do not lend.
    pub fair_fraction: f64,
}

/// Shares out the seats of all levels.
pub fn adjust(levels: &[Borrower]) -> Adjusted {
    let nominal: u64 = levels.iter().map(|level| u64::from(level.seats.nominal)).sum();
    let exempt = |level: &&Borrower| level.is_exempt;
    let taken: u64 = levels.iter().filter(exempt).map(|level| u64::from(exempt_seats(level))).sum();
    let limited: Vec<&Borrower> = levels.iter().filter(|level| !level.is_exempt).collect();
    let (parts, fair_fraction) = parts(nominal.saturating_sub(taken), &limited);
    let mut parts = parts.into_iter();
    let part = |level: &Borrower| {
        if level.is_exempt { exempt_seats(level) } else { parts.next().expect("there is one for each") }
    };
    Adjusted { seats: levels.iter().map(part).collect(), fair_fraction }
}

/// The seats that a level is to have, if there are enough.
pub fn target(level: &Borrower) -> f64 {
    if level.is_exempt { f64::from(exempt_seats(level)) } else { claim(level).target }
}

/// An exempt level takes what it needs.
fn exempt_seats(level: &Borrower) -> u32 {
    level.seats.lowest.max(level.demand.highest)
}

/// Shares out the seats that are left beside the exempt levels. Also returns the fair fraction.
fn parts(remaining: u64, levels: &[&Borrower]) -> (Vec<u32>, f64) {
    let claims: Vec<Claim> = levels.iter().map(|level| claim(level)).collect();
    let lowest: u64 = levels.iter().map(|level| u64::from(level.seats.lowest)).sum();
    let least: u64 = claims.iter().map(|claim| u64::from(claim.least)).sum();
    if remaining <= lowest {
        (levels.iter().map(|level| level.seats.lowest).collect(), 0.0)
    } else if remaining <= least {
        // Everybody gets the same part of what they need beyond what they never lend.
        let part = (remaining - lowest) as f64 / (least - lowest) as f64;
        let of = |(level, claim): (&&Borrower, &Claim)| {
            let lowest = level.seats.lowest;
            lowest + (f64::from(claim.least - lowest) * part).round() as u32
        };
        (levels.iter().zip(&claims).map(of).collect(), 0.0)
    } else {
        let fraction = fair_fraction(remaining as f64, &claims);
        (claims.iter().map(|claim| claim.at(fraction).round() as u32).collect(), fraction)
    }
}

fn claim(level: &Borrower) -> Claim {
    let Borrower { seats, demand, .. } = level;
    let least = seats.lowest.max(seats.nominal.min(demand.highest));
    Claim { least, most: seats.highest, target: f64::from(least).max(demand.expected).max(LEAST_TARGET) }
}

impl Claim {
    /// What a level gets at a fraction of all targets.
    fn at(&self, fraction: f64) -> f64 {
        (fraction * self.target).min(f64::from(self.most)).max(f64::from(self.least))
    }
}

/// The fraction of all targets at which levels get `total` seats together; infinite where that is more than
/// they may have. The sum rises with the fraction and is straight between the fractions at which one of them
/// reaches a bound.
fn fair_fraction(total: f64, claims: &[Claim]) -> f64 {
    let sum = |fraction: f64| claims.iter().map(|claim| claim.at(fraction)).sum::<f64>();
    let bounds = |claim: &Claim| [claim.least, claim.most].map(|bound| f64::from(bound) / claim.target);
    let mut bends: Vec<f64> = claims.iter().flat_map(bounds).collect();
    bends.sort_by(f64::total_cmp);
    let (mut below, mut sum_below) = (0.0, sum(0.0));
    for bend in bends {
        let sum_here = sum(bend);
        if sum_here >= total {
            let rise = sum_here - sum_below;
            return if rise > 0.0 { below + (bend - below) * (total - sum_below) / rise } else { bend };
        }
        (below, sum_below) = (bend, sum_here);
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level((nominal, lowest, highest): (u32, u32, u32), (most, expected): (u32, f64)) -> Borrower {
        let demand = Smoothed { highest: most, expected, ..Smoothed::default() };
        Borrower { seats: Seats { nominal, lowest, highest }, demand, is_exempt: false }
    }

    /// Computed from the formulas by a bisection over the fraction.
    #[test]
    fn seats_follow_demand() {
        let quiet = (0, 0.0);
        for (what, levels, expected) in [
            // In proportion to what they never lend.
            (
                "nobody needs any",
                vec![level((50, 20, 150), quiet), level((50, 30, 150), quiet)],
                vec![40, 60],
            ),
            (
                "one needs all",
                vec![level((50, 20, 150), (200, 200.0)), level((50, 20, 150), quiet)],
                vec![80, 20],
            ),
            (
                "one needs all, and may borrow little",
                vec![level((50, 20, 60), (200, 200.0)), level((50, 20, 150), quiet)],
                vec![60, 40],
            ),
            (
                "both need more than they have",
                vec![level((60, 20, 150), (200, 150.0)), level((40, 20, 150), (200, 300.0))],
                vec![60, 40],
            ),
            (
                "three of different demand",
                vec![
                    level((100, 10, 300), (90, 80.0)),
                    level((100, 50, 300), (10, 5.0)),
                    level((100, 80, 300), (300, 400.0)),
                ],
                vec![90, 50, 160],
            ),
            ("a jail", vec![level((100, 50, 200), (7, 7.0)), level((0, 0, 0), (9, 9.0))], vec![100, 0]),
            (
                "none may have so much",
                vec![level((50, 10, 20), quiet), level((50, 50, 50), quiet)],
                vec![20, 50],
            ),
        ] {
            assert_eq!(adjust(&levels).seats, expected, "{what}");
        }
    }

    #[test]
    fn what_an_exempt_level_uses_the_others_have_less() {
        let exempt = |most| Borrower { is_exempt: true, ..level((10, 5, 10), (most, 0.0)) };
        let others = [level((50, 20, 150), (60, 60.0)), level((40, 30, 150), (60, 60.0))];
        for (most, expected) in [
            (0, [5, 50, 45]),
            // 90 are left, which are what both need of their own.
            (10, [10, 50, 40]),
            // 70 are left: 20 + 30 * 0.5, 30 + 10 * 0.5.
            (30, [30, 35, 35]),
            (50, [50, 20, 30]),
            (1000, [1000, 20, 30]),
        ] {
            let levels = [exempt(most), others[0], others[1]];
            assert_eq!(adjust(&levels).seats, expected, "{most}");
        }
    }

    #[test]
    fn no_level_is_none() {
        assert_eq!(adjust(&[]).seats, [0; 0]);
    }
}
