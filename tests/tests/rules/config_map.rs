//! `ConfigMap`: keys, sizes, and data that is fixed.

use crate::ask::{defaulted, errors, update_errors};
use serde_json::json;

/// What all values together may have, in bytes.
const MAX_DATA_BYTES: usize = 1024 * 1024;

pub fn keys_and_sizes() {
    let key_rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  \
                    or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    for (tree, expected) in [
        (json!({"data": {"k": ""}, "binaryData": {"b": "AA=="}}), vec![]),
        (json!({"data": {"a/b": "v"}}), vec![format!("data[a/b]: Invalid value: \"a/b\": {key_rule}")]),
        (json!({"data": {"..": "v"}}), vec!["data[..]: Invalid value: \"..\": must not be '..'".to_owned()]),
        (
            json!({"binaryData": {".": "AA=="}}),
            vec!["binaryData[.]: Invalid value: \".\": must not be '.'".to_owned()],
        ),
        (
            json!({"data": {"k": "v"}, "binaryData": {"k": "AA=="}}),
            vec!["data[k]: Invalid value: \"k\": duplicate of key present in binaryData".to_owned()],
        ),
        (json!({"data": {"k": "x".repeat(MAX_DATA_BYTES)}}), vec![]),
        (
            json!({"data": {"k": "x".repeat(MAX_DATA_BYTES)}, "binaryData": {"b": "AA=="}}),
            vec!["[]: Too long: may not be more than 1048576 bytes".to_owned()],
        ),
    ] {
        assert_eq!(errors("ConfigMap", &tree), expected);
    }
}

pub fn what_is_immutable_stays() {
    let fixed = |field: &str| format!("{field}: Forbidden: field is immutable when `immutable` is set");
    let old = json!({"immutable": true, "data": {"a": "1"}, "binaryData": {"b": "AA=="}});
    for (new, expected) in [
        (old.clone(), vec![]),
        (json!({"immutable": true, "data": {"a": "1"}, "binaryData": {"b": "AQ=="}}), vec!["binaryData"]),
        (json!({"immutable": false, "data": {}, "binaryData": {"b": "AA=="}}), vec!["immutable", "data"]),
        (json!({"data": {"a": "1"}, "binaryData": {"b": "AA=="}}), vec!["immutable"]),
    ] {
        let expected: Vec<String> = expected.into_iter().map(fixed).collect();
        assert_eq!(update_errors("ConfigMap", &old, &new), expected, "{new}");
    }
    let open = json!({"immutable": false, "data": {"a": "1"}});
    assert_eq!(update_errors("ConfigMap", &open, &old), [""; 0]);
}

pub fn nothing_is_added() {
    assert_eq!(defaulted("ConfigMap", &json!({})), json!({}));
    let map = json!({"immutable": false, "data": {"k": ""}, "binaryData": {"b": ""}});
    assert_eq!(defaulted("ConfigMap", &map), map);
}
