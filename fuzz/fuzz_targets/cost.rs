//! Time and memory per input: see `orch_fuzz`.

#![no_main]

#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = orch_fuzz::METER;

libfuzzer_sys::fuzz_target!(|input: &[u8]| orch_fuzz::run("cost", input));
