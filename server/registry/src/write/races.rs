//! Lost races: how often a write runs again, and how long it waits before.
//!
//! A write is took from the current objects and does not commit when one of them has changed since. With
//! many writers of one object, each commit would make all others compute again. So a write that loses again
//! waits for a random time, longer after each loss: backoff with jitter.

use std::time::Duration;

use rand::RngExt;
use tokio::time::Instant;

use crate::{
    error::{ApiError, Result},
    request::Target,
};

/// The message of a conflict, after lost races and for an outdated version.
pub const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// The write fails after this many lost races. Each lost race is a commit of another write, so that many mean
/// that something is wrong.
const MAX_LOST: u32 = 256;
/// How long the attempts of a write may take in all, without the waits between them. Those for a large object
/// are long, and small writes of the same object overtake each of them.
const LONGEST: Duration = Duration::from_secs(5);
/// How many attempts it has, however long they take.
const FEWEST: u32 = 5;
/// How many names are generated for one object at most.
const MAX_NAMES: u32 = 8;
/// How many attempts follow without waiting.
const WITHOUT_WAITING: u32 = 2;
/// How often the wait doubles at most.
const MAX_DOUBLINGS: u32 = 6;
/// The shortest upper bound of a wait: about as long as a commit takes.
const SHORTEST: Duration = Duration::from_millis(1);

/// The races that one write has lost.
pub struct Races<'t> {
    target: &'t Target<'t>,
    lost: u32,
    names: u32,
    /// When the attempt began that goes on.
    began: Instant,
    /// How long those before took.
    took: Duration,
}

impl<'t> Races<'t> {
    /// A write that has lost none.
    pub fn at(target: &'t Target<'t>) -> Self {
        Races { target, lost: 0, names: 1, began: Instant::now(), took: Duration::ZERO }
    }

    /// Counts a generated name that is taken. Returns whether to try another one.
    pub fn tries_another_name(&mut self) -> bool {
        self.names += 1;
        self.names <= MAX_NAMES
    }

    /// Counts a lost race, and returns when the write should run again.
    ///
    /// # Errors
    /// 409 after too many lost races.
    pub async fn lost(&mut self) -> Result<()> {
        self.lost += 1;
        self.took += self.began.elapsed();
        let is_too_long = self.lost >= FEWEST && self.took > LONGEST;
        if self.lost == MAX_LOST || is_too_long {
            return Err(ApiError::conflict(self.target.resource, &self.target.name, MODIFIED));
        }
        if let Some(doublings) = self.lost.checked_sub(WITHOUT_WAITING + 1) {
            let longest = SHORTEST * (1 << doublings.min(MAX_DOUBLINGS));
            let wait = longest.mul_f64(rand::rng().random());
            tokio::time::sleep(wait).await;
        }
        self.began = Instant::now();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waits_grow_and_end() {
        let catalog = crate::catalog::Catalog::new(&orch_meta::ORCH, orch_api::registry().iter().copied());
        let config_maps = catalog.resource("", "v1", "configmaps").expect("it is served");
        let target = Target::item(config_maps, "n", "a");
        let mut races = Races::at(&target);
        let start = Instant::now();
        for _ in 0..WITHOUT_WAITING {
            races.lost().await.unwrap();
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        for lost in WITHOUT_WAITING + 1..MAX_LOST {
            let before = Instant::now();
            races.lost().await.unwrap();
            assert!(before.elapsed() <= SHORTEST * (1 << MAX_DOUBLINGS) + SHORTEST, "{lost}");
        }
        assert!(start.elapsed() > SHORTEST * 64);
        assert!(matches!(races.lost().await, Err(ApiError::Conflict { .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn long_attempts_are_few() {
        let catalog = crate::catalog::Catalog::new(&orch_meta::ORCH, orch_api::registry().iter().copied());
        let config_maps = catalog.resource("", "v1", "configmaps").expect("it is served");
        let target = Target::item(config_maps, "n", "a");
        for (attempt, ends_at) in [(Duration::from_secs(9), FEWEST), (LONGEST / 20, 21)] {
            let mut races = Races::at(&target);
            for lost in 1..=ends_at {
                tokio::time::advance(attempt).await;
                assert_eq!(races.lost().await.is_err(), lost == ends_at, "{attempt:?} {lost}");
            }
        }
    }
}
