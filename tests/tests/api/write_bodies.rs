//! Parts of bodies that are not stored, and are validated all the same: times that the server sets itself,
//! repeated field names, and the type of delete options.

use http::Method;
use orch_tests::{
    Answer, Client, TestServer,
    objects::{CONFIG_MAPS, config_map},
};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

async fn send(client: &Client, method: Method, path: &str, media_type: &'static str, body: &str) -> Answer {
    client.request(method, path).body(media_type, body.to_owned()).send().await
}

fn with_metadata(name: &str, field: &str, value: &Value) -> String {
    let mut object = config_map(name, "1");
    object["metadata"][field] = value.clone();
    object.to_string()
}

#[tokio::test]
async fn times_that_the_server_sets_must_be_times_too() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    let applied = format!("{item}?fieldManager=m&force=true");
    let entry = json!([{"manager": "m", "operation": "Update", "apiVersion": "v1", "time": "soon"}]);
    let soon = r#"parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006""#;
    let handled = format!(r#"ConfigMap in version "v1" cannot be handled as a ConfigMap: {soon}"#);
    for (field, value) in
        [("creationTimestamp", json!("soon")), ("deletionTimestamp", json!("soon")), ("managedFields", entry)]
    {
        let new = with_metadata("new", field, &value);
        let message = send(&admin, Method::POST, CONFIG_MAPS, JSON, &new).await.refused(400, "BadRequest");
        assert_eq!(message, handled, "{field}");
        let object = with_metadata("a", field, &value);
        let message = send(&admin, Method::PUT, &item, JSON, &object).await.refused(400, "BadRequest");
        assert_eq!(message, handled, "{field}");
        let change = json!({"metadata": {field: value}}).to_string();
        let operations =
            json!([{"op": "add", "path": format!("/metadata/{field}"), "value": value}]).to_string();
        for (media_type, body) in [(MERGE, &change), (STRATEGIC, &change), (PATCH, &operations)] {
            let message = send(&admin, Method::PATCH, &item, media_type, body).await.refused(422, "Invalid");
            assert!(message.starts_with(r#" "" is invalid: patch: Invalid value: "#), "{field}: {message}");
            assert!(message.ends_with(soon), "{field} {media_type}: {message}");
        }
        if field != "managedFields" {
            let answer = send(&admin, Method::PATCH, &applied, APPLY, &object).await;
            assert!(answer.refused(500, "").ends_with(soon), "{field}: {answer:?}");
        }
    }
    // An empty text is not a time, and null is none; a correct time is ignored.
    let empty = with_metadata("new", "creationTimestamp", &json!(""));
    send(&admin, Method::POST, CONFIG_MAPS, JSON, &empty).await.refused(400, "BadRequest");
    let null = with_metadata("new", "creationTimestamp", &Value::Null);
    send(&admin, Method::POST, CONFIG_MAPS, JSON, &null).await.expect(201);
    let early = with_metadata("new", "creationTimestamp", &json!("2001-01-01T00:00:00Z"));
    let kept = send(&admin, Method::PUT, &format!("{CONFIG_MAPS}/new"), JSON, &early).await.expect(200);
    assert_ne!(kept["metadata"]["creationTimestamp"], "2001-01-01T00:00:00Z");
}

/// An apply is read as YAML even if it is JSON: repeated fields are reported with their lines.
#[tokio::test]
async fn repeated_fields_of_an_apply_are_reported_with_their_lines() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let body = "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"},\n \
        \"data\": {\"k\": \"1\",\n \"k\": \"2\"}}";
    let item = format!("{CONFIG_MAPS}/a?fieldManager=m");
    let answer = send(&admin, Method::PATCH, &item, APPLY, body).await;
    assert_eq!(answer.header("warning"), r#"299 - "line 3: key \"k\" already set in map""#);
    assert_eq!(answer.expect(201)["data"]["k"], "2");
    let strict = format!("{item}&fieldValidation=Strict");
    assert_eq!(
        send(&admin, Method::PATCH, &strict, APPLY, body).await.refused(400, "BadRequest"),
        "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  \
         line 3: key \"k\" already set in map"
    );
}

/// Texts that are no times, amounts or bytes: a body is 400, the result of a patch 422.
#[tokio::test]
async fn a_patch_to_something_that_cannot_be_read_is_a_fault_of_the_patch() {
    const LEASES: &str = "/apis/coordination.orch.io/v1/namespaces/default/leases";
    const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
    let server = TestServer::start().await;
    let admin = server.admin();
    let time = "2026-01-01T00:00:00Z";
    let claim = json!({
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    });
    for (all, good, pointer, change, why) in [
        (LEASES, json!({"spec": {}}), "/spec/renewTime", json!({"spec": {"renewTime": time}}), ".000000"),
        (CONFIG_MAPS, json!({}), "/binaryData", json!({"binaryData": {"k": "%"}}), "base64"),
        (
            CLAIMS,
            json!({"spec": claim}),
            "/spec/resources/limits",
            json!({"spec": {"resources": {"limits": {"storage": "much"}}}}),
            "quantities must match",
        ),
    ] {
        let object = |mut tree: Value| {
            tree["metadata"] = json!({"name": "a"});
            tree
        };
        admin.post(all, &object(good)).await.expect(201);
        let told = admin.post(all, &object(change.clone())).await.refused(400, "BadRequest");
        assert!(told.contains(why), "{told}");
        let value = change.pointer(pointer).unwrap();
        let operations = json!([{"op": "add", "path": pointer, "value": value}]).to_string();
        let item = format!("{all}/a");
        for (media_type, body) in
            [(MERGE, change.to_string()), (STRATEGIC, change.to_string()), (PATCH, operations)]
        {
            let answer = send(&admin, Method::PATCH, &item, media_type, &body).await;
            let told = answer.refused(422, "Invalid");
            assert!(told.contains(why), "{media_type}: {told}");
            let causes = &answer.json()["details"]["causes"];
            assert_eq!((&causes[0]["field"], causes[1].is_null()), (&json!("patch"), true), "{causes}");
        }
    }
}

/// The items of a keyed list need their key, unless it has a default.
#[tokio::test]
async fn an_applied_item_without_its_key_is_refused() {
    const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{ACCOUNTS}/a?fieldManager=m");
    let account = |secrets: Value| {
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}, "secrets": secrets,
        })
        .to_string()
    };
    // A null is stored as an absent field.
    for secret in [json!({"kind": "Secret"}), json!({"kind": "Secret", "name": null})] {
        let applied = send(&admin, Method::PATCH, &item, APPLY, &account(json!([secret]))).await;
        assert_eq!(
            applied.refused(500, ""),
            "failed to create typed patch object (/a; /v1, Kind=ServiceAccount): .secrets: element 0: \
             associative list with keys has an element that omits key field \"name\" (and doesn't have default value)"
        );
    }
    send(&admin, Method::PATCH, &item, APPLY, &account(json!([{"name": "s"}]))).await.expect(201);
}

