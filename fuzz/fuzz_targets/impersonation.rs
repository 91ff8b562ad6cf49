//! `Impersonate-*` headers: see `orch_fuzz`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| orch_fuzz::run("impersonation", input));
