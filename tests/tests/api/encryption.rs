//! Encryption at rest: what is in the files of the database, keys that are exchanged, and keys that are
//! missing.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::{Duration, Instant},
};

use orch_tests::{
    Client, TestServer,
    objects::{CONFIG_MAPS, SECRETS, config_map, names, version},
    rounds, seed,
    server::ServerOptions,
};
use rand::RngExt;
use serde_json::{Value, json};
use sqlx::{Connection, Row, SqliteConnection, sqlite::SqliteConnectOptions};

/// What must not be found: the base64 of a text that is nowhere else.
const PASSWORD: &str = "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5LXN0YXBsZQ==";
/// What is found, because config maps are kept as they are.
const OPEN: &str = "in-the-open-and-nowhere-else";

const IDENTITY: &str = "identity: {}";
const ONE: &str = "secretbox: {keys: [{name: one, secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}";
const TWO: &str = "aesgcm: {keys: [{name: two, secret: MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}";
const THREE: &str = "aescbc: {keys: [{name: three, secret: MjEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}";
/// The name of the first key with the secret of another one.
const WRONG: &str = "secretbox: {keys: [{name: one, secret: MzEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}";

/// Writes the file of keys for secrets. It appears whole.
fn write_keys(file: &Path, providers: &[&str]) {
    let providers: Vec<String> = providers.iter().map(|provider| format!("  - {provider}\n")).collect();
    let text = format!(
        "apiVersion: apiserver.config.orch.io/v1\nkind: EncryptionConfiguration\nresources:\n\
         - resources: [secrets]\n  providers:\n{}",
        providers.concat()
    );
    fs::write(file.with_extension("new"), text).unwrap();
    fs::rename(file.with_extension("new"), file).unwrap();
}

fn flag(file: &Path) -> String {
    format!("--encryption-provider-config={}", file.display())
}

/// A folder with a file of keys, and options of a server that has it.
fn with_keys(providers: &[&str]) -> (tempfile::TempDir, PathBuf, ServerOptions) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.yaml");
    write_keys(&file, providers);
    let options = TestServer::options().flag(flag(&file));
    (folder, file, options)
}

fn secret(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": {"password": PASSWORD},
    })
}

async fn has_password(admin: &Client, name: &str) -> Value {
    let found = admin.get(&format!("{SECRETS}/{name}")).await.expect(200);
    assert_eq!(found["data"]["password"], PASSWORD);
    found
}

