//! The most common rules of single kinds.

use http::Method;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, SECRETS, config_map},
};
use serde_json::{Value, json};

const SERVICE_ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const PODS: &str = "/api/v1/namespaces/default/pods";
const LEASES: &str = "/apis/coordination.orch.io/v1/namespaces/default/leases";

#[tokio::test]
async fn a_secret_takes_plain_text_and_returns_base64() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
        "data": {"user": "Ym9i", "password": "b2xk"}, "stringData": {"password": "new"},
    });
    let created = admin.post(SECRETS, &secret).await.expect(201);
    assert_eq!(created["data"], json!({"user": "Ym9i", "password": "bmV3"}));
    assert_eq!(created["type"], "Opaque");
    assert!(created.get("stringData").is_none());
    let read = admin.get(&format!("{SECRETS}/s")).await.expect(200);
    assert!(read.get("stringData").is_none());
}

#[tokio::test]
async fn what_a_kind_refuses_is_named_by_field() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let config = |data: Value| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data,
        })
    };
    let secret = |kind: &str, data: Value| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "type": kind, "data": data,
        })
    };
    let lease = |spec: Value| {
        json!({
            "apiVersion": "coordination.orch.io/v1", "kind": "Lease", "metadata": {"name": "a"}, "spec": spec,
        })
    };
    let mut overlap = config(json!({"k": "v"}));
    overlap["binaryData"] = json!({"k": "AA=="});
    for (path, object, field) in [
        (CONFIG_MAPS, config(json!({"no spaces": "v"})), "data[no spaces]"),
        (CONFIG_MAPS, overlap, "data[k]"),
        (SECRETS, secret("orch.io/tls", json!({})), "data[tls.crt]"),
        (LEASES, lease(json!({"leaseDurationSeconds": 0})), "spec.leaseDurationSeconds"),
        (
            CONFIG_MAPS,
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "Not Valid"}}),
            "metadata.name",
        ),
    ] {
        let answer = admin.post(path, &object).await;
        answer.refused(422, "Invalid");
        let causes = answer.json()["details"]["causes"].clone();
        let fields: Vec<&str> =
            causes.as_array().unwrap().iter().map(|c| c["field"].as_str().unwrap()).collect();
        assert!(fields.contains(&field), "{field}: {causes}");
    }
}

#[tokio::test]
async fn immutable_data_stays() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let mut object = config_map("a", "1");
    object["immutable"] = json!(true);
    admin.post(CONFIG_MAPS, &object).await.expect(201);
    let message = admin.merge(&item, &json!({"data": {"value": "2"}})).await.refused(422, "Invalid");
    assert!(message.contains("field is immutable when `immutable` is set"), "{message}");
    admin.merge(&item, &json!({"immutable": false})).await.refused(422, "Invalid");
    admin.merge(&item, &json!({"metadata": {"labels": {"still": "free"}}})).await.expect(200);
}

/// Only so many bytes of errors are told. Whatever is wrong besides is refused all the same.
#[tokio::test]
async fn an_object_with_long_errors_is_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let long = "x".repeat(300_000);
    let mut object = config_map("a", "1");
    object["immutable"] = json!(true);
    admin.post(CONFIG_MAPS, &object).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    object["data"] = json!({"value": "2"});
    object["metadata"]["labels"] = json!({"a": long});
    admin.put(&item, &object).await.refused(422, "Invalid");
    admin.merge(&item, &json!({"data": {long.as_str(): "v"}})).await.refused(422, "Invalid");
    object["apiVersion"] = json!("v1");
    object["kind"] = json!("ConfigMap");
    let apply = admin.request(Method::PATCH, &format!("{item}?fieldManager=m&force=true"));
    let apply = apply.body("application/apply-patch+yaml", object.to_string());
    apply.send().await.refused(422, "Invalid");
    assert_eq!(admin.get(&item).await.expect(200)["data"], json!({"value": "1"}));

    let container = json!({"name": "c", "image": "i", "restartPolicy": long});
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [container]}});
    admin.post(PODS, &pod).await.refused(422, "Invalid");
}

#[tokio::test]
async fn one_mebibyte_is_the_limit_of_data() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let full = "x".repeat(1024 * 1024);
    admin.post(CONFIG_MAPS, &config_map("full", &full[..full.len() - "value".len()])).await.expect(201);
    admin.post(CONFIG_MAPS, &config_map("over", &format!("{full}x"))).await.refused(422, "Invalid");
}

#[tokio::test]
async fn a_service_account_and_a_lease_are_kept_as_they_are() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"},
        "secrets": [{"name": "s"}], "imagePullSecrets": [{"name": "p"}],
        "automountServiceAccountToken": false,
    });
    let created = admin.post(SERVICE_ACCOUNTS, &account).await.expect(201);
    for field in ["secrets", "imagePullSecrets", "automountServiceAccountToken"] {
        assert_eq!(created[field], account[field]);
    }
    let lease = json!({
        "apiVersion": "coordination.orch.io/v1", "kind": "Lease", "metadata": {"name": "leader"},
        "spec": {
            "holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 3,
            "acquireTime": "2026-11-20T10:00:00.123456Z", "renewTime": "2026-11-20T10:00:10.000000Z",
        },
    });
    assert_eq!(admin.post(LEASES, &lease).await.expect(201)["spec"], lease["spec"]);
}
