//! Objects that hold secrets do not show them where they are printed; the plain text of a secret becomes
//! data.

use orch_api::{
    authentication::v1::{TokenRequest, TokenReview},
    core::v1::Secret,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn printed<T: DeserializeOwned + std::fmt::Debug>(object: Value) -> String {
    let object: T = serde_json::from_value(object).expect("the object is one of its kind");
    format!("{object:?} {object:#?}")
}

#[test]
fn secrets_are_not_printed() {
    let secret = json!({
        "metadata": {"name": "named"}, "type": "Opaque",
        "data": {"key": "czNjcmV0"}, "stringData": {"key": "s3cret"},
    });
    let request = json!({"status": {"token": "s3cret", "expirationTimestamp": null}});
    let review = json!({"spec": {"token": "s3cret", "audiences": ["named"]}});
    for (printed, expected) in [
        (printed::<Secret>(secret), &["data: <hidden>", "string_data: <hidden>", "named", "Opaque"][..]),
        (printed::<TokenRequest>(request), &["token: <hidden>"]),
        (printed::<TokenReview>(review), &["token: <hidden>", "named"]),
    ] {
        for words in expected {
            assert!(printed.contains(words), "{words} is not in {printed}");
        }
        // As text, in base64, and as bytes.
        for words in ["s3cret", "czNjcmV0", "115, 51"] {
            assert!(!printed.contains(words), "{words} is in {printed}");
        }
    }
}

#[test]
fn plain_text_wins_and_is_gone() {
    let mut secret: Secret = serde_json::from_value(json!({
        "data": {"a": "MQ==", "b": "Mg=="},
        "stringData": {"b": "two", "c": ""},
    }))
    .expect("it is one");
    secret.merge_string_data();
    let expected = json!({
        "metadata": {"creationTimestamp": null}, "data": {"a": "MQ==", "b": "dHdv", "c": ""},
    });
    assert_eq!(serde_json::to_value(&secret).expect("it is one"), expected);
}
