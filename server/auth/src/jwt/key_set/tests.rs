//! Signatures of each algorithm, with the right key and with all kinds of wrong ones.

use aws_lc_rs::{
    rand::SystemRandom,
    rsa::KeySize,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, ECDSA_P521_SHA512_FIXED_SIGNING,
        EcdsaKeyPair, EcdsaSigningAlgorithm, KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512,
        RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
    },
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::{Jwt, KeySet};

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// A token with this header, signed by a function.
fn token(header: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let signed = format!("{}.{}", encode(header.to_string()), encode("{}"));
    format!("{signed}.{}", encode(sign(signed.as_bytes())))
}

fn verifies(keys: &Value, token: &str) -> bool {
    KeySet::parse(keys.to_string().as_bytes()).unwrap().verifies(&Jwt::read(token.as_bytes()).unwrap())
}

fn rsa_key(pair: &RsaKeyPair) -> Value {
    let public = pair.public_key();
    let (n, e) = (public.modulus(), public.exponent());
    json!({
        "kty": "RSA", "kid": "a", "use": "sig",
        "n": encode(n.big_endian_without_leading_zero()), "e": encode(e.big_endian_without_leading_zero()),
    })
}

fn rsa(pair: &RsaKeyPair, encoding: &'static dyn RsaEncoding, message: &[u8]) -> Vec<u8> {
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(encoding, &SystemRandom::new(), message, &mut signature).unwrap();
    signature
}

#[test]
fn rsa_signatures_are_verified() {
    let [pair, other] = [(); 2].map(|()| RsaKeyPair::generate(KeySize::Rsa2048).unwrap());
    let encodings: [(&str, &'static dyn RsaEncoding); 6] = [
        ("RS256", &RSA_PKCS1_SHA256),
        ("RS384", &RSA_PKCS1_SHA384),
        ("RS512", &RSA_PKCS1_SHA512),
        ("PS256", &RSA_PSS_SHA256),
        ("PS384", &RSA_PSS_SHA384),
        ("PS512", &RSA_PSS_SHA512),
    ];
    let keys = json!({"keys": [rsa_key(&pair)]});
    for (name, encoding) in encodings {
        let signed = |header: Value| token(&header, |message| rsa(&pair, encoding, message));
        assert!(verifies(&keys, &signed(json!({"alg": name, "kid": "a"}))), "{name}");
        assert!(verifies(&keys, &signed(json!({"alg": name}))), "{name} without a name of the key");
        assert!(!verifies(&keys, &signed(json!({"alg": name, "kid": "b"}))), "{name} of another key");
        for other in encodings.iter().map(|(other, _)| other).chain(&["ES256", "none"]) {
            let header = json!({"alg": other, "kid": "a"});
            assert_eq!(verifies(&keys, &signed(header)), *other == name, "{name} called {other}");
        }
        let others = json!({"keys": [rsa_key(&other)]});
        assert!(!verifies(&others, &signed(json!({"alg": name, "kid": "a"}))), "{name} of another signer");
        for (field, value, expected) in
            [("alg", name, true), ("alg", "RS1", false), ("use", "enc", false), ("kty", "oct", false)]
        {
            let mut keys = keys.clone();
            keys["keys"][0][field] = json!(value);
            let token = signed(json!({"alg": name, "kid": "a"}));
            assert_eq!(verifies(&keys, &token), expected, "{name} {field} {value}");
        }
    }
}

#[test]
fn ecdsa_signatures_are_verified() {
    let curves: [(&str, &str, &'static EcdsaSigningAlgorithm); 3] = [
        ("ES256", "P-256", &ECDSA_P256_SHA256_FIXED_SIGNING),
        ("ES384", "P-384", &ECDSA_P384_SHA384_FIXED_SIGNING),
        ("ES512", "P-521", &ECDSA_P521_SHA512_FIXED_SIGNING),
    ];
    for (name, curve, signing) in curves {
        let pair = EcdsaKeyPair::generate(signing).unwrap();
        let point = pair.public_key().as_ref();
        let (x, y) = point[1..].split_at(point.len() / 2);
        let keys = |x: &[u8], curve: &str| {
            let key = json!({"kty": "EC", "crv": curve, "x": encode(x), "y": encode(y)});
            json!({ "keys": [key] })
        };
        let sign = |message: &[u8]| pair.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec();
        let right = token(&json!({"alg": name}), sign);
        assert!(verifies(&keys(x, curve), &right), "{name}");
        let shortened: Vec<u8> = x.iter().copied().skip_while(|byte| *byte == 0).collect();
        assert!(verifies(&keys(&shortened, curve), &right), "{name} without leading zeros");
        assert!(!verifies(&keys(y, curve), &right), "{name} with another key");
        assert!(!verifies(&keys(&[&[1], x].concat(), curve), &right), "{name} with a long coordinate");
        for (other, other_curve, _) in curves {
            let called = token(&json!({"alg": other}), sign);
            assert_eq!(verifies(&keys(x, curve), &called), other == name, "{name} called {other}");
            assert_eq!(
                verifies(&keys(x, other_curve), &right),
                other == name,
                "{curve} called {other_curve}"
            );
        }
    }
}

#[test]
fn a_document_may_have_other_keys() {
    let keys =
        json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AA"}, {"kty": "RSA"}, {"kty": "EC"}, {}]});
    assert_eq!(KeySet::parse(keys.to_string().as_bytes()).unwrap().keys.len(), 0);
    for text in ["", "{}", "[]", r#"{"keys": {}}"#] {
        KeySet::parse(text.as_bytes()).unwrap_err();
    }
    let many = json!({"keys": vec![json!({}); 257]});
    assert_eq!(KeySet::parse(many.to_string().as_bytes()).unwrap_err(), "there are more than 256 keys");
}

/// An issuer may have keys that are of no use here, in forms that are not known here.
#[test]
fn what_is_no_key_is_left_out() {
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let keys = json!({"keys": [{"kid": null}, 1, {"kty": ["RSA"]}, rsa_key(&pair)]});
    let signed =
        token(&json!({"alg": "RS256", "kid": "a"}), |message| rsa(&pair, &RSA_PKCS1_SHA256, message));
    assert!(verifies(&keys, &signed));
}
