//! What is kept of values, and what is read back, while keys come and go.

use orch_meta::{ORCH, VOCABULARIES};
use orch_storage::ResourceName;

use super::*;
use crate::file;

const VALUE: &[u8] = br#"{"kind":"Secret","apiVersion":"v1","data":{"password":"c2VjcmV0"}}"#;
const ONE: &str = "name: one, secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const TWO: &str = "name: two, secret: MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
/// The name of the first key, and the secret of the second one.
const WRONG_ONE: &str = "name: one, secret: MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

fn keyring(providers: &str) -> Keyring {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.yaml");
    let text = format!(
        "apiVersion: apiserver.config.orch.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: \
         [secrets]\n  providers: [{providers}]\n"
    );
    std::fs::write(&path, text).unwrap();
    file::read(&path, &ORCH, VOCABULARIES).unwrap()
}

fn with(providers: &str) -> Encryption {
    Encryption::new(keyring(providers))
}

fn provider(name: &str, keys: &[&str]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("{{{key}}}")).collect();
    format!("{{{name}: {{keys: [{}]}}}}", keys.join(", "))
}

fn key(name: &str) -> Key {
    Key::new(ResourceName::new("secrets"), "n", name)
}

fn sealed(encryption: &Encryption) -> Sealed {
    encryption.seal(&key("a"), &key("a"), VALUE).unwrap().unwrap()
}

fn open(encryption: &Encryption, kept: &[u8]) -> Result<(Vec<u8>, Option<Seal>), String> {
    let opened = encryption.open(&key("a"), &key("a"), Bytes::copy_from_slice(kept));
    opened.map(|opened| (opened.value.to_vec(), opened.seal)).map_err(|error| error.to_string())
}

fn is_stale(encryption: &Encryption, seal: Option<Seal>) -> bool {
    encryption.is_stale(&ResourceName::new("secrets"), seal)
}

#[test]
fn keys_are_exchanged_one_by_one() {
    for name in ["aesgcm", "aescbc", "secretbox"] {
        let encryption = with(&format!("{}, {{identity: {{}}}}", provider(name, &[ONE])));
        assert_eq!(open(&encryption, VALUE).unwrap(), (VALUE.to_vec(), None), "what was there before");
        assert!(is_stale(&encryption, None));
        let old = sealed(&encryption);
        assert!(old.bytes.starts_with(format!("k8s:enc:{name}:v1:one:").as_bytes()));
        assert_eq!(open(&encryption, &old.bytes).unwrap(), (VALUE.to_vec(), Some(old.seal)));
        assert!(!is_stale(&encryption, Some(old.seal)));

        encryption.replace(keyring(&provider(name, &[TWO, ONE])));
        assert_eq!(open(&encryption, &old.bytes).unwrap(), (VALUE.to_vec(), Some(old.seal)));
        assert!(is_stale(&encryption, Some(old.seal)));
        let new = sealed(&encryption);
        assert!(new.bytes.starts_with(format!("k8s:enc:{name}:v1:two:").as_bytes()));
        assert!(!is_stale(&encryption, Some(new.seal)));

        let last = keyring(&provider(name, &[TWO]));
        let secrets = ResourceName::new("secrets");
        assert!(last.opens(&secrets, Some(new.seal)));
        assert!(!last.opens(&secrets, Some(old.seal)) && !last.opens(&secrets, None));
        encryption.replace(last);
        let missing = open(&encryption, &old.bytes).unwrap_err();
        assert!(
            missing.contains(&format!("\"k8s:enc:{name}:v1:one:\", and no such key of secrets")),
            "{missing}"
        );
        let plain = open(&encryption, VALUE).unwrap_err();
        assert_eq!(plain, "it is not sealed, and identity is none of the providers of secrets");

        encryption.replace(keyring(&provider(name, &[WRONG_ONE])));
        let wrong = open(&encryption, &old.bytes).unwrap_err();
        assert!(wrong.contains("does not open it: it is another one, or the value was changed"), "{wrong}");
    }
}

/// Two lists of the same provider have the same prefix; the second is asked where the first fails.
#[test]
fn keys_of_one_name_are_all_tried() {
    let old = sealed(&with(&provider("aescbc", &[ONE])));
    let both = with(&format!("{}, {}", provider("aescbc", &[WRONG_ONE]), provider("aescbc", &[ONE])));
    assert_eq!(open(&both, &old.bytes).unwrap(), (VALUE.to_vec(), Some(old.seal)));
    assert!(is_stale(&both, Some(old.seal)));
}

/// To leave encryption, identity comes first.
#[test]
fn what_is_sealed_is_never_taken_for_a_value() {
    let old = sealed(&with(&provider("secretbox", &[ONE])));
    let leaving = with(&format!("{{identity: {{}}}}, {}", provider("secretbox", &[ONE])));
    assert_eq!(open(&leaving, &old.bytes).unwrap().1, Some(old.seal));
    assert!(leaving.seal(&key("a"), &key("a"), VALUE).unwrap().is_none());
    assert!(is_stale(&leaving, Some(old.seal)) && !is_stale(&leaving, None));
    for without in [Encryption::default(), with("{identity: {}}")] {
        assert!(open(&without, &old.bytes).unwrap_err().contains("k8s:enc:secretbox:v1:one:"));
        assert!(is_stale(&without, Some(old.seal)));
    }
    for text in ["k8s:enc:", "k8s:enc:::::::::", "k8s:enc:kms:v2:x:\u{0}\u{ff}", "k8s:enc:secretbox:v1:one:"]
    {
        open(&leaving, text.as_bytes()).unwrap_err();
        open(&Encryption::default(), text.as_bytes()).unwrap_err();
    }
}

/// With this mode, nobody can put the sealed text of one object in the place of another one.
#[test]
fn a_value_of_gcm_belongs_to_its_place() {
    let encryption = with(&provider("aesgcm", &[ONE]));
    let kept = Bytes::from(sealed(&encryption).bytes);
    assert!(encryption.open(&key("b"), &key("b"), kept.clone()).is_err());
    assert!(encryption.open(&key("a"), &"/registry/secrets/n/a", kept).is_err());
}

#[test]
fn operations_are_counted() {
    let encryption = with(&format!("{}, {{identity: {{}}}}", provider("secretbox", &[ONE])));
    let kept = sealed(&encryption);
    open(&encryption, &kept.bytes).unwrap();
    open(&encryption, VALUE).unwrap();
    open(&encryption, b"k8s:enc:kms:v2:x:").unwrap_err();
    encryption.seal(&Key::new(ResourceName::new("pods"), "n", "a"), &"", VALUE).unwrap();
    let told: Vec<String> = encryption
        .counts()
        .get()
        .into_iter()
        .map(|(of, durations)| {
            let count = durations.count();
            assert!(durations.sum > 0.0);
            format!("{} {} {} {} {count}", of.resource, of.direction, of.prefix, of.succeeded)
        })
        .collect();
    assert_eq!(
        told,
        [
            "secrets from_storage identity true 1",
            "secrets from_storage k8s:enc:secretbox:v1: true 1",
            "secrets from_storage unknown false 1",
            "secrets to_storage k8s:enc:secretbox:v1: true 1",
        ]
    );
}
