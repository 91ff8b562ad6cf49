//! Deletion: preconditions, finalizers, collections.

use http::Method;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map, labelled, names, version},
};
use serde_json::json;

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
