//! Metadata that the server owns, as typed clients send it: every field is there, and those that they do not
//! know are empty.

use http::Method;
use orch_api::core::v1::CONFIG_MAP_TYPE;
use orch_machinery::protobuf::encode;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map, version},
};
use serde_json::{Value, json};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// An object whose server-owned metadata is all empty.
fn fresh(value: &str) -> Value {
    let mut object = config_map("a", value);
    object["metadata"] = json!({
        "name": "a", "generateName": "", "namespace": "", "uid": "", "resourceVersion": "", "selfLink": "",
        "generation": 0, "creationTimestamp": null, "deletionTimestamp": null,
        "deletionGracePeriodSeconds": null, "labels": null, "annotations": null, "ownerReferences": null,
        "finalizers": null, "managedFields": null,
    });
    object
}

#[tokio::test]
async fn an_empty_field_of_the_servers_is_one_that_is_not_given() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let created = admin.post(CONFIG_MAPS, &fresh("1")).await.expect(201);
    let identity =
        |object: &Value| [object["metadata"]["uid"].clone(), object["metadata"]["creationTimestamp"].clone()];
    assert!(created["metadata"]["uid"].as_str().is_some_and(|uid| !uid.is_empty()));
    for key in ["selfLink", "generateName", "generation", "deletionTimestamp"] {
        assert!(created["metadata"].get(key).is_none(), "{key}: {created}");
    }

    // As JSON, as YAML and as protobuf; with a version and without one.
    let put = async |media_type: &str, body: Vec<u8>| {
        let answer = admin.request(Method::PUT, &item).body(media_type, body).send().await;
        let changed = answer.expect(200);
        assert_eq!(identity(&changed), identity(&created), "{media_type}");
        changed
    };
    let changed = put("application/json", fresh("2").to_string().into_bytes()).await;
    assert_eq!(changed["data"]["value"], "2");
    put("application/yaml", fresh("3").to_string().into_bytes()).await;
    let mut tree = fresh("4");
    tree["metadata"]["resourceVersion"] = version(&admin.get(&item).await.expect(200)).into();
    let message = encode(&tree, &CONFIG_MAP_TYPE, "v1", "ConfigMap").unwrap();
    let changed = put(PROTOBUF, message).await;
    assert_eq!(changed["data"]["value"], "4");

    let empty = json!({"metadata": {"uid": "", "resourceVersion": "", "creationTimestamp": null}});
    for (media_type, body) in [
        ("application/merge-patch+json", empty.clone()),
        ("application/strategic-merge-patch+json", empty),
        ("application/json-patch+json", json!([{"op": "replace", "path": "/metadata/uid", "value": ""}])),
        ("application/apply-patch+yaml", fresh("4")),
    ] {
        let path = format!("{item}?fieldManager=me&force=true");
        let path = if media_type.contains("apply") { &path } else { &item };
        let body = body.to_string();
        let answer = admin.request(Method::PATCH, path).body(media_type, body).send().await.expect(200);
        assert_eq!(identity(&answer), identity(&created), "{media_type}");
    }

    // An update below the object, and one that creates.
    let mut namespace = admin.get("/api/v1/namespaces/default").await.expect(200);
    namespace["metadata"]["uid"] = "".into();
    admin.put("/api/v1/namespaces/default/status", &namespace).await.expect(200);
    let leases = "/apis/coordination.orch.io/v1/namespaces/default/leases";
    let mut lease = fresh("");
    lease["kind"] = "Lease".into();
    lease["apiVersion"] = "coordination.orch.io/v1".into();
    lease.as_object_mut().unwrap().remove("data");
    admin.put(&format!("{leases}/a"), &lease).await.expect(201);
    lease["metadata"]["resourceVersion"] =
        version(&admin.get(&format!("{leases}/a")).await.expect(200)).into();
    admin.put(&format!("{leases}/a"), &lease).await.expect(200);

    // Another uid is still refused. As a precondition of a deletion, an empty one fits no object.
    let mut other = fresh("5");
    other["metadata"]["uid"] = "other".into();
    admin.put(&item, &other).await.refused(409, "Conflict");
    let options = json!({"preconditions": {"uid": ""}});
    admin.request(Method::DELETE, &item).json(&options).send().await.refused(409, "Conflict");
    admin.delete(&item).await.expect(200);
}

#[tokio::test]
async fn some_kinds_are_replaced_only_with_their_version() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let source = json!({"persistentVolumeName": "v"});
    for (collection, object) in [
        (
            "/apis/storage.orch.io/v1/volumeattachments",
            json!({"metadata": {"name": "a"}, "spec": {"attacher": "d", "nodeName": "n", "source": source}}),
        ),
        (
            "/apis/storage.orch.io/v1/namespaces/default/csistoragecapacities",
            json!({"metadata": {"name": "a"}, "storageClassName": "c"}),
        ),
        ("/apis/storage.orch.io/v1/csidrivers", json!({"metadata": {"name": "a"}, "spec": {}})),
    ] {
        let made = admin.post(collection, &object).await.expect(201);
        let item = format!("{collection}/a");
        let message = admin.put(&item, &object).await.refused(422, "Invalid");
        assert!(message.contains("metadata.resourceVersion"), "{message}");
        admin.put(&item, &made).await.expect(200);
    }
}
