//! Proofs of conversions: random objects of a kind in two of its versions, or of two kinds that have the same
//! objects, and the laws that hold for all of them ([`laws`]).
//!
//! The generator writes a test for each pair, into a file beside the generated code. A crate includes it
//! where it has its tests, with the name `api` for the module that holds the generated code:
//!
//! ```text
//! use orch_api as api;
//! include!(concat!(env!("OUT_DIR"), "/orch_api.proofs.rs"));
//! ```
//!
//! `ORCH_TEST_CASES` says how many objects are made of a pair; `ORCH_TEST_SEED` repeats a run.

mod laws;
mod mend;
mod objects;
mod pair;
mod trees;

use std::{
    env,
    hash::{BuildHasher, RandomState},
};

use orch_runtime::{conversion::Direction, resource_def::ResourceDef};

pub use self::objects::{Choices, object};
use self::{laws::Broken, pair::Pair};

/// How many objects are made of a pair, half of them of each side, unless `ORCH_TEST_CASES` says otherwise.
const CASES: u64 = 400;

/// Of so many objects of a version that were mended one is valid at least: else the law about them proves
/// nothing.
const ONE_IS_VALID: u64 = 20;

/// How often a broken law is looked at again with a smaller object.
const ATTEMPTS: usize = 400;

/// Proves the conversions between two forms of the same objects; they lead up from the first one.
///
/// # Panics
/// Where a law does not hold: with the law, the object, and the seed that repeats the run.
pub fn prove(below: &'static ResourceDef, above: &'static ResourceDef) {
    let cases = number("ORCH_TEST_CASES").unwrap_or(CASES);
    let seed = number("ORCH_TEST_SEED").unwrap_or_else(|| RandomState::new().hash_one("a seed"));
    println!("ORCH_TEST_SEED={seed}");
    let pair = Pair::new(below, above);
    for direction in [Direction::Up, Direction::Down] {
        let mut random = Random(seed);
        let (mut mended, mut valid) = (0, 0);
        for _ in 0..cases.div_ceil(2) {
            let numbers = random.numbers();
            match laws::hold(&pair, direction, &numbers) {
                Ok(found) => {
                    mended += u64::from(found.mended);
                    valid += u64::from(found.mended && found.valid);
                }
                Err(broken) => {
                    let Broken { law, object, details } = smaller(&pair, direction, numbers, broken);
                    panic!("{pair} {direction:?}, ORCH_TEST_SEED={seed}: {law}\nobject {object}\n{details}");
                }
            }
        }
        println!("{pair} {direction:?}: {mended} objects mended, {valid} of these valid");
        assert!(
            valid * ONE_IS_VALID >= mended || !pair.are_versions(),
            "{pair} {direction:?}: {valid} of {mended} objects are valid, too few to show that they stay so"
        );
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// The same law broken by an object that is made from fewer numbers.
fn smaller(pair: &Pair, direction: Direction, mut numbers: Vec<u32>, mut broken: Broken) -> Broken {
    let mut length = numbers.len().div_ceil(2);
    let mut attempts = 0;
    while length > 0 && attempts < ATTEMPTS {
        let mut from = 0;
        while from < numbers.len() && attempts < ATTEMPTS {
            attempts += 1;
            let mut fewer = numbers.clone();
            fewer.drain(from..(from + length).min(numbers.len()));
            match laws::hold(pair, direction, &fewer) {
                Err(found) => (numbers, broken) = (fewer, found),
                Ok(_) => from += length,
            }
        }
        length /= 2;
    }
    broken
}

/// Numbers that look random (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Those for an object, of any size.
    fn numbers(&mut self) -> Vec<u32> {
        let count = 20 + self.next() % 200;
        (0..count).map(|_| self.next() as u32).collect()
    }
}
