//! How many seats a request takes: lists by the objects that they read, changes by the watches that get an
//! event.

use crate::{
    Nanos, SECOND,
    config::{Level, LevelKind},
    shares::Seats,
};

/// The most seats of a request.
const MOST: u32 = 10;
/// So many objects of a list are a seat.
const OBJECTS_OF_A_SEAT: u64 = 100;
/// So many watches that get an event of a change are a seat, and how long one delivery is taken to last.
const WATCHES_OF_A_SEAT: u64 = 10;
const TELLING: Nanos = SECOND / 200;

/// The seats of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// While it is answered; at least 1.
    pub first: u32,
    /// After the answer.
    pub last: u32,
    /// How long it has those.
    pub linger: Nanos,
}

impl Width {
    /// One seat, until the answer.
    pub const ONE: Width = Width { first: 1, last: 0, linger: 0 };

    /// A list, or a watch that begins with one, of so many objects, at a level that lets a request have
    /// `most` seats.
    pub fn of_list(objects: u64, most: u32) -> Self {
        let seats = objects.div_ceil(OBJECTS_OF_A_SEAT).clamp(1, u64::from(most.max(1)));
        Width { first: seats as u32, ..Width::ONE }
    }

    /// A change whose event goes to so many watches.
    pub fn of_change(watches: u64, most: u32) -> Self {
        if watches < WATCHES_OF_A_SEAT {
            return Width::ONE;
        }
        let seats = watches.div_ceil(WATCHES_OF_A_SEAT);
        // A wide request keeps others from seats that it does not use yet. So it gets narrower and longer.
        let last = seats.min(u64::from(most.max(1)));
        Width { first: 1, last: last as u32, linger: seats * TELLING / last }
    }

    /// The seats that it has from its beginning to its end.
    pub fn most(self) -> u32 {
        self.first.max(self.last)
    }

    /// Its work in seat-seconds, where it is answered in so many seconds.
    pub(crate) fn work(self, seconds: f64) -> f64 {
        f64::from(self.first) * seconds + f64::from(self.last) * self.linger as f64 / SECOND as f64
    }
}

/// The most seats of one request at a level: a part of them, so that no request keeps all others waiting.
pub fn most_of(level: &Level, seats: &Seats) -> u32 {
    match level.kind {
        LevelKind::Limited { queuing: Some(queuing), .. } => {
            let part = (u64::from(seats.nominal) * 15).div_ceil(100) as u32;
            part.min(seats.nominal / queuing.hand_size.max(1)).clamp(1, MOST)
        }
        LevelKind::Exempt | LevelKind::Limited { queuing: None, .. } => MOST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Queuing;

    #[test]
    fn lists_are_as_wide_as_what_they_read() {
        for (objects, most, seats) in [
            (0, 10, 1),
            (1, 10, 1),
            (100, 10, 1),
            (101, 10, 2),
            (950, 10, 10),
            (100_000, 10, 10),
            (950, 3, 3),
            (9, 0, 1),
        ] {
            assert_eq!(
                Width::of_list(objects, most),
                Width { first: seats, last: 0, linger: 0 },
                "{objects}"
            );
        }
    }

    #[test]
    fn changes_are_as_wide_as_what_they_tell() {
        let millis = SECOND / 1000;
        for (watches, most, last, linger) in [
            (0, 10, 0, 0),
            (9, 10, 0, 0),
            (10, 10, 1, 5 * millis),
            (95, 10, 10, 5 * millis),
            (1000, 10, 10, 50 * millis),
            (1000, 4, 4, 125 * millis),
        ] {
            assert_eq!(Width::of_change(watches, most), Width { first: 1, last, linger }, "{watches}");
        }
    }

    #[test]
    fn no_request_takes_a_whole_level() {
        let queuing = |queues, hand_size| Some(Queuing { queues, hand_size, length_limit: 50 });
        for (nominal, queuing, most) in [
            (600, queuing(64, 6), 10),
            (49, queuing(128, 6), 8),
            (49, queuing(128, 8), 6),
            (20, queuing(16, 4), 3),
            (3, queuing(16, 4), 1),
            (3, None, 10),
        ] {
            let kind = LevelKind::Limited { borrowing_percent: None, queuing };
            let level = Level { name: String::new(), shares: 1, lendable_percent: 0, kind };
            let seats = Seats { nominal, ..Seats::default() };
            assert_eq!(most_of(&level, &seats), most, "{nominal} {queuing:?}");
        }
    }
}
