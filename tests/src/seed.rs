//! Randomness that can be repeated.

use rand::{SeedableRng, rngs::StdRng};

/// The variable that fixes the seed: `ORCH_TEST_SEED=7 cargo test ...` repeats a run.
pub const VARIABLE: &str = "ORCH_TEST_SEED";

/// A generator whose seed is printed, so that a failure can be repeated.
pub fn generator(purpose: &str) -> StdRng {
    let seed = match std::env::var(VARIABLE) {
        Ok(text) => text.parse().expect("the seed is a number"),
        Err(_) => rand::random::<u64>(),
    };
    println!("{purpose}: {VARIABLE}={seed}");
    StdRng::seed_from_u64(seed)
}
