//! What a restart keeps, and databases that are damaged or foreign.

use std::path::Path;

use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, SECRETS, config_map, name, names, version},
};
use serde_json::json;
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let mut server = TestServer::start().await;
    let admin = server.admin();
    let mut before = Vec::new();
    for name in ["a", "b", "c"] {
        before.push(admin.post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201));
    }
    admin.delete(&format!("{CONFIG_MAPS}/b")).await.expect(200);
    let list = admin.get(CONFIG_MAPS).await.expect(200);
    let certificate = server.kubeconfig().client_certificate.clone();
    assert!(server.stop().await.success());

    server.restart().await;
    let admin = server.admin();
    assert_eq!(admin.get(CONFIG_MAPS).await.expect(200)["items"], list["items"]);
    assert_eq!(admin.get(&format!("{CONFIG_MAPS}/a")).await.expect(200), before[0]);
    assert_eq!(server.kubeconfig().client_certificate, certificate, "old kubeconfigs stay good");
    server.administrator().get(CONFIG_MAPS).await.expect(200);
    let new = admin.post(CONFIG_MAPS, &config_map("d", "1")).await.expect(201);
    assert!(version(&new).parse::<u64>().unwrap() > version(&before[2]).parse::<u64>().unwrap());
}

#[tokio::test]
async fn a_watch_is_resumed_across_a_restart() {
    let mut server = TestServer::start().await;
    let admin = server.admin();
    let seen = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    admin.post(CONFIG_MAPS, &config_map("b", "1")).await.expect(201);
    let last = admin.merge(&format!("{CONFIG_MAPS}/a"), &json!({"data": {"value": "2"}})).await.expect(200);
    admin.delete(&format!("{CONFIG_MAPS}/b")).await.expect(200);
    server.kill().await;
    server.restart().await;
    let admin = server.admin();
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&seen))).await;
    assert_eq!(name(&watch.expect("ADDED").await), "b");
    assert_eq!(watch.expect("MODIFIED").await, last);
    assert_eq!(name(&watch.expect("DELETED").await), "b");
    admin.post(CONFIG_MAPS, &config_map("c", "1")).await.expect(201);
    assert_eq!(name(&watch.expect("ADDED").await), "c");
    let exact = format!("{CONFIG_MAPS}?resourceVersion={}&resourceVersionMatch=Exact", version(&last));
    assert_eq!(names(&admin.get(&exact).await.expect(200)), ["a", "b"]);
}

#[tokio::test]
async fn a_damaged_object_does_not_take_the_others_with_it() {
    let mut server = TestServer::start().await;
    let admin = server.admin();
    for name in ["a", "b", "c"] {
        admin.post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
    }
    admin
        .post(SECRETS, &json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}))
        .await
        .expect(201);
    assert!(server.stop().await.success());
    edit(&server.data_dir(), "UPDATE log SET value = CAST('?' || substr(value, 2) AS BLOB) WHERE name = 'b'")
        .await;

    server.restart().await;
    let admin = server.admin();
    let message = admin.get(&format!("{CONFIG_MAPS}/b")).await.refused(500, "InternalError");
    assert!(message.contains("configmaps") && message.contains('b'), "{message}");
    for name in ["a", "c"] {
        admin.get(&format!("{CONFIG_MAPS}/{name}")).await.expect(200);
    }
    assert_eq!(names(&admin.get(SECRETS).await.expect(200)), ["s"]);
    assert_eq!(admin.get("/readyz").await.text(), "ok");
    admin.post(CONFIG_MAPS, &config_map("d", "1")).await.expect(201);
    assert!(server.log().contains("corrupt") || server.log().contains("damaged"), "{}", server.log());
}

#[tokio::test]
async fn a_database_of_another_vocabulary_or_a_newer_format_is_left_alone() {
    let mut server = TestServer::start().await;
    server.admin().post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    assert!(server.stop().await.success());
    let data = server.data_dir();

    let said = refusal(&server, &["--vocabulary=kubernetes"]).await;
    assert!(said.contains("orch") && said.contains("kubernetes"), "{said}");
    edit(&data, "UPDATE meta SET value = '999' WHERE name = 'format'").await;
    let said = refusal(&server, &[]).await;
    assert!(said.contains("format 999"), "{said}");
    edit(&data, "UPDATE meta SET value = '1' WHERE name = 'format'").await;

    server.restart().await;
    server.admin().get(&format!("{CONFIG_MAPS}/a")).await.expect(200);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named_and_kept() {
    let mut server = TestServer::start().await;
    assert!(server.stop().await.success());
    let file = server.data_dir().join("orch.db");
    for side in ["orch.db-wal", "orch.db-shm"] {
        let _ = std::fs::remove_file(server.data_dir().join(side));
    }
    std::fs::write(&file, "my diary").unwrap();
    let said = refusal(&server, &[]).await;
    assert!(said.contains("orch.db"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "my diary");
}

/// The line with which a second start on the same data is refused.
async fn refusal(server: &TestServer, flags: &[&str]) -> String {
    let mut command = TestServer::command();
    command.arg("--data-dir").arg(server.data_dir()).arg("--secure-port=0").args(flags);
    command.stderr(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut process = command.spawn().unwrap();
    let input = process.stdin.take();
    let output = process.wait_with_output().await.unwrap();
    drop(input);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said.lines().last().unwrap_or_default().to_owned()
}

/// Changes the database of a server that is stopped.
pub async fn edit(data_dir: &Path, statement: &'static str) {
    let options = SqliteConnectOptions::new().filename(data_dir.join("orch.db"));
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    let changed = sqlx::query(statement).execute(&mut connection).await.unwrap().rows_affected();
    assert_ne!(changed, 0, "{statement}");
    connection.close().await.unwrap();
}

#[tokio::test]
async fn tokens_are_read_again_without_a_restart() {
    let server = TestServer::start().await;
    let file = server.scratch_dir().join("tokens.csv");
    let tokens = std::fs::read_to_string(&file).unwrap();
    let late = server.without_credentials().with_token("tok-late");
    assert_eq!(late.get("/version").await.status, 401);
    std::fs::write(&file, format!("{tokens}tok-late,late,9,\"system:masters\"\n")).unwrap();
    hang_up(&server);
    while late.get("/version").await.status != 200 {}
    // A file that cannot be read changes nothing.
    std::fs::write(&file, "tok-late,\n").unwrap();
    hang_up(&server);
    server.logged("what this file held before stays in force").await;
    late.get("/version").await.expect(200);
    server.admin().get(CONFIG_MAPS).await.expect(200);
    // A token that was removed is refused; service accounts and the administrator do not depend on the file.
    std::fs::write(&file, &tokens).unwrap();
    hang_up(&server);
    while late.get("/version").await.status != 401 {}
    server.administrator().get(CONFIG_MAPS).await.expect(200);
}

pub fn hang_up(server: &TestServer) {
    let command = format!("kill -HUP {}", server.pid());
    let told = std::process::Command::new("sh").args(["-c", &command]).status().unwrap();
    assert!(told.success());
}
