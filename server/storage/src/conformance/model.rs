//! Readers against a model: several clients write at once, watches follow at every speed, history is forgotten and the
//! store restarts, all of it drawn from a seed; afterwards everything that anybody saw is compared with the plain
//! sequence of acknowledged writes.
//!
//! A run prints its seed when it fails. `ORCH_MODEL_SEED=<seed> cargo test -p orch-storage --test model` replays it, and
//! `ORCH_MODEL_SEEDS=<n>` runs more of them.

#![allow(clippy::unwrap_used, reason = "a test ends at the first thing that it does not expect")]

mod clients;
mod history;
mod place;
mod readers;
mod run;

use place::Place;

/// Seeds in memory, and on disk, where every write waits for the disk.
const SEEDS: u64 = 40;
const SEEDS_ON_DISK: u64 = 3;

#[test]
fn everything_that_readers_see_in_memory_is_what_was_written() {
    for seed in seeds(SEEDS) {
        run::run(seed, &Place::memory(), 8, 60);
    }
}

#[test]
fn everything_that_readers_see_on_disk_is_what_was_written() {
    for seed in seeds(SEEDS_ON_DISK) {
        run::run(seed, &Place::disk(), 4, 40);
    }
}

fn seeds(count: u64) -> Vec<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    match number("ORCH_MODEL_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("ORCH_MODEL_SEEDS").unwrap_or(count)).collect(),
    }
}
