//! Keys of every kind, in every form of file.

use aws_lc_rs::{
    encoding::{AsDer, EcPrivateKeyRfc5915Der, Pkcs8V1Der, PublicKeyX509Der},
    rsa,
    signature::{ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ECDSA_P521_SHA512, PKCS_ED25519};
use serde_json::json;
use tempfile::TempDir;

use super::*;

const EC: &str = "\
-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEwtJ/CvlsOWGf5djgyTvpgwqhXhXI
jjM12syKInK3xzO8S02KgiU1HdB8yMGGAlA+W62RjgV8gvCH2Hih+SbAYw==
-----END PUBLIC KEY-----
";
const RSA: &str = "\
-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAvftMzKqmO38ANrDo4KRd
UbmId4S7CalYlDJpfaBYzOweFo2cy34IGyBsfeoYRHnAUBZCVXg/jFzWY/nTfkyX
AmCHuWzCfEnKEGsWJb5SYbsMuT/gigWCl+36mEzuZXxYX15pvjPh4A7sSgpyGVBX
lZuOvSVJi/rYNi/8Y2rfhAb/reP5r7elhexfo8I6pu7pvKY3YyRT2cvO5nZCSmL2
vjPcwYpt6N5Z7PKLGsROrVJWeKG0+z0USs4c3crmgw7iO1ZZ92DQqieKBLRzip3X
0qTnoz/O7Myo2qEkrr8I7X6LGSs9VyTfAf6Y1O7afz0ra9zLdGlUJ0CVEllyEibL
IQIDAQAB
-----END PUBLIC KEY-----
";

/// A directory with one file `keys.pem`.
fn file_of(text: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("keys.pem");
    std::fs::write(&file, text).unwrap();
    (directory, file)
}

fn keys_of(text: &str) -> Result<Vec<PublicKey>, String> {
    let (_directory, file) = file_of(text);
    let shown = file.display().to_string();
    public_keys(&[file]).map_err(|error| error.to_string().replace(&shown, "FILE"))
}

fn signing_key_of(text: &str) -> Result<SigningKey, String> {
    let (_directory, file) = file_of(text);
    signing_key(&file).map_err(|error| error.to_string().replace(&file.display().to_string(), "FILE"))
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", BASE64_STANDARD.encode(der))
}

/// The digests and numbers are those that OpenSSL computes.
#[test]
fn ids_and_published_forms_are_those_of_the_reference() {
    let keys = keys_of(&format!("a comment\n{EC}{RSA}")).unwrap();
    let ec = json!({
        "use": "sig", "kty": "EC", "kid": "OY3xs4fRjmGf_xhHTazoxl3kmLl9tx-BNk43K7UooHY", "alg": "ES256",
        "crv": "P-256", "x": "wtJ_CvlsOWGf5djgyTvpgwqhXhXIjjM12syKInK3xzM",
        "y": "vEtNioIlNR3QfMjBhgJQPlutkY4FfILwh9h4ofkmwGM",
    });
    let n = "vftMzKqmO38ANrDo4KRdUbmId4S7CalYlDJpfaBYzOweFo2cy34IGyBsfeoYRHnAUBZCVXg_jFzWY_nTfkyXAmCHuWzCfEnKE\
        GsWJb5SYbsMuT_gigWCl-36mEzuZXxYX15pvjPh4A7sSgpyGVBXlZuOvSVJi_rYNi_8Y2rfhAb_reP5r7elhexfo8I6pu7pvKY3Yy\
        RT2cvO5nZCSmL2vjPcwYpt6N5Z7PKLGsROrVJWeKG0-z0USs4c3crmgw7iO1ZZ92DQqieKBLRzip3X0qTnoz_O7Myo2qEkrr8I7X6\
        LGSs9VyTfAf6Y1O7afz0ra9zLdGlUJ0CVEllyEibLIQ";
    let rsa = json!({
        "use": "sig", "kty": "RSA", "kid": "tMPPUDKsR24k09jNBpA97nay2L-ug7jnUnXB8jftzxs", "alg": "RS256",
        "n": n, "e": "AQAB",
    });
    assert_eq!(keys.iter().map(PublicKey::jwk).collect::<Vec<_>>(), [&ec, &rsa]);
}

#[test]
fn keys_of_every_kind_sign_what_their_public_halves_verify() {
    let rsa = rsa::KeyPair::generate(rsa::KeySize::Rsa2048).unwrap();
    let rsa: Pkcs8V1Der<'_> = rsa.as_der().unwrap();
    // The form of PKCS #1 stands at the end of that of PKCS #8.
    let (pkcs8, pkcs1) = (rsa.as_ref(), &rsa.as_ref()[26..]);
    let ec = EcdsaKeyPair::generate(&ECDSA_P384_SHA384_FIXED_SIGNING).unwrap();
    let sec1: EcPrivateKeyRfc5915Der<'_> = ec.private_key().as_der().unwrap();
    let made = |kind| KeyPair::generate_for(kind).unwrap().serialize_pem();
    let mut ids = Vec::new();
    for (text, algorithm) in [
        (pem("PRIVATE KEY", pkcs8), "RS256"),
        (pem("RSA PRIVATE KEY", pkcs1), "RS256"),
        (pem("EC PRIVATE KEY", sec1.as_ref()), "ES384"),
        (made(&PKCS_ECDSA_P256_SHA256), "ES256"),
        (made(&PKCS_ECDSA_P384_SHA384), "ES384"),
        (made(&PKCS_ECDSA_P521_SHA512), "ES512"),
    ] {
        let key = signing_key_of(&format!("{EC}{text}")).unwrap();
        let signature = key.sign(b"message").unwrap();
        let public = keys_of(&text).unwrap().remove(0);
        assert_eq!((public.algorithm(), public.id()), (algorithm, key.public().id()));
        assert!(public.verifies(b"message", &signature), "{algorithm}");
        assert!(!public.verifies(b"Message", &signature), "{algorithm}");
        assert!(!public.verifies(b"message", &signature[1..]), "{algorithm}");
        ids.push(public.id().to_owned());
    }
    assert_eq!(ids[0], ids[1]);
    let public: PublicKeyX509Der<'_> = ec.public_key().as_der().unwrap();
    assert_eq!(keys_of(&pem("PUBLIC KEY", public.as_ref())).unwrap()[0].id(), ids[2]);
}

#[test]
fn certificates_give_their_keys() {
    let key = KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::default().self_signed(&key).unwrap();
    let keys = keys_of(&(certificate.pem() + &key.serialize_pem())).unwrap();
    assert_eq!((keys.len(), keys[0].id()), (2, keys[1].id()));
}

#[test]
fn files_that_cannot_be_used_are_named_without_their_keys() {
    let edwards = KeyPair::generate_for(&PKCS_ED25519).unwrap().serialize_pem();
    let kinds = "it is no RSA key, and none on the curves P-256, P-384 and P-521";
    let small = rsa::KeyPair::generate(rsa::KeySize::Rsa2048).unwrap();
    let small: PublicKeyX509Der<'_> = small.public_key().as_der().unwrap();
    let damaged = pem("PUBLIC KEY", &small.as_ref()[..100]);
    for (text, problem) in [
        (String::new(), "FILE: holds no public key, private key or certificate in PEM".to_owned()),
        (pem("X509 CRL", b"x"), "FILE: holds no public key, private key or certificate in PEM".to_owned()),
        (edwards.clone(), format!("FILE: key 1 cannot be used: {kinds}")),
        (EC.to_owned() + &damaged, format!("FILE: key 2 cannot be used: {kinds}")),
        (pem("CERTIFICATE", b"x"), "FILE: key 1 cannot be used: it is no certificate".to_owned()),
    ] {
        assert_eq!(keys_of(&text).err(), Some(problem));
    }
    let none = "FILE: holds no private key in PEM, in the form of PKCS #1, PKCS #8 or SEC 1";
    assert_eq!(signing_key_of(EC).err().as_deref(), Some(none));
    assert_eq!(
        signing_key_of(&edwards).err(),
        Some(format!("FILE: the private key cannot be used: {kinds}"))
    );
    let missing = signing_key(Path::new("no/such.pem")).err().unwrap();
    assert_eq!(missing.to_string(), "cannot read no/such.pem");
}
