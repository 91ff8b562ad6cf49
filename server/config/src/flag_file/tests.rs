//! Files of flags, and the configurations or messages that they give.

use std::{path::Path, time::Duration};

use orch_auth::authorization::Mode;
use orch_test_catalog::{KUBERNETES, ORCH};
use tempfile::TempDir;

use crate::{Config, Invocation, Work, parse, start_error::StartError};

/// What a server makes of a file and further flags.
fn read(text: &str, flags: &[&str]) -> (TempDir, Result<Invocation, StartError>) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("flags.yaml");
    std::fs::write(&file, text).unwrap();
    let config = format!("--config={}", file.display());
    let arguments = ["orch-apiserver", &config].into_iter().chain(flags.iter().copied());
    let read = parse(arguments, &[&ORCH, &KUBERNETES]);
    (directory, read)
}

fn config(text: &str, flags: &[&str]) -> Config {
    match read(text, flags).1 {
        Ok(Invocation::Serve(config)) => *config,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn flags_of_a_file_reach_the_configuration() {
    let text = "\
# Where clients find the server.
bind-address: '::1'
secure-port: 7443
data-dir: \"a b\"
request-timeout: 90s
anonymous-auth: false
enable-bootstrap-token-auth: yes
accept-data-loss: true
self-check: false
authorization-mode: [Node, RBAC]
service-account-issuer:
  - https://a
  - https://b
controllers: '*,-namespace'
feature-gates: [AllAlpha=true]
oidc-username-prefix: '-'
oidc-issuer-url: https://i
oidc-client-id: c
log-level: 3
";
    let config = config(text, &[]);
    assert_eq!(config.serving.address.to_string(), "[::1]:7443");
    assert_eq!(config.storage.data_dir, Path::new("a b"));
    assert_eq!(config.serving.request_timeout, Duration::from_secs(90));
    assert!(!config.authentication.anonymous && config.authentication.bootstrap_tokens);
    assert!(config.storage.accept_data_loss && !config.storage.self_check);
    assert_eq!(config.authorization.modes, [Mode::Node, Mode::Rbac]);
    assert_eq!(config.authentication.tokens.issuers, ["https://a", "https://b"]);
    assert_eq!(config.controllers, ["*", "-namespace"]);
    assert_eq!(config.authentication.oidc.unwrap().username_prefix, "");
    assert_eq!(config.logging.filter, "info,requests=debug");
}

#[test]
fn the_command_line_counts_instead_of_the_file() {
    let text = "secure-port: 1\ncontrollers: [a, b]\nanonymous-auth: true\nevent-ttl: 2m\n";
    let config = config(text, &["--secure-port=2", "--controllers=c", "--anonymous-auth=false"]);
    assert_eq!(config.serving.address.port(), 2);
    assert_eq!(config.controllers, ["c"]);
    assert!(!config.authentication.anonymous);
    assert_eq!(config.storage.event_ttl, Duration::from_mins(2));
}

#[test]
fn an_import_takes_the_same_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("flags.yaml");
    std::fs::write(&file, "data-dir: d\nvocabulary: kubernetes\n").unwrap();
    let config = format!("--config={}", file.display());
    for (arguments, data_dir) in
        [(&["import", &config, "m.yaml"][..], "d"), (&["import", "m.yaml", &config, "--data-dir=e"], "e")]
    {
        match parse(["orch-apiserver"].iter().chain(arguments), &[&ORCH, &KUBERNETES]) {
            Ok(Invocation::Work(config, Work::Import(flags))) => {
                assert_eq!(flags.manifests, Path::new("m.yaml"));
                assert_eq!(config.storage.data_dir, Path::new(data_dir));
                assert_eq!(config.vocabulary.name, "kubernetes");
            }
            other => panic!("{arguments:?}: {other:?}"),
        }
    }
}

#[test]
fn a_file_may_be_empty() {
    for text in ["", "# nothing\n", "{}\n"] {
        assert_eq!(config(text, &[]).serving.address.port(), 6443, "{text:?}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let mut wrong = Vec::new();
    for (text, expected) in [
        ("secure-prot: 1\n", "1:1: there is no flag \"secure-prot\" (did you mean secure-port?)"),
        ("zzz: 1\n", "1:1: there is no flag \"zzz\""),
        (
            "data-dir: d\n--secure-port: 1\n",
            "2:1: there is no flag \"--secure-port\" (did you mean secure-port?)",
        ),
        ("securePort: 1\n", "1:1: there is no flag \"securePort\" (did you mean secure-port?)"),
        ("config: other.yaml\n", "1:1: config is for the command line alone"),
        ("help: true\n", "1:1: there is no flag \"help\""),
        ("event-ttl: 1h\n\nevent-ttl: 2h\n", "3:1: event-ttl is there already, on line 1"),
        (
            "data-dir: d\nsecure-port: 70000\n",
            "2:14: invalid value '70000' for '--secure-port <PORT>': 70000 is not in 0..=65535",
        ),
        (
            "authorization-mode:\n  - Node\n  - Nobody\n",
            "3:5: invalid value 'Nobody' for '--authorization-mode <MODE[,MODE...]>' (one of: AlwaysAllow, \
             AlwaysDeny, ABAC, Node, RBAC, Webhook)",
        ),
        (
            "anonymous-auth: maybe\n",
            "1:17: invalid value 'maybe' for '--anonymous-auth[=<BOOL>]': value was not a boolean",
        ),
        ("accept-data-loss: 1\n", "1:19: accept-data-loss must be true or false"),
        ("secure-port: [1]\n", "1:14: secure-port takes one value, not a list"),
        ("controllers: []\n", "1:14: the list of controllers is empty"),
        ("controllers: [[a]]\n", "1:15: a value or a list of values is wanted for controllers"),
        (
            "feature-gates: {AllAlpha: true}\n",
            "1:16: a value or a list of values is wanted for feature-gates",
        ),
        ("data-dir:\nsecure-port: 1\n", "1:9: data-dir has no value"),
        ("data-dir: ~\n", "1:11: data-dir has no value"),
        ("data-dir: &a d\naudit-policy-file: *a\n", "2:20: aliases are not read here"),
        ("data-dir: !!str d\n", "1:17: a value or a list of values is wanted for data-dir"),
        ("- secure-port\n", "1:1: a mapping of flags is wanted here"),
        ("secure-port\n", "1:1: a mapping of flags is wanted here"),
        ("[a]: 1\n", "1:1: the name of a flag is wanted here"),
        ("data-dir: d\n---\ndata-dir: e\n", "2:1: there is a second document; one is read"),
        // Faults that show only when all flags are there.
        ("event-ttl: 1h\ntls-cert-file: a\n", "2:1: --tls-cert-file: needs --tls-private-key-file too"),
        ("service-cluster-ip-range: nowhere\n", "1:1: --service-cluster-ip-range: "),
    ] {
        let (directory, read) = read(text, &[]);
        let error = read.expect_err("must be refused");
        let said = error.to_string();
        let said = said.strip_prefix(&format!("{}/flags.yaml:", directory.path().display()));
        let said = said.unwrap_or_else(|| panic!("{text:?}: {error}"));
        let is_right = if expected.ends_with(": ") { said.starts_with(expected) } else { said == expected };
        if !is_right {
            wrong.push(format!("{text:?}: {said}"));
        }
        assert_eq!(error.exit_code(), std::process::ExitCode::from(2), "{text:?}");
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn text_that_is_no_yaml_is_named_with_its_place() {
    for (text, place) in [("a: 'b\n", ""), ("data-dir: [a\n", ""), ("a: b: c\n", "1:5: ")] {
        let (directory, read) = read(text, &[]);
        let said = read.expect_err("must be refused").to_string();
        let prefix = format!("{}/flags.yaml:{place}", directory.path().display());
        assert!(said.starts_with(&prefix) && said.lines().count() == 1, "{text:?}: {said}");
    }
}

#[test]
fn a_file_that_is_missing_is_named() {
    let error = parse(["orch-apiserver", "--config=/no/such.yaml"], &[&ORCH]).unwrap_err().to_string();
    assert_eq!(error, "--config: cannot read /no/such.yaml: No such file or directory (os error 2)");
}
