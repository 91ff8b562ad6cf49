//! How many seats each level has, lends and borrows, by its shares.

use crate::config::{Level, LevelKind};

/// The seats of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seats {
    /// Those that its shares give it.
    pub nominal: u32,
    /// Those that it never lends.
    pub lowest: u32,
    /// Those that it has where others lend as much as it may borrow.
    pub highest: u32,
}

impl Seats {
    /// Those that a new level begins with: half of what it may lend is lent.
    pub fn initial(&self) -> u32 {
        self.nominal - (self.nominal - self.lowest) / 2
    }
}

/// The seats of levels, in their order. `total` are the server's.
pub fn seats(total: u32, levels: &[Level]) -> Vec<Seats> {
    let all: u64 = levels.iter().map(|level| u64::from(level.shares)).sum();
    levels.iter().map(|level| of_level(total, all.max(1), level)).collect()
}

fn of_level(total: u32, all_shares: u64, level: &Level) -> Seats {
    let nominal = (u64::from(total) * u64::from(level.shares)).div_ceil(all_shares) as u32;
    let lendable = percent(nominal, level.lendable_percent.min(100));
    let borrowable = match level.kind {
        LevelKind::Exempt => 0,
        // What has no share is a jail: it does not borrow either.
        LevelKind::Limited { .. } if nominal == 0 => 0,
        LevelKind::Limited { borrowing_percent: None, .. } => total,
        LevelKind::Limited { borrowing_percent: Some(borrowing), .. } => percent(nominal, borrowing),
    };
    Seats { nominal, lowest: nominal - lendable, highest: nominal.saturating_add(borrowable) }
}

/// Rounded, halves up.
fn percent(of: u32, percent: u32) -> u32 {
    let rounded = (u64::from(of) * u64::from(percent) + 50) / 100;
    u32::try_from(rounded).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(shares: u32, lendable_percent: u32, borrowing_percent: Option<u32>) -> Level {
        let kind = LevelKind::Limited { borrowing_percent, queuing: None };
        Level { name: String::new(), shares, lendable_percent, kind }
    }

    // NominalCL = ceil(ServerCL * shares / sum), LendableCL = round(NominalCL * percent / 100),
    // BorrowingCL = round(NominalCL * percent / 100).
    #[test]
    fn seats_of_the_levels_that_every_server_has() {
        let exempt = Level { kind: LevelKind::Exempt, ..limited(0, 0, None) };
        let others = [(5, 0), (30, 33), (40, 25), (10, 0), (40, 50), (100, 90), (20, 50)];
        let others = others.map(|(shares, lendable)| limited(shares, lendable, None));
        let levels: Vec<Level> = std::iter::once(exempt).chain(others).collect();
        let seats = seats(600, &levels);
        let nominal: Vec<u32> = seats.iter().map(|seats| seats.nominal).collect();
        let lowest: Vec<u32> = seats.iter().map(|seats| seats.lowest).collect();
        let highest: Vec<u32> = seats.iter().map(|seats| seats.highest).collect();
        let initial: Vec<u32> = seats.iter().map(Seats::initial).collect();
        assert_eq!(nominal, [0, 13, 74, 98, 25, 98, 245, 49]);
        assert_eq!(lowest, [0, 13, 50, 73, 25, 49, 24, 24]);
        assert_eq!(highest, [0, 613, 674, 698, 625, 698, 845, 649]);
        assert_eq!(initial, [0, 13, 62, 86, 25, 74, 135, 37]);
    }

    #[test]
    fn halves_are_rounded_up_and_a_jail_has_nothing() {
        let levels = [limited(1, 50, Some(150)), limited(1, 10, Some(0)), limited(0, 0, None)];
        let [first, second, jail] = seats(10, &levels).try_into().unwrap();
        assert_eq!(first, Seats { nominal: 5, lowest: 2, highest: 13 });
        assert_eq!(second, Seats { nominal: 5, lowest: 4, highest: 5 });
        assert_eq!(jail, Seats::default());
        assert_eq!(seats(10, &[limited(0, 0, None)]), [Seats::default()]);
        let huge = seats(u32::MAX, &[limited(u32::MAX, 0, Some(u32::MAX))]);
        assert_eq!(huge, [Seats { nominal: u32::MAX, lowest: u32::MAX, highest: u32::MAX }]);
    }
}
