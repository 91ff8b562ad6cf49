//! Runs of tests over random objects of every kind.

use std::{
    env,
    hash::{BuildHasher, RandomState},
};

use orch_runtime::resource_def::ResourceDef;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Calls `check` for every kind with a runner of `cases` cases. All begin with the same seed, which is
/// printed; `ORCH_TEST_SEED` sets it.
pub fn for_every_kind(cases: u32, check: impl Fn(&'static ResourceDef, &mut TestRunner)) {
    let seed = env::var("ORCH_TEST_SEED").ok().map_or_else(
        || RandomState::new().hash_one("a seed"),
        |seed| seed.parse().expect("the seed is a number"),
    );
    println!("ORCH_TEST_SEED={seed}");
    for resource in orch_api::registry().iter().flat_map(|group_version| group_version.resources) {
        let rng_seed = RngSeed::Fixed(seed);
        let config = Config { cases, failure_persistence: None, rng_seed, ..Config::default() };
        check(resource, &mut TestRunner::new(config));
    }
}
