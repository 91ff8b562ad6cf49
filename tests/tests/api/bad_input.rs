//! Bodies that are not what they should be: each is refused with the reason, and nothing is stored.

use http::Method;
use orch_tests::{
    Answer, Client, TestServer,
    objects::{CONFIG_MAPS, config_map, names},
};
use serde_json::json;

/// The limit of a body, in bytes.
const BODY_LIMIT: usize = 3 * 1024 * 1024;

async fn post_raw(client: &Client, body: impl Into<bytes::Bytes>) -> Answer {
    client.request(Method::POST, CONFIG_MAPS).body("application/json", body).send().await
}

#[tokio::test]
async fn text_that_is_no_object_is_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let unpaired_surrogate = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"\ud800"}}"#;
    let object = config_map("a", "1").to_string();
    let cut_off = &object[..object.len() - 1];
    let two = format!("{object}{object}");
    let nan = object.replace("\"1\"", "NaN");
    for body in ["", "{", "null", "[]", "42", "\"text\"", "not json", unpaired_surrogate, cut_off, &two, &nan]
    {
        post_raw(&admin, body.to_owned()).await.refused(400, "BadRequest");
    }
    // Bytes that are no UTF-8.
    let mut bytes = config_map("a", "?").to_string().into_bytes();
    let place = bytes.iter().position(|byte| *byte == b'?').unwrap();
    bytes[place] = 0xff;
    post_raw(&admin, bytes).await.refused(400, "BadRequest");
    assert!(names(&admin.get(CONFIG_MAPS).await.expect(200)).is_empty());
}

#[tokio::test]
async fn wrong_types_are_named() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for (field, value) in [
        ("data", json!("text")),
        ("data", json!({"k": 1})),
        ("data", json!([])),
        ("immutable", json!("yes")),
        ("binaryData", json!({"k": "not base64!"})),
        ("metadata", json!("a")),
        ("metadata", json!({"name": 7})),
        ("metadata", json!({"name": "a", "labels": {"k": {}}})),
        ("metadata", json!({"name": "a", "finalizers": "one"})),
        ("kind", json!(1)),
    ] {
        let mut object = config_map("a", "1");
        object[field] = value.clone();
        let message = admin.post(CONFIG_MAPS, &object).await.refused(400, "BadRequest");
        assert!(
            !message.is_empty() && !message.contains("serde") && !message.contains(".rs"),
            "{field}: {message}"
        );
    }
    assert!(names(&admin.get(CONFIG_MAPS).await.expect(200)).is_empty());
}

#[tokio::test]
async fn a_body_must_fit_its_path() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut object = config_map("a", "2");
        change(&mut object);
        object
    };
    let kind = with(&|object| object["kind"] = json!("Secret"));
    let version = with(&|object| object["apiVersion"] = json!("v2"));
    let group = with(&|object| object["apiVersion"] = json!("apps/v1"));
    let namespace = with(&|object| object["metadata"]["namespace"] = json!("orch-system"));
    let name = with(&|object| object["metadata"]["name"] = json!("b"));
    for body in [&kind, &version, &group, &namespace, &name] {
        admin.put(&item, body).await.refused(400, "BadRequest");
    }
    for body in [&kind, &version, &group, &namespace] {
        admin.post(CONFIG_MAPS, body).await.refused(400, "BadRequest");
    }
    assert_eq!(admin.get(&item).await.expect(200)["data"]["value"], "1");
}

