//! Merge patches and strategic ones: see `orch_fuzz`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| orch_fuzz::run("merge_patches", input));
