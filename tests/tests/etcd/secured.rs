//! etcd with TLS and client certificates, and what is sealed in it.

use std::path::Path;
use std::time::{Duration, Instant};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use orch_tests::{
    TestServer,
    authority::Authority,
    objects::{CONFIG_MAPS, SECRETS, config_map, names},
    server::ServerOptions,
};
use serde_json::json;

use crate::{gateway, member::Member, replicas::over};

/// What must not be found in etcd.
const PASSWORD: &str = "correct-horse-battery-staple";

const KEYS: &str = "\
apiVersion: apiserver.config.orch.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - secretbox: {keys: [{name: one, secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}
";

/// Writes a certificate and its key; the flags with these names say where.
pub fn write_pair(
    directory: &Path,
    name: &str,
    flags: [&str; 2],
    (certificate, key): (String, String),
) -> [String; 2] {
    let (one, two) = (directory.join(format!("{name}.crt")), directory.join(format!("{name}.key")));
    std::fs::write(&one, certificate).expect("the file can be written");
    std::fs::write(&two, key).expect("the file can be written");
    [format!("--{}={}", flags[0], one.display()), format!("--{}={}", flags[1], two.display())]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn etcd_is_reached_with_certificates_only() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let (authority, other) = (Authority::new("etcd"), Authority::new("other"));
    let trusted = format!("--trusted-ca-file={}", authority.write(directory.path(), "ca.crt").display());
    let pair = authority.server_pair("localhost");
    let [certificate, key] = write_pair(directory.path(), "member", ["cert-file", "key-file"], pair);
    let Some(member) = Member::start_with(&[&certificate, &key, &trusted, "--client-cert-auth"]) else {
        return;
    };

    let life = Duration::from_hours(1);
    let names_of_flags = ["etcd-certfile", "etcd-keyfile"];
    let good = write_pair(directory.path(), "client", names_of_flags, authority.pair("orch", None, life));
    let wrong = write_pair(directory.path(), "wrong", names_of_flags, other.pair("orch", None, life));
    let trust = format!("--etcd-cafile={}", directory.path().join("ca.crt").display());
    let distrust = format!("--etcd-cafile={}", other.write(directory.path(), "other.crt").display());
    let flags = |trust: &str, identity: &[String]| {
        let at = ["--storage=etcd".to_owned(), format!("--etcd-servers={}", member.url), trust.to_owned()];
        [&at[..], identity].concat()
    };

    let start = async |prefix: &str| {
        let options = flags(&trust, &good).into_iter().fold(TestServer::options(), ServerOptions::flag);
        options.flag(format!("--etcd-prefix={prefix}")).start().await
    };
    let (one, two) = (start("/secured").await, start("/secured").await);
    one.admin().post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    assert_eq!(names(&two.admin().get(CONFIG_MAPS).await.expect(200)), ["a"]);

    for (what, flags, said) in [
        ("an authority that did not sign", flags(&distrust, &good), "--etcd-servers: "),
        ("no certificate", flags(&trust, &[]), "--etcd-servers: "),
        ("a certificate of somebody else", flags(&trust, &wrong), "--etcd-servers: "),
        ("a certificate without its key", flags(&trust, &good[..1]), "--etcd-certfile: "),
    ] {
        let (code, text) = TestServer::refusal(&flags).await;
        assert!(code.is_some_and(|code| code != 0) && text.contains(said), "{what}: {code:?} {text}");
        assert!(!text.contains("panicked"), "{what}: {text}");
    }
}

