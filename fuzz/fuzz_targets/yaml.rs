//! YAML of arbitrary bytes: never a panic, and what is read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use orch_machinery::{json::Limits, yaml};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(document) = yaml::decode(bytes, &Limits::default()) {
        let text = yaml::encode(&document.tree);
        let again = yaml::decode(text.as_bytes(), &Limits::default()).map(|document| document.tree);
        assert!(again.is_ok() || document.tree.is_null(), "{text}");
    }
});
