//! Starts that cannot succeed: one clear line on standard error and exit code 2, before anything listens.

use std::{
    fs::{File, Permissions},
    future,
    io::Read as _,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use orch_tests::{Client, TestServer};
use serde_json::Value;
use tokio::time::sleep;

/// The exit code and the output of a server that refused to start.
struct Refusal {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

async fn refused(directory: &Path, flags: &[&str]) -> Refusal {
    let mut command = TestServer::command();
    if !flags.iter().any(|flag| flag.contains("--secure-p")) {
        // Other tests of this machine may take the port that is the default.
        command.arg("--secure-port=0");
    }
    command.current_dir(directory).args(flags).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The other end of standard input stays open, or the server under test would end by itself.
    let mut process = command.spawn().unwrap();
    let input = process.stdin.take();
    let output = tokio::time::timeout(Duration::from_secs(20), process.wait_with_output()).await;
    drop(input);
    let output = output.unwrap_or_else(|_| panic!("the server started with {flags:?}")).unwrap();
    Refusal {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Refusal {
    /// Panics where the refusal is not one line that names what is wrong.
    fn expect(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        assert_eq!(self.stdout, "");
        // Log lines may precede the verdict; it is one line, and the last.
        let lines: Vec<&str> = self.stderr.lines().collect();
        let said: Vec<&&str> = lines.iter().filter(|line| line.starts_with("orch-")).collect();
        assert_eq!(said.len(), 1, "{}", self.stderr);
        assert_eq!(lines.last(), said.first().copied(), "{}", self.stderr);
        for word in words {
            assert!(said[0].contains(word), "{word:?} is not in: {}", said[0]);
        }
        for bad in ["panicked", "RUST_BACKTRACE", "StartError", ".rs:"] {
            assert!(!self.stderr.contains(bad), "{}", self.stderr);
        }
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table with a row for each mistake")]
async fn flags_that_are_wrong_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("bad.csv"), "only-a-token\n").unwrap();
    std::fs::write(path.join("bad.yaml"), "authorizers:\n- type: Nodes\n  name: a\n").unwrap();
    std::fs::write(path.join("bad.pem"), "no certificate\n").unwrap();
    let head = "apiVersion: apiserver.config.orch.io/v1beta1\nkind: AuthenticationConfiguration\n";
    std::fs::write(path.join("anonymous.yaml"), format!("{head}anonymous: {{enabled: true}}\n")).unwrap();
    let issuer = "jwt:\n- issuer: {url: https://a.example, audiences: [b]}\n  claimMappings:\n    \
                  username: {expression: claims.sub + 1u + true}\n";
    std::fs::write(path.join("expression.yaml"), format!("{head}{issuer}")).unwrap();
    let authorizers = |kind: &str, rest: &str| {
        format!("apiVersion: apiserver.config.orch.io/v1\nkind: {kind}\nauthorizers:\n{rest}")
    };
    let of_webhook = |ttl: &str, timeout: &str| {
        let rest = format!(
            "- type: Webhook\n  name: hook\n  webhook:\n    timeout: {timeout}\n    \
             authorizedTTL: {ttl}\n    \
             subjectAccessReviewVersion: v1\n    matchConditionSubjectAccessReviewVersion: v1\n    \
             failurePolicy: Deny\n    connectionInfo: {{type: InClusterConfig}}\n"
        );
        authorizers("AuthorizationConfiguration", &rest)
    };
    let twice = "- {type: RBAC, name: a}\n- {type: Node, name: a}\n";
    let policy = |version: &str, kind: &str| {
        format!("{{\"apiVersion\": \"abac.authorization.orch.io/{version}\", \"kind\": \"{kind}\"}}\n")
    };
    for (name, text) in [
        ("kind.yaml", authorizers("AuthenticationConfiguration", "- {type: RBAC, name: a}\n")),
        ("twice.yaml", authorizers("AuthorizationConfiguration", twice)),
        ("ttl.yaml", of_webhook("0s", "3s")),
        ("timeout.yaml", of_webhook("1m", "31s")),
        ("syntax.jsonl", "# a comment\n{\"user\": \"bob\",}\n".to_owned()),
        ("kind.jsonl", policy("v1beta1", "Role")),
        ("version.jsonl", policy("v1", "Policy")),
        ("field.jsonl", "{\"user\": \"bob\", \"colour\": \"red\"}\n".to_owned()),
    ] {
        std::fs::write(path.join(name), text).unwrap();
    }
    for (flags, words) in [
        (&["--no-such-flag"][..], &["--no-such-flag", "--help"][..]),
        (&["--feature-gates=Nonsense=true"], &["--feature-gates", "unrecognized feature gate: Nonsense"]),
        (&["--feature-gates=ImageVolume=perhaps"], &["--feature-gates", "ImageVolume=perhaps"]),
        (&["--feature-gates=ImageVolume"], &["--feature-gates", "missing bool value for ImageVolume"]),
        (&["--enable-admission-plugins=Nothing"], &["--enable-admission-plugins", "Nothing", "Priority"]),
        (
            &["--enable-admission-plugins=Priority", "--disable-admission-plugins=Priority"],
            &["--enable-admission-plugins", "Priority is in"],
        ),
        (&["--controllers=*,-nothing"], &["--controllers", "there is no controller nothing", "namespace"]),
        (&["--max-body-bytes-per-user=2MiB"], &["--max-body-bytes-per-user", "must be at least 3MiB"]),
        (&["--max-body-bytes-per-address=0"], &["--max-body-bytes-per-address", "must be at least 3MiB"]),
        (&["--service-node-port-range=2-1"], &["--service-node-port-range", "2-1"]),
        (&["--oidc-issuer-url=https://a.example"], &["--oidc-client-id", "needed by --oidc-issuer-url"]),
        (&["--oidc-groups-claim=a"], &["--oidc-client-id", "needed by --oidc-groups-claim"]),
        (
            &["--oidc-issuer-url=http://a.example", "--oidc-client-id=c"],
            &["--oidc-issuer-url", "must begin with https://"],
        ),
        (
            &["--oidc-issuer-url=https://a.example", "--oidc-client-id=c", "--oidc-ca-file=bad.pem"],
            &["--oidc-ca-file", "certificate"],
        ),
        (
            &["--oidc-issuer-url=https://a.example", "--oidc-client-id=c", "--oidc-ca-file=no.pem"],
            &["--oidc-ca-file", "cannot read no.pem"],
        ),
        (&["--oidc-signing-algs=HS256"], &["--oidc-signing-algs", "HS256", "RS256"]),
        (
            &["--oidc-issuer-url=https://a.example", "--oidc-client-id=c", "--oidc-required-claim=a"],
            &["--oidc-required-claim", "\"a\" is not of the form CLAIM=TEXT"],
        ),
        (&["--secure-prot=1"], &["--secure-prot", "--secure-port"]),
        (&["--secure-port=abc"], &["abc", "--secure-port"]),
        (&["--secure-port=70000"], &["70000", "--secure-port"]),
        (&["--bind-address=nowhere"], &["nowhere", "--bind-address"]),
        (&["--bind-address=192.0.2.1"], &["192.0.2.1"]),
        (&["--vocabulary=klingon"], &["klingon", "orch", "kubernetes"]),
        (&["--authorization-mode=Sometimes"], &["Sometimes", "AlwaysAllow"]),
        (&["--authorization-mode=AlwaysAllow,AlwaysAllow"], &["--authorization-mode", "twice"]),
        (&["--authorization-config=missing.yaml"], &["--authorization-config", "missing.yaml"]),
        (&["--authorization-config=bad.yaml"], &["--authorization-config", "bad.yaml:1:1: "]),
        (
            &["--authorization-config=bad.yaml", "--authorization-mode=RBAC"],
            &["--authorization-mode", "--authorization-config"],
        ),
        (&["--authentication-config=missing.yaml"], &["--authentication-config", "missing.yaml"]),
        (&["--authentication-config=bad.yaml"], &["--authentication-config", "bad.yaml:1:1: unknown field"]),
        (
            &["--authentication-config=expression.yaml"],
            &["--authentication-config", "expression.yaml:6:28: expression:1:", "does not take"],
        ),
        (
            &["--authentication-config=anonymous.yaml", "--anonymous-auth=true"],
            &["--authentication-config", "anonymous cannot be given with --anonymous-auth"],
        ),
        (
            &["--authentication-config=anonymous.yaml", "--oidc-issuer-url=https://a.example"],
            &["--oidc-issuer-url", "--authentication-config"],
        ),
        (
            &["--authentication-token-webhook-config-file=missing.yaml"],
            &["--authentication-token-webhook-config-file", "missing.yaml"],
        ),
        (
            &["--authentication-token-webhook-config-file=bad.yaml"],
            &["--authentication-token-webhook-config-file", "bad.yaml"],
        ),
        (
            &["--authentication-token-webhook-version=v1"],
            &["--authentication-token-webhook-config-file", "needed by"],
        ),
        (&["--authorization-mode=Webhook"], &["--authorization-webhook-config-file", "Webhook"]),
        (
            &["--authorization-config=kind.yaml"],
            &["--authorization-config", "kind.yaml:2:7: ", "AuthorizationConfiguration"],
        ),
        (
            &["--authorization-config=twice.yaml"],
            &["--authorization-config", "twice.yaml:5:22: ", "two authorizers called \"a\""],
        ),
        (
            &["--authorization-config=ttl.yaml"],
            &["--authorization-config", "ttl.yaml:8:20: ", "authorizedTTL must be greater than zero"],
        ),
        (
            &["--authorization-config=timeout.yaml"],
            &["--authorization-config", "timeout.yaml:7:14: ", "timeout must not be longer than 30s"],
        ),
        (
            &["--authorization-mode=Webhook", "--authorization-webhook-cache-authorized-ttl=soon"],
            &["--authorization-webhook-cache-authorized-ttl", "soon"],
        ),
        (&["--authorization-mode=ABAC"], &["--authorization-policy-file", "ABAC"]),
        (
            &["--authorization-mode=ABAC", "--authorization-policy-file=missing.jsonl"],
            &["--authorization-policy-file", "missing.jsonl"],
        ),
        (
            &["--authorization-mode=ABAC", "--authorization-policy-file=syntax.jsonl"],
            &["--authorization-policy-file", "syntax.jsonl:2:16: "],
        ),
        (
            &["--authorization-mode=ABAC", "--authorization-policy-file=kind.jsonl"],
            &["--authorization-policy-file", "kind.jsonl:1: ", "kind is \"Role\", not Policy"],
        ),
        (
            &["--authorization-mode=ABAC", "--authorization-policy-file=version.jsonl"],
            &["--authorization-policy-file", "version.jsonl:1: ", "not abac.authorization.orch.io/v1beta1"],
        ),
        (
            &["--authorization-mode=ABAC", "--authorization-policy-file=field.jsonl"],
            &["--authorization-policy-file", "field.jsonl:1:", "colour"],
        ),
        (&["--history-retention=-5m"], &["--history-retention", "-5m"]),
        (&["--request-timeout=soon"], &["--request-timeout", "soon"]),
        (&["--tls-cert-file=a.pem"], &["--tls-cert-file", "--tls-private-key-file"]),
        (&["--tls-cert-file=bad.pem", "--tls-private-key-file=bad.pem"], &["bad.pem"]),
        (&["--token-auth-file=missing.csv"], &["--token-auth-file", "missing.csv"]),
        (&["--token-auth-file=bad.csv"], &["--token-auth-file", "bad.csv"]),
        (&["--service-account-key-file=missing.pem"], &["--service-account-key-file", "missing.pem"]),
        (
            &["--service-account-key-file=bad.pem"],
            &["--service-account-key-file", "bad.pem", "no public key"],
        ),
        (
            &["--service-account-signing-key-file=bad.pem"],
            &["--service-account-signing-key-file", "bad.pem", "no private key"],
        ),
        (&["--service-account-issuer="], &["--service-account-issuer", "empty"]),
        (&["--service-account-issuer=https://a b"], &["--service-account-issuer", "https://a b"]),
        (
            &["--service-account-issuer=a", "--service-account-issuer=a"],
            &["--service-account-issuer", "twice"],
        ),
        (&["--service-account-jwks-uri=http://a/keys"], &["--service-account-jwks-uri", "http://a/keys"]),
        (&["--service-account-jwks-uri=https:///keys"], &["--service-account-jwks-uri", "https:///keys"]),
        (&["--service-account-jwks-uri=https://:1/keys"], &["--service-account-jwks-uri", "https://:1/keys"]),
        (
            &["--service-account-jwks-uri=https://a/keys", "--service-account-issuer=me"],
            &["--service-account-jwks-uri", "issuer", "me"],
        ),
        (
            &["--service-account-max-token-expiration=59m"],
            &["--service-account-max-token-expiration", "1 hour"],
        ),
        (
            &["--service-account-max-token-expiration=soon"],
            &["--service-account-max-token-expiration", "soon"],
        ),
        (&["--client-ca-file=bad.pem"], &["--client-ca-file", "bad.pem"]),
        (&["--client-ca-file=missing.pem"], &["--client-ca-file", "missing.pem"]),
        (&["--requestheader-client-ca-file=bad.pem"], &["--requestheader-client-ca-file", "bad.pem"]),
        (&["--requestheader-client-ca-file=missing.pem"], &["--requestheader-client-ca-file", "missing.pem"]),
        (&["--requestheader-allowed-names=a"], &["--requestheader-allowed-names", "needs --requestheader"]),
        (&["--log-level=loud"], &["--log-level", "loud"]),
        (&["serve"], &["serve"]),
        // Below a file, nobody can make a directory: not even root.
        (&["--data-dir=bad.csv/data"], &["--data-dir", "bad.csv/data"]),
    ] {
        refused(path, flags).await.expect(2, words);
    }
}

#[tokio::test]
async fn a_port_in_use_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refusal = refused(directory.path(), &["--secure-port", &port]).await;
    refusal.expect(2, &["--secure-port", &port, "another program listens"]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "keys are made before it is known");
}

#[tokio::test]
async fn one_line_of_the_log_says_what_runs_where() {
    let mut server = TestServer::options().flag("--log-format=json").start().await;
    assert!(server.stop().await.success());
    let log = server.log();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let listens = lines.iter().find(|line| line["message"] == "the server listens").expect(&log);
    assert_eq!(listens["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(listens["data_dir"], server.data_dir().to_str().unwrap());
    assert_eq!(listens["address"], server.address().to_string());
}

#[tokio::test]
async fn open_access_is_warned_of_at_each_start() {
    let mut server = TestServer::options().flag("--authorization-mode=AlwaysAllow").start().await;
    server.logged("every caller may do everything").await;
    server.kill().await;
    server.restart_with("--anonymous-auth=true").await;
    server.logged("everyone who reaches the address may do everything").await;
}

#[tokio::test]
async fn a_log_in_json_holds_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let refusal = refused(directory.path(), &["--log-format=json", "--token-auth-file=missing.csv"]).await;
    assert_eq!(refusal.code, Some(2));
    let lines: Vec<Value> =
        refusal.stderr.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let message = lines.last().unwrap()["message"].to_string();
    assert!(message.contains("--token-auth-file") && message.contains("missing.csv"), "{message}");
}

#[tokio::test]
async fn requests_are_logged_without_what_libraries_say() {
    let server = TestServer::options().flag("-v3").start().await;
    server.admin().get("/version").await.expect(200);
    while !server.log().contains("path=\"/version\"") {
        tokio::task::yield_now().await;
    }
    let log = server.log();
    let strange = log.lines().find(|line| line.contains(" DEBUG ") && !line.contains(" requests: "));
    assert_eq!(strange, None);
}

#[tokio::test]
async fn a_log_that_cannot_be_written_does_not_end_the_server() {
    let server = TestServer::options().log("/dev/full").flag("-v3").start().await;
    let admin = server.admin();
    admin.get("/version").await.expect(200);
    assert!(lost_lines(&admin, 2).await >= 2);
}

/// The pipe that carries the log has room for 64 KiB, and nobody reads it.
#[tokio::test]
async fn a_log_that_nobody_reads_does_not_stop_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("log");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Opened for both, so that nobody waits for the other end.
    let _reader = File::options().read(true).write(true).open(&pipe).unwrap();
    let mut server = TestServer::options().log(&pipe).flag("-v3").start().await;
    let admin = server.admin();
    let answered = stream::iter(0..6_000).map(|_| admin.get("/version")).buffer_unordered(50);
    assert!(answered.all(|answer| future::ready(answer.status == 200)).await);
    assert!(lost_lines(&admin, 1).await >= 1);
    assert!(server.stop().await.success());
}

/// Whoever read the log is gone, and later somebody else comes.
#[tokio::test]
async fn a_log_whose_reader_is_gone_does_not_end_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("log");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = File::options().read(true).write(true).open(&pipe).unwrap();
    let mut server = TestServer::options().log(&pipe).flag("-v3").start().await;
    drop(reader);
    let admin = server.admin();
    for _ in 0..5 {
        admin.get("/version").await.expect(200);
    }
    assert!(lost_lines(&admin, 5).await >= 5);
    let mut reader = File::open(&pipe).unwrap();
    let read = tokio::task::spawn_blocking(move || {
        let (mut text, mut part) = (String::new(), [0; 4096]);
        while !text.contains("lines of this log could not be written") {
            let length = reader.read(&mut part).unwrap();
            assert!(length > 0, "the log ends: {text}");
            text.push_str(&String::from_utf8_lossy(&part[..length]));
        }
        reader
    });
    while !read.is_finished() {
        admin.get("/version").await.expect(200);
    }
    let reader = read.await.unwrap();
    assert!(server.stop().await.success());
    drop(reader);
}

/// How many lines of its log a server has lost; waits until it is so many.
async fn lost_lines(admin: &Client, expected: u64) -> u64 {
    let began = Instant::now();
    loop {
        let metrics = admin.get("/metrics").await.text();
        let lost = metrics.lines().find_map(|line| line.strip_prefix("apiserver_log_lines_lost_total "));
        let lost = lost.expect(&metrics).parse().unwrap();
        if lost >= expected || began.elapsed() > Duration::from_secs(10) {
            return lost;
        }
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_data_directory_has_one_server_at_a_time() {
    let mut server = TestServer::start().await;
    let data = server.data_dir();
    let flags = ["--data-dir", data.to_str().unwrap(), "--secure-port=0"];
    let refusal = refused(server.scratch_dir(), &flags).await;
    refusal.expect(2, &["--data-dir", "in use by another server"]);
    assert!(server.stop().await.success());
    server.restart().await;
}

/// Whoever can write to the directory can put keys and data into it, and whoever can read the keys has them.
#[tokio::test]
async fn a_data_directory_that_is_open_to_others_is_refused() {
    let mut server = TestServer::start().await;
    assert!(server.stop().await.success());
    let data = server.data_dir();
    for (path, mode, usual, words) in [
        ("", 0o777, 0o700, ["can be changed", "mode 777"]),
        ("", 0o770, 0o700, ["can be changed", "mode 770"]),
        ("pki", 0o722, 0o700, ["can be changed", "pki"]),
        ("pki/ca.key", 0o644, 0o600, ["can be read", "ca.key"]),
        ("pki/service-account.key", 0o640, 0o600, ["can be read", "service-account.key"]),
        ("continue.key", 0o604, 0o600, ["can be read", "continue.key"]),
    ] {
        let path = data.join(path);
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let flags = ["--data-dir", data.to_str().unwrap(), "--secure-port=0"];
        let refusal = refused(server.scratch_dir(), &flags).await;
        refusal.expect(2, &[&words[..], &["--data-dir", &format!("chmod {usual:o} ")][..]].concat());
        std::fs::set_permissions(&path, Permissions::from_mode(usual)).unwrap();
    }
    server.restart().await;
}

#[tokio::test]
async fn help_and_version_are_no_errors() {
    let directory = tempfile::tempdir().unwrap();
    let help = refused(directory.path(), &["--help"]).await;
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    for flag in ["--data-dir", "--secure-port", "--vocabulary", "--token-auth-file", "--history-retention"] {
        assert!(help.stdout.contains(flag), "{flag} is not in:\n{}", help.stdout);
    }
    let version = refused(directory.path(), &["--version"]).await;
    assert_eq!((version.code, version.stderr.as_str()), (Some(0), ""));
    assert!(version.stdout.starts_with("orch-apiserver "), "{}", version.stdout);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is created");
}