/// etcd and those who ask it get certificates of another authority. The server goes on, with its files as
/// they are then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renewed_certificates_count_without_a_restart() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let write = |authority: &str| {
        let authority = Authority::new(authority);
        let trusted = authority.write(directory.path(), "ca.crt");
        let pair = authority.server_pair("localhost");
        let member = write_pair(directory.path(), "member", ["cert-file", "key-file"], pair);
        let pair = authority.pair("orch", None, Duration::from_hours(1));
        let client = write_pair(directory.path(), "client", ["etcd-certfile", "etcd-keyfile"], pair);
        (trusted.display().to_string(), member, client)
    };
    let (trusted, [certificate, key], client) = write("first");
    let trusted_file = format!("--trusted-ca-file={trusted}");
    let Some(mut member) = Member::start_with(&[&certificate, &key, &trusted_file, "--client-cert-auth"])
    else {
        return;
    };
    let options = client.into_iter().fold(over(&member, "/renewed"), ServerOptions::flag);
    let server = options.flag(format!("--etcd-cafile={trusted}")).start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    member.kill();
    write("second");
    member.restart();
    let began = Instant::now();
    // One whose answer was lost has been written all the same.
    while !matches!(admin.post(CONFIG_MAPS, &config_map("b", "1")).await.status, 201 | 409) {
        assert!(began.elapsed() < Duration::from_mins(1), "{}", server.log());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["a", "b"]);
}

const ONE: &str = "secretbox: {keys: [{name: one, secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}";
const TWO: &str = "aesgcm: {keys: [{name: two, secret: MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}";

/// Writes the file of keys for secrets. It appears whole.
fn write_keys(file: &Path, providers: &[&str]) {
    let providers: Vec<String> = providers.iter().map(|provider| format!("  - {provider}\n")).collect();
    let text = format!(
        "apiVersion: apiserver.config.orch.io/v1\nkind: EncryptionConfiguration\nresources:\n\
         - resources: [secrets]\n  providers:\n{}",
        providers.concat()
    );
    let new = file.with_extension("new");
    std::fs::write(&new, text).expect("the file can be written");
    std::fs::rename(new, file).expect("the file can be put in place");
}

/// Waits until a server has read its file of keys so often again.
async fn reloaded(server: &TestServer, count: u32) {
    let name = "apiserver_encryption_config_controller_automatic_reloads_total";
    let line = format!("{name}{{status=\"success\"}} {count}\n");
    let began = Instant::now();
    while !server.admin().get("/metrics").await.text().contains(&line) {
        assert!(began.elapsed() < Duration::from_secs(30), "{line} is not told");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Two servers go from one key to the next without a stop: both know the new one before one of them uses it.
/// The keys that servers share go along, and no file is taken that does not open them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_exchanged_on_all_servers() {
    let Some(member) = Member::start() else { return };
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let file = directory.path().join("keys.yaml");
    let options = || {
        let flag = format!("--encryption-provider-config={}", file.display());
        over(&member, "/rotated").flag(flag).flag("--encryption-provider-config-automatic-reload")
    };
    write_keys(&file, &[ONE]);
    let (mut one, two) = (options().start().await, options().start().await);
    write_keys(&file, &[TWO]);
    let began = Instant::now();
    while !one.log().contains("/rotated/%shared/keys: it is sealed under") {
        assert!(began.elapsed() < Duration::from_secs(30), "{}", one.log());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let path = format!("{SECRETS}/s");
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": PASSWORD},
    });
    let stored = one.admin().post(SECRETS, &secret).await.expect(201);
    let sealed_with = async |key: &str| {
        let found = gateway::below(&member, "/rotated").await;
        let (_, value) = found.iter().find(|(name, _)| name == key).expect("it is there");
        String::from_utf8_lossy(&value[..40.min(value.len())]).into_owned()
    };
    let (object, shared) = ("/rotated/secrets/default/s", "/rotated/%shared/keys");
    for key in [object, shared] {
        assert!(sealed_with(key).await.contains("secretbox:v1:one:"), "{key}");
    }
    for (count, providers) in [(1, [ONE, TWO]), (2, [TWO, ONE])] {
        write_keys(&file, &providers);
        reloaded(&one, count).await;
        reloaded(&two, count).await;
        assert_eq!(two.admin().get(&path).await.expect(200)["data"], stored["data"]);
    }
    assert!(sealed_with(shared).await.contains("aesgcm:v1:two:"), "the keys of the servers go along");
    one.admin().put(&path, &stored).await.expect(200);
    assert!(sealed_with(object).await.contains("aesgcm:v1:two:"));
    let written = two.admin().get(&path).await.expect(200);
    assert_eq!(written["data"], stored["data"]);
    assert!(one.stop().await.success());
    one.restart().await;

    write_keys(&file, &[TWO]);
    reloaded(&two, 3).await;
    let three = options().start().await;
    for server in [&two, &three] {
        assert_eq!(server.admin().get(&path).await.expect(200), written);
    }
}

