//! The inputs in `fuzz/corpus`, and small changes of each, through what the fuzz targets do: with any
//! compiler, in every run of the tests. What a fuzzer finds becomes a file there.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

#[path = "../../../fuzz/src/lib.rs"]
mod targets;

use std::{fs, panic, path::PathBuf};

use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = targets::METER;

/// An input is repeated up to this many bytes where its cost is measured.
const LARGE: usize = 128 * 1024;

/// The inputs of a target, with their names.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = files.map(|file| file.unwrap().path());
    files.map(|file| (file.display().to_string(), fs::read(file).unwrap())).collect()
}

/// The input, its beginnings, and copies with one byte changed.
fn changed(input: &[u8]) -> Vec<Vec<u8>> {
    let places = (0..input.len()).step_by(input.len().div_ceil(48).max(1));
    let cut = places.clone().map(|place| input[..place].to_vec());
    let other = places.flat_map(|place| {
        [0x01, 0x20, 0x80].map(|bits| {
            let mut other = input.to_vec();
            other[place] ^= bits;
            other
        })
    });
    [input.to_vec()].into_iter().chain(cut).chain(other).collect()
}

/// Runs one target, and tells which input it fails for.
fn check(target: &str, name: &str, input: &[u8]) {
    let outcome = panic::catch_unwind(|| targets::run(target, input));
    assert!(outcome.is_ok(), "{target} fails for {name}, changed to {}", input.escape_ascii());
}

#[test]
fn the_corpus_is_read_without_a_panic_and_at_its_cost() {
    let measured = targets::TARGETS.iter().filter(|(name, _)| *name != "cost").enumerate();
    for (position, (target, _)) in measured {
        let inputs = corpus(target);
        assert!(!inputs.is_empty(), "{target} has no input");
        for (name, input) in inputs {
            for input in changed(&input) {
                check(target, &name, &input);
            }
            // The first byte is that of the target among those whose cost is measured.
            let large = input.repeat(LARGE / input.len().max(1));
            let cost = [&[u8::try_from(position).unwrap()], &large[..]].concat();
            check("cost", &name, &cost);
        }
    }
    for (name, input) in corpus("cost") {
        check("cost", &name, &input);
    }
}
