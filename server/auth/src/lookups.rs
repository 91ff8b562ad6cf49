//! How methods look tokens up among those that were judged a moment ago, and how they judge the others: what
//! is counted of it.

use std::{
    ops::AddAssign,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// Upper bounds of durations, in seconds: those of the reference.
pub const BOUNDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// What a method counts.
#[derive(Debug, Default)]
pub(crate) struct Lookups(Mutex<LookupCounts>);

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookupCounts {
    /// How long it took to find those that were known.
    pub hits: Durations,
    /// How long it took to judge the others.
    pub misses: Durations,
    /// Judgements that ended without an error.
    pub judged: u64,
    /// Judgements that ended with one: the token is not valid, or that could not be decided.
    pub failed: u64,
    /// Those that are judged now.
    pub judging: u64,
    /// Requests that wait for such a judgement.
    pub waiting: u64,
}

/// How long something took, how often.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Durations {
    /// How often it took as long as between a bound and the one before; the last are above all [`BOUNDS`].
    pub counts: [u64; BOUNDS.len() + 1],
    /// The sum, in seconds.
    pub sum: f64,
}

/// A token that is not in the cache is judged while this exists.
#[must_use = "the judgement ends when this is dropped"]
pub(crate) struct Judging<'l> {
    lookups: &'l Lookups,
    is_failed: bool,
}

/// A request waits for the judgement of a token while this exists.
#[must_use = "the waiting ends when this is dropped"]
pub(crate) struct Missed<'l> {
    lookups: &'l Lookups,
    began: Instant,
}

impl Lookups {
    /// Counts a token that was known. It was looked for since `began`.
    pub(crate) fn hit(&self, began: Instant) {
        let took = began.elapsed().as_secs_f64();
        self.locked().hits.add(took);
    }

    /// Counts a token that was not known, which was looked for since `began`.
    pub(crate) fn missed(&self, began: Instant) -> Missed<'_> {
        self.locked().waiting += 1;
        Missed { lookups: self, began }
    }

    /// Begins to judge a token.
    pub(crate) fn judge(&self) -> Judging<'_> {
        self.locked().judging += 1;
        Judging { lookups: self, is_failed: true }
    }

    /// What was counted so far.
    pub(crate) fn counts(&self) -> LookupCounts {
        self.locked().clone()
    }

    /// A panic elsewhere leaves the counts as they are.
    fn locked(&self) -> MutexGuard<'_, LookupCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Judging<'_> {
    /// The judgement is there. Without this call it counts as failed.
    pub(crate) fn end<T, E>(mut self, judgement: Result<T, E>) -> Result<T, E> {
        self.is_failed = judgement.is_err();
        judgement
    }
}

impl Drop for Judging<'_> {
    fn drop(&mut self) {
        let mut counts = self.lookups.locked();
        counts.judging -= 1;
        *if self.is_failed { &mut counts.failed } else { &mut counts.judged } += 1;
    }
}

impl Drop for Missed<'_> {
    fn drop(&mut self) {
        let took = self.began.elapsed().as_secs_f64();
        let mut counts = self.lookups.locked();
        counts.waiting -= 1;
        counts.misses.add(took);
    }
}

impl Durations {
    fn add(&mut self, took: f64) {
        let place = BOUNDS.iter().position(|bound| took <= *bound).unwrap_or(BOUNDS.len());
        self.counts[place] += 1;
        self.sum += took;
    }

    /// How often it happened.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl AddAssign<&Durations> for Durations {
    fn add_assign(&mut self, other: &Durations) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.sum += other.sum;
    }
}

impl AddAssign<&LookupCounts> for LookupCounts {
    fn add_assign(&mut self, other: &LookupCounts) {
        self.hits += &other.hits;
        self.misses += &other.misses;
        self.judged += other.judged;
        self.failed += other.failed;
        self.judging += other.judging;
        self.waiting += other.waiting;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_token_is_counted_where_it_belongs() {
        let lookups = Lookups::default();
        let now = Instant::now();
        lookups.hit(now);
        let early = now.checked_sub(Duration::from_millis(300)).expect("the machine is older");
        let (first, second) = (lookups.missed(early), lookups.missed(now));
        let judging = lookups.judge();
        let counts = lookups.counts();
        assert_eq!((counts.waiting, counts.judging, counts.judged, counts.failed), (2, 1, 0, 0));
        assert_eq!(judging.end(Ok::<u8, ()>(7)), Ok(7));
        drop((first, second, lookups.judge()));
        let counts = lookups.counts();
        assert_eq!((counts.waiting, counts.judging, counts.judged, counts.failed), (0, 0, 1, 1));
        assert_eq!((counts.hits.count(), counts.misses.count()), (1, 2));
        assert_eq!(counts.misses.counts[..6].iter().sum::<u64>(), 1, "{counts:?}");
        let mut sum = counts.clone();
        sum += &counts;
        assert_eq!((sum.misses.count(), sum.judged), (4, 2));
    }
}
