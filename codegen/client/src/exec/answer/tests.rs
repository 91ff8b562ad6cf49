//! Answers of plugins, right and wrong.

#![allow(clippy::needless_pass_by_value, reason = "values are made where they are passed")]

use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};

use super::read;
use crate::credential::Proof;

const SECRET: &str = "hunter2";
const API_VERSION: &str = "client.authentication.example.com/v1";

fn answer(status: Value) -> Value {
    json!({"apiVersion": API_VERSION, "kind": "ExecCredential", "status": status})
}

fn read_value(answer: &Value) -> Result<(Proof, Option<i64>), String> {
    let credential = read(answer.to_string().as_bytes(), API_VERSION).map_err(|fault| fault.to_string())?;
    Ok((credential.proof, credential.expires))
}

/// A certificate and its key, PEM.
fn pair() -> (String, String) {
    let key = KeyPair::generate().unwrap();
    (CertificateParams::default().self_signed(&key).unwrap().pem(), key.serialize_pem())
}

#[test]
fn tokens_and_certificates_are_read_with_their_end() {
    let token = answer(json!({"token": SECRET, "clientKeyData": ""}));
    assert!(read_value(&token).unwrap() == (Proof::bearer(SECRET).unwrap(), None));
    for (time, expected) in [
        (json!("1970-01-01T00:01:00Z"), Some(60)),
        (json!("1970-01-01T01:01:00.999+01:00"), Some(60)),
        (Value::Null, None),
    ] {
        let token = answer(json!({"token": SECRET, "expirationTimestamp": time}));
        assert_eq!(read_value(&token).unwrap().1, expected, "{time}");
    }
    let (certificate, key) = pair();
    let chain = format!("{certificate}{}", pair().0);
    for certificate in [&certificate, &chain] {
        let status = json!({"clientCertificateData": certificate, "clientKeyData": key});
        let Proof::Certificate(identity) = read_value(&answer(status)).unwrap().0 else { panic!("a token") };
        assert!(identity.certificate == *certificate && identity.key == key);
    }
}

#[test]
fn yaml_is_an_answer_too() {
    let text = format!("kind: ExecCredential\napiVersion: {API_VERSION}\nstatus:\n  token: {SECRET}\n");
    assert!(read(text.as_bytes(), API_VERSION).unwrap().proof == Proof::bearer(SECRET).unwrap());
}

#[test]
fn wrong_answers_are_told_apart_and_never_repeated() {
    let (certificate, key) = pair();
    let beta = json!({"apiVersion": format!("{API_VERSION}beta1"), "kind": "ExecCredential"});
    for (answer, expected) in [
        (json!({}), "with its kind"),
        (json!({"kind": SECRET, "apiVersion": API_VERSION}), "with its kind"),
        (beta, "is configured as \"client.authentication.example.com/v1\", but it answered in"),
        (json!({"kind": "ExecCredential", "apiVersion": API_VERSION}), "no status"),
        (answer(json!({})), "neither status.token nor"),
        (answer(json!({"token": "", "clientCertificateData": ""})), "neither status.token nor"),
        (
            answer(json!({"token": SECRET, "clientCertificateData": certificate, "clientKeyData": key})),
            "both status.token and a client certificate",
        ),
        (answer(json!({"token": SECRET, "clientKeyData": key})), "both status.token and"),
        (answer(json!({"clientKeyData": key})), "only one of"),
        (answer(json!({"clientCertificateData": certificate})), "only one of"),
        (
            answer(json!({"clientCertificateData": SECRET, "clientKeyData": key})),
            "clientCertificateData of its answer is no certificate in PEM",
        ),
        (
            answer(json!({"clientCertificateData": certificate, "clientKeyData": SECRET})),
            "clientKeyData of its answer is no private key in PEM",
        ),
        (answer(json!({"token": SECRET, "expirationTimestamp": SECRET})), "is no RFC 3339 time"),
        (answer(json!({"token": SECRET, "expirationTimestamp": "2030-01-01 00:00Z"})), "is no RFC 3339 time"),
        (answer(json!({"token": SECRET, "expirationTimestamp": 5})), "is no RFC 3339 time"),
        (answer(json!({"token": format!("{SECRET}\n")})), "characters that a header cannot have"),
        (answer(json!({"token": [SECRET]})), "something is wrong in line 1, column "),
    ] {
        let error = read_value(&answer).err().expect("it is refused");
        assert!(error.contains(expected), "{answer}: {error}");
        assert!(!error.contains(SECRET), "{error}");
    }
    for text in ["", "- hunter2", "status: [hunter2", "{\"token\": \"hunter2\"", "\u{0}\u{1}"] {
        let error = read(text.as_bytes(), API_VERSION).unwrap_err().to_string();
        assert!(
            error.starts_with("it printed no ExecCredential") && !error.contains(SECRET),
            "{text}: {error}"
        );
    }
}
