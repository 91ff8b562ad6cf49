//! Deletion: preconditions, finalizers, collections.

use http::Method;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, NAMESPACES, config_map, labelled, names, namespace, version},
};
use serde_json::json;

/// A server that leaves the finalizers of the garbage collector alone.
async fn without_collector() -> TestServer {
    TestServer::options().flag("--controllers=*,-garbage-collector-controller").start().await
}

#[tokio::test]
async fn an_object_with_finalizers_goes_with_the_last_of_them() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let mut object = config_map("a", "1");
    object["metadata"]["finalizers"] = json!(["example.com/one", "example.com/two"]);
    let created = admin.post(CONFIG_MAPS, &object).await.expect(201);

    let terminating = admin.delete(&item).await.expect(200);
    assert!(terminating["metadata"]["deletionTimestamp"].is_string(), "{terminating}");
    assert_ne!(version(&terminating), version(&created));
    let message = admin.post(CONFIG_MAPS, &config_map("a", "2")).await.refused(409, "AlreadyExists");
    assert!(message.starts_with("object is being deleted: "), "{message}");

    let still =
        admin.merge(&item, &json!({"metadata": {"finalizers": ["example.com/two"]}})).await.expect(200);
    assert!(still["metadata"]["deletionTimestamp"].is_string());
    let refused = json!({"metadata": {"finalizers": ["example.com/two", "example.com/new"]}});
    admin.merge(&item, &refused).await.refused(422, "Invalid");

    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&still))).await;
    admin.merge(&item, &json!({"metadata": {"finalizers": null}})).await.expect(200);
    let gone = watch.expect("DELETED").await;
    assert_eq!(gone["metadata"]["name"], "a");
    admin.get(&item).await.refused(404, "NotFound");
}

/// A client that forbids orphans expects the object to be gone; a dry run tells it the same.
#[tokio::test]
async fn a_deletion_that_was_expected_at_once_is_only_accepted() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let mut object = config_map("a", "1");
    object["metadata"]["finalizers"] = json!(["example.com/one"]);
    admin.post(CONFIG_MAPS, &object).await.expect(201);
    admin.delete(&format!("{item}?dryRun=All")).await.expect(200);
    let terminating = admin.delete(&format!("{item}?orphanDependents=false&dryRun=All")).await.expect(202);
    assert!(terminating["metadata"]["deletionTimestamp"].is_string(), "{terminating}");
    admin.delete(&format!("{item}?orphanDependents=false")).await.expect(202);
    admin.delete(&format!("{item}?orphanDependents=false&dryRun=All")).await.expect(202);
}

#[tokio::test]
async fn a_deletion_may_depend_on_uid_and_version() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let created = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let delete = async |preconditions| {
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions});
        admin.request(Method::DELETE, &item).json(&options).send().await
    };
    delete(json!({"uid": "b9c2ae2f-0d51-4bba-8d6e-6a8f5f0d3a0e"})).await.refused(409, "Conflict");
    delete(json!({"resourceVersion": "1"})).await.refused(409, "Conflict");
    delete(json!({"uid": created["metadata"]["uid"], "resourceVersion": version(&created)}))
        .await
        .expect(200);
    delete(json!({})).await.refused(404, "NotFound");
}

/// An object that is terminating may be deleted again with another policy. Preconditions are checked as in
/// the first deletion.
#[tokio::test]
async fn a_second_deletion_may_change_the_policy() {
    let server = without_collector().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let mut object = config_map("a", "1");
    object["metadata"]["finalizers"] = json!(["example.com/own"]);
    admin.post(CONFIG_MAPS, &object).await.expect(201);
    let delete = async |options| admin.request(Method::DELETE, &item).json(&options).send().await;
    for (policy, expected) in [
        (json!("Foreground"), json!(["example.com/own", "foregroundDeletion"])),
        // A deletion without a policy keeps the one that was given before.
        (json!(null), json!(["example.com/own", "foregroundDeletion"])),
        (json!("Orphan"), json!(["example.com/own", "orphan"])),
        (json!("Background"), json!(["example.com/own"])),
    ] {
        let shown = delete(json!({"propagationPolicy": policy})).await.expect(200);
        assert_eq!(shown["metadata"]["finalizers"], expected, "{policy}");
        assert!(shown["metadata"]["deletionTimestamp"].is_string(), "{shown}");
    }
    let foreign = json!({"preconditions": {"uid": "b9c2ae2f-0d51-4bba-8d6e-6a8f5f0d3a0e"}});
    delete(foreign).await.refused(409, "Conflict");
    delete(json!({"preconditions": {"resourceVersion": "1"}})).await.refused(409, "Conflict");
    let before = admin.get(&item).await.expect(200);
    let again = delete(json!({"preconditions": {"uid": before["metadata"]["uid"]}})).await.expect(200);
    assert_eq!(again, before, "a deletion that says nothing new changes nothing");
}

/// A policy may have set the last finalizer: another policy removes it, and the object is deleted.
#[tokio::test]
async fn a_policy_that_waits_for_nothing_ends_a_deletion() {
    let server = without_collector().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let delete = async |policy| {
        admin.request(Method::DELETE, &item).json(&json!({"propagationPolicy": policy})).send().await
    };
    let waits = delete("Orphan").await.expect(200);
    assert_eq!(waits["metadata"]["finalizers"], json!(["orphan"]));
    delete("Background").await.expect(200);
    admin.get(&item).await.refused(404, "NotFound");
}

