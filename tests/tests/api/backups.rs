//! Copies, manifests and small databases: what the subcommands make of the data of a server.

mod kills;
mod streams;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use orch_tests::{
    TestServer,
    client::Answer,
    objects::{CONFIG_MAPS, SECRETS, config_map, names, namespace, version},
};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::token_secrets;

/// A subcommand on a data directory.
fn command(name: &str, data: &Path, arguments: &[&str]) -> Command {
    let mut command = TestServer::command();
    command.arg(name).arg("--data-dir").arg(data).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

async fn output(mut command: Command) -> Output {
    let mut process = command.spawn().unwrap();
    // Its other end stays open, or the process would end with it.
    let input = process.stdin.take();
    let output = process.wait_with_output().await.unwrap();
    drop(input);
    output
}

/// The exit code, and all that is printed.
async fn perform(name: &str, data: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = output(command(name, data, arguments)).await;
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// Manifests, one in each line.
fn objects(text: &[u8]) -> Vec<Value> {
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// A data directory of its own, beside that of a server.
fn beside(server: &TestServer, name: &str) -> PathBuf {
    server.scratch_dir().join(name)
}

#[tokio::test]
async fn manifests_go_from_server_to_server() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post("/api/v1/namespaces", &namespace("team")).await.expect(201);
    let maps = "/api/v1/namespaces/team/configmaps";
    // The owner comes after what it owns in the order of names.
    let owner = admin.post(maps, &config_map("z-owner", "1")).await.expect(201);
    let reference =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "z-owner", "uid": owner["metadata"]["uid"]});
    let mut owned = config_map("a-owned", "1");
    owned["metadata"]["ownerReferences"] = json!([reference]);
    admin.post(maps, &owned).await.expect(201);
    let mut orphan = config_map("finalized", "1");
    orphan["metadata"]["finalizers"] = json!(["example.com/wait"]);
    admin.post(maps, &orphan).await.expect(201);
    admin.delete(&format!("{maps}/finalized")).await.expect(200);
    let secret = token_secrets::token_secret(&server, "of-robot").await;

    let manifests = beside(&server, "objects.json");
    let file = manifests.to_str().unwrap();
    let (code, said) = perform("export", &server.data_dir(), &[file]).await;
    assert!(code == Some(0) && said.contains("left out, it is being deleted: "), "{said}");
    let (code, said) = perform("export", &server.data_dir(), &[file]).await;
    assert!(code == Some(2) && said.contains("exists"), "files are not overwritten: {said}");
    let (code, said) = perform("import", &server.data_dir(), &[file]).await;
    assert!(code == Some(2) && said.contains("is in use by another server"), "{said}");

    let mut other = TestServer::start().await;
    assert!(other.stop().await.success());
    let (code, said) = perform("import", &other.data_dir(), &[file]).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("there already: v1 Namespace default"), "{said}");
    let (code, said) = perform("import", &other.data_dir(), &[file]).await;
    assert!(code == Some(0) && said.starts_with("0 objects are created"), "{said}");
    other.restart().await;
    let list = other.admin().get(maps).await.expect(200);
    assert_eq!(names(&list), ["a-owned", "z-owner"]);
    let [owned, new_owner] = [0, 1].map(|index| &list["items"][index]["metadata"]);
    assert_eq!(owned["ownerReferences"][0]["uid"], new_owner["uid"]);
    assert!(new_owner["uid"] != owner["metadata"]["uid"]);
    // The account has another uid on this server, and gets another token.
    let admin = other.admin();
    let is_filled = |answer: &Answer| answer.json()["data"]["token"].is_string();
    let filled = token_secrets::until(&admin, &format!("{SECRETS}/of-robot"), is_filled).await.json();
    for key in ["token", "ca.crt"] {
        assert_ne!(filled["data"][key], secret["data"][key], "{key}");
    }
    let whoami = token_secrets::whoami(&other, &token_secrets::decoded(&filled, "token")).await.expect(201);
    assert_eq!(whoami["status"]["userInfo"]["username"], "system:serviceaccount:default:robot");
}

