//! A small random generator, so that the suite can be part of the crate without a dependency.

use std::ops::RangeInclusive;

use crate::revision::Revision;

/// Numbers that follow from a seed (splitmix64).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `sides`.
    pub(super) fn roll(&mut self, sides: u32) -> u32 {
        (self.number() % u64::from(sides)) as u32
    }

    /// True once in `times`, on average.
    pub(super) fn one_in(&mut self, times: u32) -> bool {
        self.roll(times) == 0
    }

    /// One of these.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len() as u32) as usize]
    }

    /// A revision in this range.
    pub(super) fn revision(&mut self, range: RangeInclusive<Revision>) -> Revision {
        let (first, last) = (range.start().get(), range.end().get());
        Revision::new(first + self.number() % (last - first + 1))
    }
}
