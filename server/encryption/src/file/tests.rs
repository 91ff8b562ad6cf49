//! Files that are right, and what is told of those that are not.

use orch_meta::{ORCH, VOCABULARIES};
use orch_storage::ResourceName;

use super::*;

const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

fn read(text: &str) -> Result<Keyring, Fault> {
    parse(text, &ORCH, VOCABULARIES)
}

fn file(rules: &str) -> String {
    format!("apiVersion: apiserver.config.orch.io/v1\nkind: EncryptionConfiguration\nresources:\n{rules}")
}

fn shown(keyring: &Keyring, resource: &str) -> Vec<&'static str> {
    let entries = keyring.entries(&ResourceName::new(resource));
    entries.map_or_else(Vec::new, |entries| entries.iter().map(|entry| entry.shown()).collect())
}

#[test]
fn resources_get_their_providers() {
    let keyring = read(&file(&format!(
        "- resources: [secrets, leases.coordination.orch.io]
  providers:
  - aesgcm: {{keys: [{{name: b, secret: {KEY}}}, {{name: a, secret: {KEY}}}]}}
  - secretbox: {{keys: [{{name: s, secret: {KEY}}}]}}
  - identity: {{}}
- resources: [secrets, '*.example.com']
  providers:
  - aescbc: {{keys: [{{name: c, secret: {KEY}}}]}}
- resources: ['*.']
  providers: [{{identity: {{}}}}]
- resources: ['*.*']
  providers: [{{identity: {{}}}}, {{secretbox: {{keys: [{{name: s, secret: {KEY}}}]}}}}]
"
    )))
    .unwrap();
    let (gcm, cbc, secretbox) = ("k8s:enc:aesgcm:v1:", "k8s:enc:aescbc:v1:", "k8s:enc:secretbox:v1:");
    for (resource, expected) in [
        ("secrets", vec![gcm, gcm, secretbox, "identity", cbc]),
        ("leases.coordination.orch.io", vec![gcm, gcm, secretbox, "identity"]),
        ("things.example.com", vec![cbc]),
        ("configmaps", vec!["identity"]),
        ("daemonsets.apps", vec!["identity", secretbox]),
    ] {
        assert_eq!(shown(&keyring, resource), expected, "{resource}");
    }
    let known = ["secrets", "leases.coordination.orch.io"].map(ResourceName::new);
    assert_eq!(keyring.unmatched(&known.each_ref()), ["*.example.com"]);
    let debug = format!("{keyring:?}");
    assert!(debug.contains("secrets") && !debug.contains("MDEy"), "{debug}");
}

/// A file that was written for the other vocabulary is read in its words.
#[test]
fn groups_are_read_as_the_file_spells_them() {
    let text = file(&format!(
        "- resources: [leases.coordination.k8s.io, daemonsets.apps]
  providers: [{{secretbox: {{keys: [{{name: s, secret: {KEY}}}]}}}}]
"
    ))
    .replace("orch.io", "k8s.io");
    let keyring = read(&text).unwrap();
    for resource in ["leases.coordination.orch.io", "daemonsets.apps"] {
        assert_eq!(shown(&keyring, resource).len(), 1, "{resource}");
    }
}

#[test]
fn every_fault_has_its_place() {
    let rule = |resources: &str, providers: &str| {
        file(&format!("- resources: [{resources}]\n  providers:\n  - {providers}\n"))
    };
    let identity = "identity: {}";
    let keyed = |algorithm: &str, key: &str| rule("secrets", &format!("{algorithm}: {{keys: [{key}]}}"));
    for (text, expected) in [
        (String::new(), "1:1: "),
        (
            file("  []").replace("orch.io/v1", "orch.io/v2"),
            "1:13: apiVersion must be \"apiserver.config.orch.io/v1\"",
        ),
        (
            file("- resources: []").replace("Configuration\n", "Config\n"),
            "2:7: kind must be \"EncryptionConfiguration\"",
        ),
        (file("  []\n"), "1:1: resources must not be empty: nothing would be sealed"),
        (rule("", identity), "4:3: resources must name at least one"),
        (file("- resources: [secrets]\n  providers: []\n"), "4:3: providers must have at least one"),
        (file("- resources: [secrets]\n  provider: []\n"), "5:3: unknown field `provider`"),
        (rule("secrets, Pods", identity), "4:24: a resource has no capital letters"),
        (rule("'*'", identity), "4:15: use *. for all resources of the core group"),
        (rule("secrets.*", identity), "4:15: the same resource in all groups cannot be named"),
        (rule("events.events.orch.io", identity), "4:15: objects of this group are stored as events"),
        (rule("secrets, '*.'", identity), "4:24: *. and secrets name the same resources"),
        (rule("a.b, a.b", identity), "4:20: a.b and a.b name the same resources"),
        (rule("'*.*', a.b", identity), "4:22: a.b and *.* name the same resources"),
        (
            file(
                "- resources: ['*.']\n  providers: [{identity: {}}]\n- resources: [secrets]\n  providers: \
                 [{identity: {}}]\n",
            ),
            "6:15: secrets is covered by the earlier *.",
        ),
        (rule("secrets", "kms: {name: x}"), "6:10: the provider kms is not supported"),
        (rule("secrets", "{}"), "6:5: a provider is one of secretbox, aesgcm, aescbc and identity"),
        (rule("secrets", "aesgmc: {keys: []}"), "6:5: unknown field `aesgmc`"),
        (
            rule("secrets", &format!("identity: {{}}\n    aesgcm: {{keys: [{{name: a, secret: {KEY}}}]}}")),
            "6:5: an item has one provider",
        ),
        (keyed("aesgcm", ""), "6:13: keys must have at least one"),
        (keyed("aesgcm", &format!("{{secret: {KEY}}}")), "6:21: a key needs a name"),
        (keyed("aesgcm", "{name: a}"), "6:21: a key needs a secret"),
        (keyed("aesgcm", "{name: a, secret: '%'}"), "6:39: the secret of a key must be base64"),
        (
            keyed("aesgcm", "{name: a, secret: MDEyMw==}"),
            "6:39: the secret has 4 bytes, and must have 16 or 24 or 32",
        ),
        (
            keyed("secretbox", "{name: a, secret: MDEyMzQ1Njc4OWFiY2RlZg==}"),
            "6:42: the secret has 16 bytes, and must have 32",
        ),
    ] {
        let ((line, column), problem) = read(&text).unwrap_err();
        let told = format!("{line}:{column}: {problem}");
        assert!(told.starts_with(expected), "{told}\n{text}");
        assert!(!told.contains("MDEy"), "a message shows a key: {told}");
    }
}