/// Amounts of resources are stored in whole thousandths; other amounts stay as exact as they came.
#[tokio::test]
async fn amounts_of_resources_are_rounded_up() {
    const PODS: &str = "/api/v1/namespaces/default/pods";
    let server = TestServer::start().await;
    let admin = server.admin();
    let resources = json!({
        "limits": {"cpu": "100u", "memory": "1.073741824107374183Gi"}, "requests": {"memory": "0.99999"},
    });
    let pod = json!({"metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "c", "image": "i", "resources": resources}],
        "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1500u"}}],
    }});
    let answer = admin.post(PODS, &pod).await;
    let stored = answer.expect(201);
    assert_eq!(
        stored["spec"]["containers"][0]["resources"],
        json!({
            "limits": {"cpu": "1m", "memory": "1152921504723m"}, "requests": {"cpu": "1m", "memory": "1"},
        })
    );
    assert_eq!(stored["spec"]["volumes"][0]["emptyDir"]["sizeLimit"], "1500u");
    let warnings: Vec<_> = answer.headers.get_all("warning").iter().collect();
    assert_eq!(
        warnings,
        [
            "299 - \"spec.containers[0].resources.limits[memory]: fractional byte value \\\"1152921504723m\\\" \
             is invalid, must be an integer\""
        ]
    );
}

