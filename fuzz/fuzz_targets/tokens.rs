//! Tokens and the header that carries them: see `orch_fuzz`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| orch_fuzz::run("tokens", input));