#[tokio::test]
async fn media_types_that_are_not_read_or_written_are_said() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let body = config_map("a", "1").to_string();
    for media_type in ["text/plain", "application/xml", "application/octet-stream"] {
        let answer = admin.request(Method::POST, CONFIG_MAPS).body(media_type, body.clone()).send().await;
        answer.refused(415, "UnsupportedMediaType");
    }
    for accept in ["text/html", "image/png", "application/xml;q=0.9"] {
        let answer = admin.request(Method::GET, CONFIG_MAPS).header("accept", accept).send().await;
        answer.refused(406, "NotAcceptable");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_too_large_and_one_below_is_read() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let padded = |length: usize| {
        let object = config_map("a", "1").to_string();
        let padding = " ".repeat(length - object.len());
        format!("{object}{padding}")
    };
    let message = post_raw(&admin, padded(BODY_LIMIT + 1)).await.refused(413, "RequestEntityTooLarge");
    assert_eq!(message, "Request entity too large: limit is 3145728");
    post_raw(&admin, padded(BODY_LIMIT)).await.expect(201);
}

#[tokio::test]
async fn deep_bodies_are_refused_and_the_server_lives() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("p", "1")).await.expect(201);
    let item = format!("{CONFIG_MAPS}/p");
    for depth in [200, 10_000, 400_000] {
        for nested in [
            "[".repeat(depth) + &"]".repeat(depth),
            r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth),
            // Never closed.
            "[".repeat(depth),
        ] {
            let object = |field: &str| {
                format!(
                    r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},"{field}":{nested}}}"#
                )
            };
            post_raw(&admin, object("data")).await.refused(400, "BadRequest");
            // What belongs to no field is skipped, however deep it is.
            let skipped = post_raw(&admin, object("x")).await;
            assert!([201, 400, 409].contains(&skipped.status), "{skipped:?}");
            for media_type in ["application/merge-patch+json", "application/strategic-merge-patch+json"] {
                let body = format!(r#"{{"data":{nested}}}"#);
                let answer = admin.request(Method::PATCH, &item).body(media_type, body).send().await;
                answer.refused(400, "BadRequest");
            }
            let body = format!(r#"[{{"op":"add","path":"/data/k","value":{nested}}}]"#);
            let answer =
                admin.request(Method::PATCH, &item).body("application/json-patch+json", body).send().await;
            assert!([400, 422].contains(&answer.status), "{answer:?}");
        }
    }
    assert_eq!(admin.get("/readyz").await.text(), "ok");
}

#[tokio::test]
async fn query_parameters_that_make_no_sense_are_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for query in ["dryRun=Maybe", "fieldValidation=Sometimes", "fieldManager=%07"] {
        let answer = admin.post(&format!("{CONFIG_MAPS}?{query}"), &config_map("a", "1")).await;
        answer.refused(422, "Invalid");
    }
    for query in ["timeoutSeconds=soon", "limit=many", "watch=1&timeoutSeconds=99999999999999999999"] {
        admin.get(&format!("{CONFIG_MAPS}?{query}")).await.refused(400, "BadRequest");
    }
    admin
        .get(&format!("{CONFIG_MAPS}?resourceVersion=99999999999999999999"))
        .await
        .refused(400, "BadRequest");
    let answer = admin.get(&format!("{CONFIG_MAPS}?resourceVersion=99999999")).await;
    let message = answer.refused(504, "Timeout");
    assert!(message.contains("Too large resource version"), "{message}");
    assert!(names(&admin.get(CONFIG_MAPS).await.expect(200)).is_empty());
}

#[tokio::test]
async fn a_json_patch_cannot_blow_up() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", &"x".repeat(1000))).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    let patch = async |operations: Vec<serde_json::Value>| {
        let body = serde_json::to_vec(&operations).unwrap();
        admin.request(Method::PATCH, &item).body("application/json-patch+json", body).send().await
    };
    // Each step doubles what is there.
    let bomb: Vec<_> =
        (0..60).map(|_| json!({"op": "copy", "from": "/data", "path": "/data/again"})).collect();
    let answer = patch(bomb).await;
    assert!([400, 413, 422].contains(&answer.status), "{answer:?}");
    let many = (0..10_001).map(|_| json!({"op": "test", "path": "/kind", "value": "ConfigMap"})).collect();
    let message = patch(many).await.refused(413, "RequestEntityTooLarge");
    assert!(message.contains("10000"), "{message}");
    assert_eq!(admin.get("/readyz").await.text(), "ok");
}