/// A status is stored as it is sent.
#[tokio::test]
async fn the_observed_generation_of_a_status_is_stored() {
    const SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
    let server = TestServer::options().flag("--controllers=*,-daemonset-controller").start().await;
    let admin = server.admin();
    let set = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    }});
    admin.post(SETS, &set).await.expect(201);
    for generation in [1, 7] {
        let change = json!({"status": {"observedGeneration": generation}});
        let patched = admin.merge(&format!("{SETS}/d/status"), &change).await.expect(200);
        assert_eq!(patched["status"]["observedGeneration"], generation);
        let read = admin.get(&format!("{SETS}/d")).await.expect(200);
        assert_eq!(read["status"]["observedGeneration"], generation);
    }
}

#[tokio::test]
async fn delete_options_may_have_any_version() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let delete = async |kind: &str, version: &str| {
        let options = json!({"kind": kind, "apiVersion": version, "dryRun": ["All"]}).to_string();
        send(&admin, Method::DELETE, &format!("{CONFIG_MAPS}/a"), JSON, &options).await
    };
    for (kind, version) in [
        ("DeleteOptions", "v1"),
        ("DeleteOptions", "meta.orch.io/v1"),
        ("DeleteOptions", "meta.k8s.io/v1"),
        ("DeleteOptions", "apps/v1"),
        ("DeleteOptions", "nobody/v1"),
        ("DeleteOptions", "v7"),
        ("DeleteOptions", ""),
        ("", ""),
    ] {
        delete(kind, version).await.expect(200);
    }
    let message = delete("ConfigMap", "v1").await.refused(500, "");
    let expected =
        r#"no kind "ConfigMap" is registered for version "v1" in scheme "pkg/runtime/scheme.go:100""#;
    assert_eq!(message, expected);
    let message = send(&admin, Method::DELETE, &format!("{CONFIG_MAPS}/a"), JSON, "5").await.refused(500, "");
    let expected = "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go value of type \
         struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";
    assert_eq!(message, expected);
    for body in ["{", "[]", r#"{"gracePeriodSeconds": "5"}"#, r#"{"dryRun": "All"}"#] {
        send(&admin, Method::DELETE, &format!("{CONFIG_MAPS}/a"), JSON, body).await.refused(500, "");
    }
    admin.get(&format!("{CONFIG_MAPS}/a")).await.expect(200);
}

#[tokio::test]
async fn text_that_is_no_patch_is_refused_as_one() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    for media_type in [MERGE, STRATEGIC, PATCH] {
        for body in ["", "{", "[1", "data: {}", "5"] {
            let answer = send(&admin, Method::PATCH, &format!("{CONFIG_MAPS}/a"), media_type, body).await;
            let message = answer.refused(400, "BadRequest");
            let is_prefixed = message.starts_with("error decoding patch: ");
            assert_eq!(is_prefixed, media_type != STRATEGIC, "{media_type} {body:?}: {message}");
        }
    }
}

#[tokio::test]
async fn a_configuration_that_is_no_object_is_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a?fieldManager=m");
    for (body, expected) in [
        ("", "invalid object type: /, Kind="),
        ("null", "invalid object type: /, Kind="),
        (
            "[]",
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go \
             value of type map[string]interface {}",
        ),
    ] {
        let answer = send(&admin, Method::PATCH, &item, APPLY, body).await;
        assert_eq!(answer.refused(400, "BadRequest"), expected, "{body:?}");
    }
}

/// What cannot be read is told before what is missing, and before a version that is gone.
#[tokio::test]
async fn texts_that_stand_for_something_else_are_read_first() {
    const SECRETS: &str = "/api/v1/namespaces/default/secrets";
    const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(SECRETS, &json!({"metadata": {"name": "a"}})).await.expect(201);
    let data = json!({"a": "!"});
    let secret = |metadata: &Value| json!({"metadata": metadata, "data": data});
    let storage = json!({"resources": {"requests": {"storage": "x"}}});
    for (path, object) in [
        (format!("{SECRETS}/none"), secret(&json!({"name": "none"}))),
        (format!("{SECRETS}/a"), secret(&json!({"name": "a", "resourceVersion": "1"}))),
        (format!("{SECRETS}/a"), secret(&json!({"name": "b"}))),
        (format!("{CLAIMS}/none"), json!({"metadata": {"name": "none"}, "spec": storage})),
    ] {
        let message = admin.put(&path, &object).await.refused(400, "BadRequest");
        assert!(message.contains(" in version \"v1\" cannot be handled as a "), "{path}: {message}");
    }
}
