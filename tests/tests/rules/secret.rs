//! `Secret`: keys, size, data that is fixed, and the keys of well-known types.

use crate::ask::{defaulted, errors, update_errors};
use serde_json::json;

/// What all values together may have, in bytes.
const MAX_DATA_BYTES: usize = 1024 * 1024;

pub fn each_known_type_has_its_keys() {
    for (kind, data, expected) in [
        ("Opaque", json!({}), vec![]),
        ("example.com/own", json!({}), vec![]),
        // The same name in another domain is not a type that the server knows.
        ("orch.io/tls", json!({}), vec![]),
        ("kubernetes.io/tls", json!({"tls.crt": "Yw==", "tls.key": ""}), vec![]),
        (
            "kubernetes.io/tls",
            json!({}),
            vec!["data[tls.crt]: Required value", "data[tls.key]: Required value"],
        ),
        ("kubernetes.io/basic-auth", json!({"password": ""}), vec![]),
        (
            "kubernetes.io/basic-auth",
            json!({"other": "dQ=="}),
            vec!["data[username]: Required value", "data[password]: Required value"],
        ),
        (
            "kubernetes.io/ssh-auth",
            json!({"ssh-privatekey": ""}),
            vec!["data[ssh-privatekey]: Required value"],
        ),
        ("kubernetes.io/dockercfg", json!({}), vec!["data[.dockercfg]: Required value"]),
        (
            "kubernetes.io/dockercfg",
            json!({".dockercfg": "bm8="}),
            vec![r#"data[.dockercfg]: Invalid value: "<secret contents redacted>": must be valid JSON"#],
        ),
        ("kubernetes.io/dockerconfigjson", json!({".dockerconfigjson": "eyJhdXRocyI6e319"}), vec![]),
        (
            "kubernetes.io/dockerconfigjson",
            json!({".dockerconfigjson": "W10="}),
            vec![
                r#"data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": must be a JSON object"#,
            ],
        ),
        (
            "kubernetes.io/service-account-token",
            json!({}),
            vec!["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
        ),
    ] {
        assert_eq!(errors("Secret", &json!({"type": kind, "data": data})), expected, "{kind} {data}");
    }
}

pub fn data_has_a_limit() {
    // Three bytes in four characters.
    let text = "AAAA".repeat(MAX_DATA_BYTES / 3);
    assert_eq!(errors("Secret", &json!({"data": {"a": text}})), [""; 0]);
    let over = json!({"data": {"a": text, "b": "AAAA"}});
    assert_eq!(errors("Secret", &over), ["data: Too long: may not be more than 1048576 bytes"]);
}

pub fn type_and_immutable_data_stay() {
    let old = json!({"data": {"a": "MQ=="}, "immutable": true});
    for (new, expected) in [
        (json!({"type": "Opaque", "data": {"a": "MQ=="}, "immutable": true}), vec![]),
        (
            json!({"type": "other", "data": {"a": "MQ=="}, "immutable": true}),
            vec![r#"type: Invalid value: "other": field is immutable"#],
        ),
        (
            json!({"data": {}, "immutable": false}),
            vec![
                "immutable: Forbidden: field is immutable when `immutable` is set",
                "data: Forbidden: field is immutable when `immutable` is set",
            ],
        ),
    ] {
        assert_eq!(update_errors("Secret", &old, &new), expected, "{new}");
    }
}

pub fn a_type_is_added() {
    assert_eq!(defaulted("Secret", &json!({})), json!({"type": "Opaque"}));
    assert_eq!(defaulted("Secret", &json!({"type": ""})), json!({"type": "Opaque"}));
    assert_eq!(defaulted("Secret", &json!({"type": "own"})), json!({"type": "own"}));
}

pub fn keys_are_those_of_files() {
    let key_rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                    'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    let long = "k".repeat(254);
    for (key, expected) in [
        (".hidden", vec![]),
        ("a b", vec![format!("data[a b]: Invalid value: \"a b\": {key_rule}")]),
        ("..", vec!["data[..]: Invalid value: \"..\": must not be '..'".to_owned()]),
        ("..a", vec!["data[..a]: Invalid value: \"..a\": must not start with '..'".to_owned()]),
        (&long[..253], vec![]),
        (
            &long,
            vec![format!("data[{long}]: Invalid value: \"{long}\": must be no more than 253 characters")],
        ),
    ] {
        assert_eq!(errors("Secret", &json!({"data": {key: "AA=="}})), expected);
    }
}
