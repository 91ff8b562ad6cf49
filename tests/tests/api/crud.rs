//! Create, read, update, patch: one object's life, and the conflicts on the way.

use http::Method;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map, version},
};
use serde_json::json;

#[tokio::test]
async fn an_object_is_created_read_replaced_patched_and_deleted() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");

    let created = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    assert_eq!(created["kind"], "ConfigMap");
    assert_eq!(created["apiVersion"], "v1");
    assert_eq!(created["metadata"]["namespace"], "default");
    assert_eq!(created["metadata"]["uid"].as_str().unwrap().len(), 36);
    assert!(created["metadata"]["creationTimestamp"].as_str().unwrap().ends_with('Z'));
    assert_eq!(admin.get(&item).await.expect(200), created);

    let mut changed = created.clone();
    changed["data"]["value"] = json!("2");
    let replaced = admin.put(&item, &changed).await.expect(200);
    assert_eq!(replaced["data"]["value"], "2");
    assert_ne!(version(&replaced), version(&created));
    assert_eq!(replaced["metadata"]["uid"], created["metadata"]["uid"]);

    let patched = admin.merge(&item, &json!({"data": {"other": "3"}})).await.expect(200);
    assert_eq!(patched["data"], json!({"value": "2", "other": "3"}));

    let deleted = admin.delete(&item).await.expect(200);
    assert_eq!(deleted["status"], "Success", "{deleted}");
    assert_eq!(deleted["details"]["uid"], created["metadata"]["uid"]);
    let message = admin.get(&item).await.refused(404, "NotFound");
    assert_eq!(message, r#"configmaps "a" not found"#);
}

#[tokio::test]
async fn a_name_is_taken_once_and_free_again_after_deletion() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let first = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let message = admin.post(CONFIG_MAPS, &config_map("a", "2")).await.refused(409, "AlreadyExists");
    assert_eq!(message, r#"configmaps "a" already exists"#);
    admin.delete(&format!("{CONFIG_MAPS}/a")).await.expect(200);
    let second = admin.post(CONFIG_MAPS, &config_map("a", "3")).await.expect(201);
    assert_ne!(first["metadata"]["uid"], second["metadata"]["uid"]);
}

#[tokio::test]
async fn a_stale_version_loses() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let stale = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    admin.put(&item, &config_map("a", "2")).await.expect(200);
    let message = admin.put(&item, &stale).await.refused(409, "Conflict");
    assert_eq!(
        message,
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to \
         the latest version and try again"
    );
    let patch = json!({"metadata": {"resourceVersion": version(&stale)}, "data": {"value": "3"}});
    admin.merge(&item, &patch).await.refused(409, "Conflict");
    assert_eq!(admin.get(&item).await.expect(200)["data"]["value"], "2");
}

#[tokio::test]
async fn of_racing_increments_none_is_lost() {
    const WRITERS: usize = 8;
    const INCREMENTS: usize = 5;
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/counter");
    admin.post(CONFIG_MAPS, &config_map("counter", "0")).await.expect(201);
    let writers = (0..WRITERS).map(|_| {
        let (admin, item) = (server.admin(), item.clone());
        tokio::spawn(async move {
            let mut done = 0;
            while done < INCREMENTS {
                let mut object = admin.get(&item).await.expect(200);
                let value: usize = object["data"]["value"].as_str().unwrap().parse().unwrap();
                object["data"]["value"] = json!((value + 1).to_string());
                match admin.put(&item, &object).await {
                    answer if answer.status == 200 => done += 1,
                    answer => drop(answer.refused(409, "Conflict")),
                }
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let value = admin.get(&item).await.expect(200)["data"]["value"].clone();
    assert_eq!(value, json!((WRITERS * INCREMENTS).to_string()));
}

#[tokio::test]
async fn an_update_that_changes_nothing_writes_nothing() {
    let server = TestServer::options().at_rest().start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let created = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    assert_eq!(admin.put(&item, &created).await.expect(200), created);
    assert_eq!(admin.merge(&item, &json!({"data": {"value": "1"}})).await.expect(200), created);
    let list = admin.get(CONFIG_MAPS).await.expect(200);
    assert_eq!(version(&list), version(&created));
}

#[tokio::test]
async fn a_generated_name_has_its_prefix_and_is_unique() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "run-"}});
    let mut names = Vec::new();
    for _ in 0..20 {
        let created = admin.post(CONFIG_MAPS, &object).await.expect(201);
        let name = created["metadata"]["name"].as_str().unwrap().to_owned();
        assert!(name.starts_with("run-") && name.len() == "run-".len() + 5, "{name}");
        names.push(name);
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 20);
}

#[tokio::test]
async fn a_dry_run_answers_and_stores_nothing() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    admin.post(&format!("{CONFIG_MAPS}?dryRun=All"), &config_map("a", "1")).await.expect(201);
    admin.get(&item).await.refused(404, "NotFound");
    let created = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let shown = admin.put(&format!("{item}?dryRun=All"), &config_map("a", "2")).await.expect(200);
    assert_eq!(shown["data"]["value"], "2");
    admin.delete(&format!("{item}?dryRun=All")).await.expect(200);
    assert_eq!(admin.get(&item).await.expect(200), created);
}

#[tokio::test]
async fn unknown_fields_are_dropped_with_a_warning_or_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let mut object = config_map("a", "1");
    object["wheels"] = json!(4);
    object["metadata"]["colour"] = json!("red");
    let strict = admin.post(&format!("{CONFIG_MAPS}?fieldValidation=Strict"), &object).await;
    let message = strict.refused(400, "BadRequest");
    assert!(message.contains(r#"unknown field "wheels""#), "{message}");
    assert!(message.contains(r#"unknown field "metadata.colour""#), "{message}");

    let warned = admin.post(CONFIG_MAPS, &object).await;
    let stored = warned.expect(201);
    assert!(stored.get("wheels").is_none() && stored["metadata"].get("colour").is_none(), "{stored}");
    let warnings: Vec<_> = warned.headers.get_all("warning").iter().collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");

    object["metadata"]["name"] = json!("b");
    let ignored = admin.post(&format!("{CONFIG_MAPS}?fieldValidation=Ignore"), &object).await;
    ignored.expect(201);
    assert!(ignored.headers.get("warning").is_none());
}

#[tokio::test]
async fn head_answers_as_get_without_a_body() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    let head = admin.request(Method::HEAD, &item).send().await;
    let get = admin.get(&item).await;
    assert_eq!(head.status, 200);
    assert!(head.body.is_empty());
    assert_eq!(head.header("content-type"), get.header("content-type"));
}

#[tokio::test]
async fn patches_of_every_kind_are_applied() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    for (media_type, patch, expected) in [
        ("application/merge-patch+json", r#"{"data":{"m":"1"}}"#, json!({"value": "1", "m": "1"})),
        (
            "application/strategic-merge-patch+json",
            r#"{"data":{"m":null,"s":"1"}}"#,
            json!({"value": "1", "s": "1"}),
        ),
        ("application/json-patch+json", r#"[{"op":"remove","path":"/data/s"}]"#, json!({"value": "1"})),
    ] {
        let answer = admin.request(Method::PATCH, &item).body(media_type, patch).send().await;
        assert_eq!(answer.expect(200)["data"], expected, "{media_type}");
    }
    let answer = admin.request(Method::PATCH, &item).body("application/json", "{}").send().await;
    answer.refused(415, "UnsupportedMediaType");
}
