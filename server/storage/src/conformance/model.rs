//! Readers against a model: several clients write at once, watches follow at every speed, history is
//! forgotten and the store restarts, all of it decided by a seed. Afterwards everything that anybody saw is
//! compared with the plain sequence of acknowledged writes.

mod clients;
mod history;
mod readers;
mod run;

use super::Fixture;

/// How much is done for one seed.
#[derive(Debug, Clone, Copy)]
pub struct Length {
    /// Rounds; the store may be restarted between two of them.
    pub rounds: u32,
    /// What each client does in a round.
    pub operations: u32,
}

/// Runs the seeds 0 to `seeds` (exclusive), each on a store and a single-threaded runtime of its own. A
/// failure prints its seed: the environment variable `ORCH_MODEL_SEED` replays one, and `ORCH_MODEL_SEEDS`
/// sets another number of them.
///
/// # Panics
/// If a reader saw anything but what was written.
pub fn run(fixture: &impl Fixture, seeds: u64, length: Length) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    let seeds = match number("ORCH_MODEL_SEED") {
        Some(seed) => seed..=seed,
        None => 0..=number("ORCH_MODEL_SEEDS").unwrap_or(seeds).saturating_sub(1),
    };
    for seed in seeds {
        run::run(fixture, seed, length);
    }
}
