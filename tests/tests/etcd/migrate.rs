//! The data go from SQLite to etcd and back with all that clients rely on: objects, identity, keys, and
//! versions that never come twice.

use std::process::Stdio;

use orch_tests::{
    Client, TestServer,
    objects::{CONFIG_MAPS, config_map, name, namespace, version},
};
use serde_json::{Value, json};

use crate::{member::Member, replicas::over};

const ALL: &[&str] = &[
    "/api/v1/namespaces",
    "/api/v1/configmaps",
    "/api/v1/secrets",
    "/api/v1/serviceaccounts",
    "/apis/rbac.authorization.orch.io/v1/clusterroles",
];

/// Runs the program. Returns its exit code and what it said.
pub async fn run<'a>(arguments: impl IntoIterator<Item = &'a str>) -> (Option<i32>, String) {
    let mut command = TestServer::command();
    let mut process = command
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command can be started");
    // The program ends with its input.
    let input = process.stdin.take();
    let output = process.wait_with_output().await.expect("the command ends");
    drop(input);
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

async fn migrate(from: &str, to: &str, prefix: &str) -> (Option<i32>, String) {
    run(["migrate-storage", "--from", from, "--to", to, "--etcd-prefix", prefix]).await
}

/// Returns the newest version that there was.
async fn migrated(from: &str, to: &str, prefix: &str) -> u64 {
    let (code, text) = migrate(from, to, prefix).await;
    assert_eq!(code, Some(0), "{text}");
    println!("{text}");
    let said = text.split_once("had versions up to ").and_then(|(_, rest)| rest.split_once(','));
    said.and_then(|(number, _)| number.parse().ok()).expect("it says how far versions went")
}

/// What there is, without versions, and the highest version of it.
async fn state(client: &Client) -> (Vec<Value>, u64) {
    let (mut objects, mut newest) = (Vec::new(), 0);
    for path in ALL {
        let list = client.get(path).await.expect(200);
        newest = newest.max(number(&list));
        for mut object in list["items"].as_array().expect("a list has items").clone() {
            newest = newest.max(number(&object));
            object["metadata"]["resourceVersion"].take();
            objects.push(object);
        }
    }
    (objects, newest)
}

fn number(object: &Value) -> u64 {
    version(object).parse().expect("a version is a number")
}

/// Nobody gets what is older than the move, and everybody is told so.
async fn starts_over(client: &Client, known: [u64; 2], token: &str, stale: &Value) {
    let before = known[0];
    for asked in known.into_iter().chain([before - 1]) {
        for path in [
            format!("{CONFIG_MAPS}?watch=1&resourceVersion={asked}"),
            format!("{CONFIG_MAPS}?resourceVersion={asked}&resourceVersionMatch=Exact"),
        ] {
            let mut watch = match client.request(http::Method::GET, &path).watch().await {
                Err(answer) => {
                    answer.refused(410, "Expired");
                    continue;
                }
                Ok(watch) => watch,
            };
            assert_eq!(watch.expect("ERROR").await["code"], 410, "{path}");
        }
    }
    client.get(&format!("{CONFIG_MAPS}?limit=1&continue={token}")).await.refused(410, "Expired");
    client.get(&format!("{CONFIG_MAPS}?resourceVersion={before}")).await.expect(200);
    let path = format!("{CONFIG_MAPS}/{}", name(stale));
    client.put(&path, stale).await.refused(409, "Conflict");
    let removal = json!({"preconditions": {"resourceVersion": version(stale)}});
    client.request(http::Method::DELETE, &path).json(&removal).send().await.refused(409, "Conflict");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_go_to_etcd_and_back() {
    let Some(member) = Member::start() else { return };
    let etcd = format!("etcd:{}", member.url);
    let mut first = TestServer::start().await;
    let sqlite = format!("sqlite:{}", first.data_dir().display());
    let (code, text) = migrate(&sqlite, &etcd, "/moved").await;
    assert!(code == Some(2) && text.contains("--data-dir"), "a server is running: {code:?} {text}");

    let admin = first.admin();
    for index in 0..30 {
        admin.post(CONFIG_MAPS, &config_map(&format!("o{index}"), "1")).await.expect(201);
        admin.merge(&format!("{CONFIG_MAPS}/o{index}"), &json!({"data": {"more": "2"}})).await.expect(200);
    }
    admin.delete(&format!("{CONFIG_MAPS}/o7")).await.expect(200);
    admin.post("/api/v1/namespaces", &namespace("other")).await.expect(201);
    // What its controller adds there must not come later.
    while admin.get("/api/v1/namespaces/other/serviceaccounts/default").await.status != 200 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    let token = admin.post(&format!("{account}/token"), &json!({})).await.expect(201);
    let token = token["status"]["token"].as_str().expect("a token").to_owned();
    let page = admin.get(&format!("{CONFIG_MAPS}?limit=1")).await.expect(200);
    let page = page["metadata"]["continue"].as_str().expect("there is more").to_owned();
    let stale = admin.get(&format!("{CONFIG_MAPS}/o3")).await.expect(200);
    let (objects, before) = state(&admin).await;
    assert!(first.stop().await.success());

    let filled = migrated(&sqlite, &etcd, "/moved").await;
    let (code, text) = migrate(&sqlite, &etcd, "/moved").await;
    assert!(code == Some(2) && text.contains("there is data below it already"), "{code:?} {text}");
    let one = over(&member, "/moved").start().await;
    let mut two = over(&member, "/moved").start().await;
    let (found, newest) = state(&one.admin()).await;
    assert_eq!(found, objects);
    assert!(newest > before, "{newest} follows {before}");
    for client in [one.admin(), two.admin()] {
        starts_over(&client, [before, filled], &page, &stale).await;
        let moved = client.get(&format!("{CONFIG_MAPS}/o3")).await.expect(200);
        assert!(number(&moved) > before);
        // The keys have come along.
        let review = json!({
            "apiVersion": "authentication.orch.io/v1", "kind": "TokenReview", "spec": {"token": token},
        });
        let review = client.post("/apis/authentication.orch.io/v1/tokenreviews", &review).await.expect(201);
        assert_eq!(review["status"]["authenticated"], true, "{review}");
    }

    // Versions mean the same on all servers, and go on.
    let list = one.admin().get(CONFIG_MAPS).await.expect(200);
    let mut watch =
        two.admin().watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&list))).await;
    let mut newest = number(&list);
    for index in 0..10 {
        let change = json!({"data": {"value": index.to_string()}});
        let written = one.admin().merge(&format!("{CONFIG_MAPS}/o3"), &change).await.expect(200);
        assert!(number(&written) > newest);
        newest = number(&written);
        assert_eq!(watch.expect("MODIFIED").await, written);
    }
    let gone = two.admin().delete(&format!("{CONFIG_MAPS}/o4")).await;
    gone.expect(200);
    let stale = one.admin().get(&format!("{CONFIG_MAPS}/o3")).await.expect(200);
    let page = two.admin().get(&format!("{CONFIG_MAPS}?limit=1")).await.expect(200);
    let page = page["metadata"]["continue"].as_str().expect("there is more").to_owned();
    // Also after a start, which reads the history that etcd has.
    assert!(two.stop().await.success());
    two.restart().await;
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&list));
    assert!(number(&two.admin().watch(&path).await.expect("MODIFIED").await) > number(&list));
    let (objects, before) = state(&two.admin()).await;
    let (mut one, mut two) = (one, two);
    assert!(one.stop().await.success() && two.stop().await.success());

    // And back, to where they came from.
    let (code, text) = migrate(&etcd, &sqlite, "/moved").await;
    // Beside the database, its log may be there too.
    let is_told = text.contains("move away first: orch.db, ") && text.contains("orch.db.mark");
    assert!(code == Some(2) && is_told, "{code:?} {text}");
    std::fs::remove_file(first.data_dir().join("orch.db")).expect("it is there");
    // What a server leaves there that is killed, and whose database was moved away.
    let killed = TestServer::start().await;
    killed.admin().post(CONFIG_MAPS, &config_map("old", "1")).await.expect(201);
    for file in ["orch.db-wal", "orch.db-shm", "orch.db.mark"] {
        std::fs::copy(killed.data_dir().join(file), first.data_dir().join(file)).expect("it is there");
    }
    let filled = migrated(&etcd, &sqlite, "/moved").await;
    let at = first.data_dir().display().to_string();
    let (code, text) = run(["check", "--data-dir", &at]).await;
    assert_eq!(code, Some(0), "{text}");
    first.restart().await;
    let (found, newest) = state(&first.admin()).await;
    assert_eq!(found, objects);
    assert!(newest > before, "{newest} follows {before}");
    starts_over(&first.admin(), [before, filled], &page, &stale).await;
    let written = first.admin().merge(&format!("{CONFIG_MAPS}/o3"), &json!({"data": {"x": "y"}})).await;
    assert!(number(&written.expect(200)) > newest);
}
