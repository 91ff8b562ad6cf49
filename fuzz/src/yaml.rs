//! YAML of arbitrary bytes: never a panic, and what is read can be written and read again.

use orch_machinery::{json::Limits, yaml};

pub fn run(bytes: &[u8]) {
    if let Ok(document) = yaml::decode(bytes, &Limits::default()) {
        let text = yaml::encode(&document.tree);
        let again = yaml::decode(text.as_bytes(), &Limits::default()).map(|document| document.tree);
        assert!(again.is_ok() || document.tree.is_null(), "{text}");
    }
}