/// Whether a text is in a file of a directory or below.
fn holds(directory: &Path, text: &str) -> bool {
    fs::read_dir(directory).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return holds(&path, text);
        }
        let bytes = fs::read(&path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

/// What the newest row of a secret begins with.
async fn beginning(server: &TestServer, name: &str) -> String {
    let options = SqliteConnectOptions::new().filename(server.data_dir().join("orch.db")).read_only(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    let select =
        "SELECT value FROM log WHERE resource = 'secrets' AND name = ? ORDER BY revision DESC LIMIT 1";
    let row = sqlx::query(select).bind(name).fetch_one(&mut connection).await.unwrap();
    let value: Vec<u8> = row.get(0);
    connection.close().await.unwrap();
    String::from_utf8_lossy(&value[..40.min(value.len())]).into_owned()
}

/// A subcommand on the data of a server.
async fn perform(name: &str, server: &TestServer, arguments: &[&str]) -> Output {
    let mut command = TestServer::command();
    command.arg(name).arg("--data-dir").arg(server.data_dir()).args(arguments);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let input = process.stdin.take();
    let output = process.wait_with_output().await.unwrap();
    drop(input);
    output
}

#[tokio::test]
async fn secrets_are_in_no_file_of_the_database() {
    let (folder, file, options) = with_keys(&[ONE, IDENTITY]);
    let mut server = options.start().await;
    let admin = server.admin();
    let mut watch = admin.watch(&format!("{SECRETS}?watch=1&fieldSelector=metadata.name%3Da")).await;
    for name in ["a", "b"] {
        assert_eq!(admin.post(SECRETS, &secret(name)).await.expect(201)["data"]["password"], PASSWORD);
    }
    admin.post(CONFIG_MAPS, &config_map("m", OPEN)).await.expect(201);
    assert_eq!(watch.expect("ADDED").await["data"]["password"], PASSWORD);
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    admin.merge(&format!("{SECRETS}/a"), &labels).await.expect(200);
    assert_eq!(watch.expect("MODIFIED").await["data"]["password"], PASSWORD);
    admin.delete(&format!("{SECRETS}/b")).await.expect(200);
    let before = has_password(&admin, "a").await;

    assert!(holds(&server.data_dir(), OPEN), "the files are not found");
    assert!(!holds(&server.data_dir(), PASSWORD));
    assert!(beginning(&server, "a").await.starts_with("k8s:enc:secretbox:v1:one:"));
    let metrics = admin.get("/metrics").await.text();
    let line = "apiserver_storage_transformation_operations_total{resource=\"secrets\",status=\"OK\",\
                transformation_type=\"to_storage\",transformer_prefix=\"k8s:enc:secretbox:v1:\"} ";
    assert!(metrics.contains(line), "{metrics}");

    // Nobody needs the keys to check and to copy; to read objects, they are needed.
    assert!(perform("check", &server, &[]).await.status.success());
    let copy = folder.path().join("copy.db");
    assert!(perform("backup", &server, &[copy.to_str().unwrap()]).await.status.success());
    assert!(!holds(folder.path(), PASSWORD));
    let export = perform("export", &server, &["-"]).await;
    let told = String::from_utf8(export.stderr).unwrap();
    assert_eq!(export.status.code(), Some(1), "{told}");
    assert!(told.contains("damaged, it cannot be read: secrets/default/a"), "{told}");
    let export = perform("export", &server, &["-", &flag(&file)]).await;
    assert!(export.status.success());
    assert!(String::from_utf8(export.stdout).unwrap().contains(PASSWORD));

    server.kill().await;
    server.restart().await;
    assert_eq!(has_password(&server.admin(), "a").await, before);
    assert!(!holds(&server.data_dir(), PASSWORD));
    assert!(server.stop().await.success());
    assert!(!holds(&server.data_dir(), PASSWORD));
    fs::remove_file(server.data_dir().join("orch.db")).unwrap();
    for beside in ["orch.db.mark", "orch.db-wal"] {
        let _ = fs::remove_file(server.data_dir().join(beside));
    }
    assert!(perform("restore", &server, &[copy.to_str().unwrap()]).await.status.success());
    server.restart().await;
    has_password(&server.admin(), "a").await;
}

const MIGRATIONS: &str = "/apis/storagemigration.orch.io/v1alpha1/storageversionmigrations";

/// Waits until a change of the file is counted so often: at once, by the clock of people.
async fn reloaded(server: &TestServer, status: &str, count: u32) {
    let name = "apiserver_encryption_config_controller_automatic_reloads_total";
    let line = format!("{name}{{status=\"{status}\"}} {count}\n");
    let start = Instant::now();
    loop {
        let metrics = server.admin().get("/metrics").await.text();
        if metrics.contains(&line) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{line} is not in {metrics}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// From no encryption to a first key, to a second one by writes without a change, and to a third one by a
/// migration, all in one running server; and no key can be taken away before it is not needed any more.
#[tokio::test]
async fn keys_are_exchanged_without_a_restart() {
    let (_folder, file, options) = with_keys(&[IDENTITY]);
    let mut server = options
        .flag("--encryption-provider-config-automatic-reload")
        .flag("--runtime-config=storagemigration.orch.io/v1alpha1=true")
        .start()
        .await;
    let admin = server.admin();
    for name in ["a", "b"] {
        admin.post(SECRETS, &secret(name)).await.expect(201);
    }
    assert!(beginning(&server, "a").await.starts_with('{'));

    write_keys(&file, &[ONE, IDENTITY]);
    reloaded(&server, "success", 1).await;
    let plain = has_password(&admin, "a").await;
    let path = format!("{SECRETS}/a");
    let dry = admin.put(&format!("{path}?dryRun=All"), &plain).await.expect(200);
    assert_eq!(dry, plain);
    let written = admin.put(&path, &plain).await.expect(200);
    assert_ne!(version(&written), version(&plain), "a write without a change puts it under the key");
    assert_eq!(admin.put(&path, &written).await.expect(200), written, "and the next one writes nothing");
    assert!(beginning(&server, "a").await.starts_with("k8s:enc:secretbox:v1:one:"));
    assert!(beginning(&server, "b").await.starts_with('{'));

    // `b` is kept as it is, and `a` under the first key: neither can be left out.
    write_keys(&file, &[TWO, ONE]);
    reloaded(&server, "failure", 1).await;
    server.logged("1 objects could not be read with these keys after a start").await;
    write_keys(&file, &[TWO, IDENTITY, "aesgcm: {keys: []}"]);
    reloaded(&server, "failure", 2).await;
    server.logged("keys.yaml:8:13: keys must have at least one").await;
    write_keys(&file, &[TWO, ONE, IDENTITY]);
    reloaded(&server, "success", 2).await;
    let same = json!({"data": {"password": PASSWORD}});
    let patched = admin.merge(&path, &same).await.expect(200);
    assert_ne!(version(&patched), version(&written));
    assert!(beginning(&server, "a").await.starts_with("k8s:enc:aesgcm:v1:two:"));

    write_keys(&file, &[THREE, TWO, ONE, IDENTITY]);
    reloaded(&server, "success", 3).await;
    migrate(&admin, "m").await;
    until_migrated(&admin, "m").await;
    for name in ["a", "b"] {
        assert!(beginning(&server, name).await.starts_with("k8s:enc:aescbc:v1:three:"), "{name}");
        has_password(&admin, name).await;
    }
    write_keys(&file, &[THREE]);
    reloaded(&server, "success", 4).await;
    let before = admin.get(SECRETS).await.expect(200);
    assert!(server.stop().await.success());
    server.restart().await;
    assert_eq!(server.admin().get(SECRETS).await.expect(200)["items"], before["items"]);

    // What was there in the open is gone from the file, too, when history is.
    assert!(server.stop().await.success());
    assert!(holds(&server.data_dir(), PASSWORD));
    assert!(perform("compact", &server, &[]).await.status.success());
    assert!(!holds(&server.data_dir(), PASSWORD));
    server.restart().await;
    has_password(&server.admin(), "b").await;
}

/// A server that may rest gets its objects under a new key without clients and controllers.
#[tokio::test]
async fn objects_are_put_under_a_new_key_offline() {
    let (_folder, file, options) = with_keys(&[ONE]);
    let mut server = options.start().await;
    for name in ["a", "b"] {
        server.admin().post(SECRETS, &secret(name)).await.expect(201);
    }
    write_keys(&file, &[TWO, ONE]);
    let refused = perform("migrate", &server, &[&flag(&file)]).await;
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && told.contains("in use by another server"), "{told}");
    assert!(server.stop().await.success());
    for expected in ["; 2 were written anew\n", "; 0 were written anew\n"] {
        let done = perform("migrate", &server, &[&flag(&file)]).await;
        let told = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success() && told.ends_with(expected), "{told}");
    }
    write_keys(&file, &[TWO]);
    server.restart().await;
    for name in ["a", "b"] {
        assert!(beginning(&server, name).await.starts_with("k8s:enc:aesgcm:v1:two:"), "{name}");
        has_password(&server.admin(), name).await;
    }
    // Without the key they cannot be read: each is named, and stays.
    assert!(server.stop().await.success());
    write_keys(&file, &[THREE]);
    let failed = perform("migrate", &server, &[&flag(&file)]).await;
    let told = String::from_utf8(failed.stdout).unwrap();
    assert_eq!(failed.status.code(), Some(1), "{told}");
    assert_eq!(told.matches("refused: secrets/default/").count(), 2, "{told}");
}

/// Asks for every secret to be stored as it should be.
async fn migrate(admin: &Client, name: &str) {
    let migration = json!({
        "apiVersion": "storagemigration.orch.io/v1alpha1", "kind": "StorageVersionMigration",
        "metadata": {"name": name}, "spec": {"resource": {"version": "v1", "resource": "secrets"}},
    });
    admin.post(MIGRATIONS, &migration).await.expect(201);
}

async fn until_migrated(admin: &Client, name: &str) {
    let start = Instant::now();
    loop {
        let found = admin.get(&format!("{MIGRATIONS}/{name}")).await.expect(200);
        if found["status"]["conditions"].to_string().contains("Succeeded") {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{found}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Killed while it stores everything under another key, it goes on after the next start.
#[tokio::test]
async fn an_exchange_of_keys_goes_on_after_power_cuts() {
    const OBJECTS: usize = 100;
    let mut random = seed::generator("exchange of keys");
    let (_folder, file, options) = with_keys(&[ONE]);
    let options = options.flag("--runtime-config=storagemigration.orch.io/v1alpha1=true");
    let mut server = options.start().await;
    for number in 0..OBJECTS {
        server.admin().post(SECRETS, &secret(&format!("s{number}"))).await.expect(201);
    }
    for round in 0..rounds::of_kills(4) {
        let (keys, marked) = match round % 2 {
            0 => ([TWO, ONE], "k8s:enc:aesgcm:v1:two:"),
            _ => ([ONE, TWO], "k8s:enc:secretbox:v1:one:"),
        };
        assert!(server.stop().await.success());
        write_keys(&file, &keys);
        server.restart().await;
        let name = format!("m{round}");
        migrate(&server.admin(), &name).await;
        tokio::time::sleep(Duration::from_micros(random.random_range(0..30_000))).await;
        server.kill().await;
        server.restart().await;
        until_migrated(&server.admin(), &name).await;
        for number in 0..OBJECTS {
            let stored = beginning(&server, &format!("s{number}")).await;
            assert!(stored.starts_with(marked), "s{number} in round {round}: {stored}");
        }
    }
}

/// The server serves everything else, and the secrets again as soon as it has the key.
#[tokio::test]
async fn without_the_right_key_secrets_are_damaged_and_nothing_else_is() {
    let (_folder, file, options) = with_keys(&[ONE]);
    let mut server = options.start().await;
    server.admin().post(SECRETS, &secret("a")).await.expect(201);
    server.admin().post(CONFIG_MAPS, &config_map("m", "1")).await.expect(201);
    for (providers, told) in [
        (WRONG, "the key of k8s:enc:secretbox:v1:one: does not open it"),
        (TWO, "and no such key of secrets is in the file"),
        (IDENTITY, "and no such key of secrets is in the file"),
    ] {
        assert!(server.stop().await.success());
        write_keys(&file, &[providers]);
        server.restart().await;
        let admin = server.admin();
        assert!(server.log().contains(told), "{told}");
        for path in [format!("{SECRETS}/a"), SECRETS.to_owned(), "/api/v1/secrets?watch=1".to_owned()] {
            let message = admin.get(&path).await.refused(500, "InternalError");
            let named = r#"the stored form of secrets "a" in namespace "default" cannot be read"#;
            assert!(message.contains(named) && !message.contains("k8s:enc"), "{message}");
        }
        assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["m"]);
        admin.post(SECRETS, &secret("a")).await.refused(500, "InternalError");
    }
    assert!(server.stop().await.success());
    write_keys(&file, &[ONE]);
    server.restart().await;
    has_password(&server.admin(), "a").await;
}

#[tokio::test]
async fn a_file_with_a_mistake_keeps_the_server_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.yaml");
    for (provider, told) in [
        ("aesgmc: {keys: []}", "keys.yaml:6:5: unknown field `aesgmc`"),
        ("kms: {apiVersion: v2, name: x, endpoint: unix:///x}", "keys.yaml:6:10: the provider kms is not"),
        ("secretbox: {keys: [{name: a, secret: c2hvcnQ=}]}", "keys.yaml:6:42: the secret has 5 bytes"),
    ] {
        write_keys(&file, &[provider]);
        let (code, text) = TestServer::refusal(&[flag(&file)]).await;
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("--encryption-provider-config: ") && text.contains(told), "{text}");
        assert!(!text.contains("c2hvcnQ"), "{text}");
    }
    let missing = format!("{}x", flag(&file));
    let (code, text) = TestServer::refusal(&[missing]).await;
    assert!(code == Some(2) && text.contains("cannot read"), "{text}");
    let (code, text) =
        TestServer::refusal(&["--encryption-provider-config-automatic-reload".to_owned()]).await;
    assert!(code == Some(2) && text.contains("needs --encryption-provider-config"), "{text}");
}

/// A name that is misspelt seals nothing: the log says so.
#[tokio::test]
async fn a_resource_that_is_not_served_is_told() {
    let (_folder, file, options) = with_keys(&[ONE]);
    let text = fs::read_to_string(&file).unwrap().replace("[secrets]", "[secrest, secrets, '*.example.com']");
    fs::write(&file, text).unwrap();
    let server = options.start().await;
    let log = server.log();
    let told: Vec<&str> = log.lines().filter(|line| line.contains("no resource of this name")).collect();
    assert_eq!(told.len(), 2, "{log}");
    assert!(told[0].contains("secrest") && told[1].contains("*.example.com"), "{told:?}");
}