#[tokio::test]
async fn a_collection_is_deleted_by_selector() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for (name, tier) in [("a", "x"), ("b", "x"), ("c", "y")] {
        admin.post(CONFIG_MAPS, &labelled(name, json!({"tier": tier}))).await.expect(201);
    }
    let answer = admin.delete(&format!("{CONFIG_MAPS}?labelSelector=tier%3Dx")).await;
    answer.expect(200);
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["c"]);
    admin.delete(CONFIG_MAPS).await.expect(200);
    assert!(names(&admin.get(CONFIG_MAPS).await.expect(200)).is_empty());
}

#[tokio::test]
async fn a_collection_is_deleted_in_pages_and_up_to_the_first_refusal() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let mut versions = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        let created = admin.post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
        versions.push(version(&created).to_owned());
    }
    let first = admin.delete(&format!("{CONFIG_MAPS}?limit=2")).await.expect(200);
    assert_eq!(first["status"], "Success");
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["c", "d", "e"]);

    // A precondition is one of every object: the first that does not meet it ends the work.
    let options = json!({"preconditions": {"resourceVersion": versions[2]}});
    let token = first["metadata"]["continue"].as_str().unwrap();
    let rest = format!("{CONFIG_MAPS}?limit=2&continue={token}");
    admin.request(Method::DELETE, &rest).json(&options).send().await.refused(409, "Conflict");
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["d", "e"]);

    let mut held = config_map("held", "1");
    held["metadata"]["finalizers"] = json!(["example.com/held"]);
    admin.post(CONFIG_MAPS, &held).await.expect(201);
    admin.delete(&format!("{CONFIG_MAPS}?dryRun=All")).await.expect(200);
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["d", "e", "held"]);
    admin.delete(CONFIG_MAPS).await.expect(200);
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["held"]);
}

/// A version that any list may have makes a list whole. A DELETE takes no more than it is told.
#[tokio::test]
async fn the_limit_of_a_deletion_holds_at_any_version() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for name in ["a", "b", "c"] {
        admin.post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
    }
    let list = admin.get(&format!("{CONFIG_MAPS}?limit=1&resourceVersion=0")).await.expect(200);
    assert_eq!(names(&list), ["a", "b", "c"]);
    let deleted = admin.delete(&format!("{CONFIG_MAPS}?limit=1&resourceVersion=0")).await.expect(200);
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["b", "c"]);
    let token = deleted["metadata"]["continue"].as_str().unwrap();
    let rest = format!("{CONFIG_MAPS}?limit=1&resourceVersion=0&continue={token}");
    admin.delete(&rest).await.expect(200);
    assert_eq!(names(&admin.get(CONFIG_MAPS).await.expect(200)), ["c"]);
}

/// Kinds that count generations begin at 1, whatever a client sends; other kinds keep what they were created
/// with, as the reference does. No number makes an object, and so its namespace, undeletable.
#[tokio::test]
async fn no_generation_that_a_client_sends_keeps_an_object() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(NAMESPACES, &namespace("held")).await.expect(201);
    for (path, kind, api_version, spec) in [
        ("/api/v1/namespaces/held/configmaps", "ConfigMap", "v1", json!(null)),
        (
            "/apis/policy/v1/namespaces/held/poddisruptionbudgets",
            "PodDisruptionBudget",
            "policy/v1",
            json!({"minAvailable": 2, "selector": {}}),
        ),
    ] {
        let mut object = json!({
            "apiVersion": api_version, "kind": kind,
            "metadata": {"name": "a", "generation": i64::MAX, "finalizers": ["example.com/held"]},
        });
        if spec.is_object() {
            object["spec"] = spec;
        }
        let created = admin.post(path, &object).await.expect(201);
        let counted = if kind == "ConfigMap" { i64::MAX } else { 1 };
        assert_eq!(created["metadata"]["generation"], counted);
        let item = format!("{path}/a");
        for change in
            [json!({"metadata": {"generation": i64::MAX}}), json!({"metadata": {"labels": {"a": "b"}}})]
        {
            assert_eq!(admin.merge(&item, &change).await.expect(200)["metadata"]["generation"], counted);
        }
        admin.delete(&item).await.expect(200);
        admin.merge(&item, &json!({"metadata": {"finalizers": null}})).await.expect(200);
        admin.get(&item).await.refused(404, "NotFound");
    }
}

#[tokio::test]
async fn the_query_of_a_delete_can_name_its_preconditions() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let made = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    for query in ["uid=x", "resourceVersion=1", "resourceVersion=1&dryRun=All"] {
        admin.delete(&format!("{item}?{query}")).await.refused(409, "Conflict");
    }
    let message = admin.delete(&format!("{item}?propagationPolicy=")).await.refused(422, "Invalid");
    let known = r#"supported values: "Foreground", "Background", "Orphan", "nil""#;
    assert!(message.ends_with(&format!(r#"propagationPolicy: Unsupported value: "": {known}"#)), "{message}");
    let uid = made["metadata"]["uid"].as_str().unwrap();
    admin.delete(&format!("{item}?uid={uid}")).await.expect(200);
    admin.get(&item).await.refused(404, "NotFound");
}