/// A start that fails leaves the keys of the servers as they were: for those who have no file yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_fails_seals_nothing() {
    let Some(member) = Member::start() else { return };
    let server = over(&member, "/failed").start().await;
    let shared = async || {
        let found = gateway::below(&member, "/failed").await;
        found.into_iter().find(|(name, _)| name == "/failed/%shared/keys").expect("the keys are there").1
    };
    let before = shared().await;
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let file = directory.path().join("keys.yaml");
    write_keys(&file, &[ONE, "identity: {}"]);
    let encrypt = format!("--encryption-provider-config={}", file.display());
    let mut flags = vec!["--storage=etcd".to_owned(), "--etcd-prefix=/failed".to_owned()];
    flags.extend([format!("--etcd-servers={}", member.url), encrypt.clone()]);
    flags.push(format!("--token-auth-file={}", directory.path().join("missing").display()));
    let (code, text) = TestServer::refusal(&flags).await;
    assert!(code == Some(2) && text.contains("--token-auth-file"), "{code:?} {text}");
    assert_eq!(shared().await, before);
    drop(over(&member, "/failed").start().await);
    drop(server);
    drop(over(&member, "/failed").flag(&encrypt).start().await);
    assert_ne!(shared().await, before, "a start that succeeds seals them");
}

/// A secret and the keys of the servers are nowhere in etcd as they are, and every server opens them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_sealed_in_etcd() {
    let Some(member) = Member::start() else { return };
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let file = directory.path().join("keys.yaml");
    std::fs::write(&file, KEYS).expect("the file can be written");
    let encrypt = format!("--encryption-provider-config={}", file.display());
    let sealed = over(&member, "/sealed").flag(&encrypt).start().await;
    let encoded = BASE64_STANDARD.encode(PASSWORD);
    let secret = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": {"password": encoded},
        })
    };
    let stored = sealed.admin().post(SECRETS, &secret("s")).await.expect(201);
    sealed.admin().post(CONFIG_MAPS, &config_map("open", PASSWORD)).await.expect(201);
    sealed.admin().post(SECRETS, &secret("r")).await.expect(201);
    sealed.admin().delete(&format!("{SECRETS}/r")).await.expect(200);

    let found = gateway::below(&member, "/sealed").await;
    let holding = |text: &str| {
        let holds = |value: &[u8]| value.windows(text.len()).any(|window| window == text.as_bytes());
        let keys = found.iter().filter(|(_, value)| holds(value)).map(|(key, _)| key.as_str());
        keys.collect::<Vec<_>>()
    };
    assert!(found.iter().any(|(key, _)| key == "/sealed/%shared/keys"), "the keys are there");
    assert_eq!(holding(&encoded), Vec::<&str>::new(), "also the last state of what was removed");
    assert_eq!(holding(PASSWORD), ["/sealed/configmaps/default/open"]);
    let key = std::fs::read(sealed.data_dir().join("pki/ca.key")).expect("there is a key");
    assert_eq!(holding(&BASE64_STANDARD.encode(key)), Vec::<&str>::new());

    let next = over(&member, "/sealed").flag(&encrypt).start().await;
    assert_eq!(next.admin().get(&format!("{SECRETS}/s")).await.expect(200), stored);
    // Without the keys nobody becomes one of the servers.
    let mut flags = vec!["--storage=etcd".to_owned(), "--etcd-prefix=/sealed".to_owned()];
    flags.push(format!("--etcd-servers={}", member.url));
    let (code, text) = TestServer::refusal(&flags).await;
    assert!(code.is_some_and(|code| code != 0) && text.contains("--etcd-"), "{code:?} {text}");
}
