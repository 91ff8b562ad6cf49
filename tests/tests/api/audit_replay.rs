//! What can be done with the log of audit: its writes done again, and questions asked with other programs.

use std::{fs, process::Command};

use http::Method;
use orch_tests::{
    TestServer,
    client::{Answer, Client},
    objects::{CONFIG_MAPS, config_map, name},
    skip::skipped,
};
use serde_json::{Value, json};

use crate::audit::Audited;

const WRITES: &str = "- {level: RequestResponse, verbs: [create, update, patch, delete, deletecollection]}\n";
const NODES: &str = "/api/v1/nodes";
const APPLY: &str = "application/apply-patch+yaml";
const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

async fn patch(client: &Client, path: &str, media_type: &str, body: &Value) -> Answer {
    client.request(Method::PATCH, path).body(media_type, body.to_string()).send().await
}

/// Writes of every kind.
async fn write(admin: &Client) {
    for number in 0..7 {
        let labels = json!({"group": if number < 5 { "stays" } else { "goes" }});
        let mut map = config_map(&format!("n{number}"), "1");
        map["metadata"]["labels"] = labels;
        admin.post(CONFIG_MAPS, &map).await.expect(201);
    }
    let path = |number: u32| format!("{CONFIG_MAPS}/n{number}");
    admin.put(&path(1), &config_map("n1", "2")).await.expect(200);
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    patch(admin, &path(2), STRATEGIC, &label).await.expect(200);
    let added = json!([{"op": "add", "path": "/data/more", "value": "x\ny"}]);
    patch(admin, &path(3), JSON_PATCH, &added).await.expect(200);
    admin.delete(&path(4)).await.expect(200);
    admin.delete(&format!("{CONFIG_MAPS}?labelSelector=group%3Dgoes")).await.expect(200);
    let applied =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"v": "1"}});
    let path = format!("{CONFIG_MAPS}/applied?fieldManager=me");
    patch(admin, &path, APPLY, &applied).await.expect(201);
    let mut made = config_map("", "1");
    made["metadata"] = json!({"generateName": "made-"});
    assert!(name(&admin.post(CONFIG_MAPS, &made).await.expect(201)).starts_with("made-"));
    admin
        .post(NODES, &json!({"metadata": {"name": "n"}, "spec": {"podCIDR": "10.0.0.0/24"}}))
        .await
        .expect(201);
    for (kind, status) in [("Ready", "True"), ("DiskPressure", "False"), ("Ready", "False")] {
        let condition = json!({"status": {"conditions": [{"type": kind, "status": status}]}});
        patch(admin, &format!("{NODES}/n/status"), STRATEGIC, &condition).await.expect(200);
    }
}

/// Does what an event tells.
async fn again(client: &Client, event: &Value) -> Answer {
    let (uri, mut body) = (event["requestURI"].as_str().unwrap(), event["requestObject"].clone());
    match event["verb"].as_str().unwrap() {
        "create" => {
            // A name that the server made is in the reference to the object.
            body["metadata"]["name"] = event["objectRef"]["name"].clone();
            client.post(uri, &body).await
        }
        "update" => client.put(uri, &body).await,
        "delete" | "deletecollection" => client.delete(uri).await,
        // The media type of a patch is not recorded, and its form tells it.
        _ if body.is_array() => patch(client, uri, JSON_PATCH, &body).await,
        _ if body.get("apiVersion").is_some() => patch(client, uri, APPLY, &body).await,
        _ => patch(client, uri, STRATEGIC, &body).await,
    }
}

/// The objects of a list, without what each server makes itself.
async fn objects(client: &Client, path: &str) -> Value {
    let mut list = client.get(path).await.expect(200);
    for item in list["items"].as_array_mut().unwrap() {
        let metadata = item["metadata"].as_object_mut().unwrap();
        metadata.retain(|field, _| ["name", "namespace", "labels", "generateName"].contains(&field.as_str()));
    }
    list["items"].take()
}

#[tokio::test]
async fn audited_writes_make_the_same_objects_in_an_empty_server() {
    let audited = Audited::start(WRITES, TestServer::options()).await;
    let admin = audited.server.admin();
    write(&admin).await;
    let empty = TestServer::start().await;
    let replayed = empty.admin();
    for event in audited.events() {
        if event["stage"] == "ResponseComplete" && event["user"]["username"] == "admin" {
            let code = u16::try_from(event["responseStatus"]["code"].as_u64().unwrap()).unwrap();
            again(&replayed, &event).await.expect(code);
        }
    }
    for path in [CONFIG_MAPS, NODES] {
        let (once, twice) = (objects(&admin, path).await, objects(&replayed, path).await);
        assert!(!once.as_array().unwrap().is_empty());
        assert_eq!(once, twice);
    }
}

/// The guide shows a question to the log. It is asked as it stands there.
#[tokio::test]
async fn the_log_answers_the_question_of_the_guide() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/AUDIT.md");
    let guide = fs::read_to_string(guide).unwrap();
    let line = guide.lines().find_map(|line| line.strip_prefix("$ jq ")).expect("the guide asks jq");
    let (filter, file) = line.strip_prefix('\'').and_then(|rest| rest.split_once("' ")).unwrap();
    if Command::new("jq").arg("--version").output().is_err() {
        skipped("questions to the log of audit", "there is no jq");
        return;
    }
    let audited = Audited::start("- level: Metadata\n", TestServer::options()).await;
    let admin = audited.server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    admin.delete(&format!("{CONFIG_MAPS}/a")).await.expect(200);
    audited.completed("configmaps/a").await;
    let output =
        Command::new("jq").args(["-c", filter, file]).current_dir(audited.directory.path()).output().unwrap();
    let (text, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}");
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let deleted = |code: Value| json!(["admin", "a", code]);
    assert_eq!(answers, [deleted(Value::Null), deleted(json!(200))], "{text}");
}