#[tokio::test]
async fn manifests_that_are_wrong_are_named() {
    let server = TestServer::start().await;
    let manifests = beside(&server, "objects.yaml");
    let text = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: right, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: gone}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: unknown}
dta: {a: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: Wrong}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: a}
";
    fs::write(&manifests, text).unwrap();
    let data = beside(&server, "new");
    let (code, said) = perform("import", &data, &[manifests.to_str().unwrap()]).await;
    assert_eq!(code, Some(1), "{said}");
    for expected in [
        "1 objects are created",
        "without an owner that is not here: v1 ConfigMap default/right",
        "refused: example.com/v1 Thing a: the kind is not served",
        "refused: v1 ConfigMap default/unknown: ",
        "unknown field \"dta\"",
        "refused: v1 ConfigMap default/Wrong: ",
        "3 objects are refused",
    ] {
        assert!(said.contains(expected), "{expected} is not in {said}");
    }
    fs::write(&manifests, "a: [").unwrap();
    let (code, said) = perform("import", &data, &[manifests.to_str().unwrap()]).await;
    assert!(code == Some(2) && said.contains("objects.yaml:1:4: yaml: "), "{said}");
}

/// Names of groups belong to a vocabulary. A file of the other one is told at once, and nothing is made.
#[tokio::test]
async fn manifests_of_another_vocabulary_are_refused_at_once() {
    let mut server = TestServer::options().vocabulary("kubernetes").start().await;
    server.admin().post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    assert!(server.stop().await.success());
    let manifests = beside(&server, "objects.json");
    let file = manifests.to_str().unwrap();
    let (code, said) = perform("export", &server.data_dir(), &[file]).await;
    assert_eq!(code, Some(0), "{said}");

    let data = beside(&server, "other");
    let (code, said) = perform("import", &data, &[file]).await;
    assert_eq!((code, said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("objects.json:") && said.contains("--vocabulary kubernetes"), "{said}");
    assert!(!data.exists(), "nothing is made");
    let (code, said) = perform("import", &data, &["--vocabulary=kubernetes", file]).await;
    assert_eq!(code, Some(0), "{said}");
    // From now on the data say it.
    for (name, arguments) in [("import", &[file][..]), ("migrate", &[])] {
        let (code, said) = perform(name, &data, arguments).await;
        assert_eq!(code, Some(0), "{name}: {said}");
    }
}

#[tokio::test]
async fn nothing_is_migrated_where_there_is_no_database() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("typo");
    let (code, said) = perform("migrate", &data, &[]).await;
    assert_eq!((code, said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("--data-dir: there is no ") && !data.exists(), "{said}");
}

#[tokio::test]
async fn a_compacted_database_is_small_and_has_no_past() {
    let mut server = TestServer::start().await;
    let admin = server.admin();
    let first = version(&admin.post(CONFIG_MAPS, &config_map("kept", "1")).await.expect(201)).to_owned();
    for number in 0..40 {
        let large = config_map("large", &"x".repeat(200_000 + number));
        admin.post(CONFIG_MAPS, &large).await.expect(201);
        admin.delete(&format!("{CONFIG_MAPS}/large")).await.expect(200);
    }
    let (code, said) = perform("compact", &server.data_dir(), &[]).await;
    assert!(code == Some(2) && said.contains("in use by another server"), "{said}");
    assert!(server.stop().await.success());
    let (code, said) = perform("compact", &server.data_dir(), &[]).await;
    assert_eq!(code, Some(0), "{said}");
    let size = fs::metadata(server.data_dir().join("orch.db")).unwrap().len();
    assert!(size < 2_000_000 && said.contains(&format!(" has {size} bytes now, ")), "{said}");
    server.restart().await;
    let admin = server.admin();
    let kept = admin.get(&format!("{CONFIG_MAPS}/kept")).await.expect(200);
    assert_eq!(version(&kept), first, "versions of objects stay");
    let exact = format!("{CONFIG_MAPS}?resourceVersion={first}&resourceVersionMatch=Exact");
    admin.get(&exact).await.refused(410, "Expired");
}
