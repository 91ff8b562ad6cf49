//! Bodies that are not what they should be: each is refused with the reason, and nothing is stored.

use std::time::Duration;

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
    let object = config_map("a", "1").to_string();
    let cut_off = &object[..object.len() - 1];
    let two = format!("{object}{object}");
    let nan = object.replace("\"1\"", "NaN");
    for body in ["", "{", "[]", "42", "\"text\"", "not json", cut_off, &two, &nan] {
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
async fn an_escape_of_half_a_character_is_replaced() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let body = r#"{"metadata":{"name":"a"},"data":{"k":"\ud83d\ude00 \ud800","l":"\udfffx"}}"#;
    let made = post_raw(&admin, body).await.expect(201);
    assert_eq!(made["data"], json!({"k": "😀 \u{fffd}", "l": "\u{fffd}x"}));
    let item = format!("{CONFIG_MAPS}/a");
    let patched = admin.request(Method::PATCH, &item);
    let patched = patched.body("application/merge-patch+json", r#"{"data":{"k":"\udc00"}}"#).send().await;
    assert_eq!(patched.expect(200)["data"]["k"], "\u{fffd}");
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
        assert_eq!(
            answer.refused(415, "UnsupportedMediaType"),
            "the body of the request was in an unknown format - accepted media types include: \
             application/json, application/yaml, application/vnd.orch.protobuf"
        );
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
            // The brackets are never closed.
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
    for version in ["99999999", "18446744073709551615"] {
        let answer = admin.get(&format!("{CONFIG_MAPS}?resourceVersion={version}")).await;
        let message = answer.refused(504, "Timeout");
        assert!(message.contains("Too large resource version"), "{message}");
    }
    assert!(names(&admin.get(CONFIG_MAPS).await.expect(200)).is_empty());
}

#[tokio::test]
async fn a_json_patch_cannot_grow_without_limit() {
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

#[tokio::test]
async fn what_is_missing_is_told_before_what_is_wrong_with_its_patch() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let absent = format!("{CONFIG_MAPS}/absent");
    for (media_type, body) in [
        ("application/json-patch+json", "{"),
        ("application/json-patch+json", "[{}]"),
        ("application/merge-patch+json", "[]"),
        ("application/strategic-merge-patch+json", "nonsense"),
    ] {
        let request = admin.request(Method::PATCH, &absent).body(media_type, body);
        let message = request.send().await.refused(404, "NotFound");
        assert_eq!(message, "configmaps \"absent\" not found", "{media_type} {body}");
    }
    let bad_option = format!("{absent}?fieldValidation=Maybe");
    admin.merge(&bad_option, &json!({})).await.refused(422, "Invalid");
}

#[tokio::test]
async fn an_object_is_not_created_with_a_version_that_is_no_number() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let with = |name: &str, version: &str| {
        let mut object = config_map(name, "1");
        object["metadata"]["resourceVersion"] = version.into();
        object
    };
    admin.post(CONFIG_MAPS, &with("zero", "0")).await.expect(201);
    admin.post(CONFIG_MAPS, &with("text", "abc")).await.expect(201);
    admin.post(CONFIG_MAPS, &with("one", "1")).await.refused(500, "");
    // The object's own faults come first, and a dry run does not get so far.
    let mut wrong = with("one", "1");
    wrong["data"] = json!({"a b": ""});
    admin.post(CONFIG_MAPS, &wrong).await.refused(422, "Invalid");
    admin.post(&format!("{CONFIG_MAPS}?dryRun=All"), &with("one", "1")).await.expect(201);

    let message = admin.put(&format!("{CONFIG_MAPS}/zero"), &with("zero", "abc")).await.refused(500, "");
    assert_eq!(message, "strconv.ParseUint: parsing \"abc\": invalid syntax");
}

#[tokio::test]
async fn a_uid_is_a_precondition_of_replacing_even_an_absent_object() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let role = |uid: &str| {
        let api_version = "rbac.authorization.orch.io/v1";
        json!({"apiVersion": api_version, "kind": "Role", "metadata": {"name": "r", "uid": uid}, "rules": []})
    };
    let item = "/apis/rbac.authorization.orch.io/v1/namespaces/default/roles/r";
    let message =
        admin.put(item, &role("11111111-2222-3333-4444-555555555555")).await.refused(409, "Conflict");
    assert!(message.contains("UID in precondition: 11111111-2222-3333-4444-555555555555"), "{message}");
    admin.put(item, &role("")).await.expect(201);
}

#[tokio::test]
async fn the_name_of_a_manager_is_printable() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for (manager, expected) in [
        ("a%E2%80%8Bb", "invalid character U+200B (at position 1)"),
        ("%C3%A9%07", "invalid character U+0007 (at position 2)"),
        ("%C2%A0", "invalid character U+00A0 (at position 0)"),
    ] {
        let path = format!("{CONFIG_MAPS}?fieldManager={manager}");
        let message = admin.post(&path, &config_map("a", "1")).await.refused(422, "Invalid");
        assert!(message.ends_with(expected), "{message}");
    }
    let request = admin.request(Method::POST, CONFIG_MAPS).header("user-agent", "tool/1.0");
    let created = request.json(&config_map("a", "1")).send().await.expect(201);
    assert_eq!(created["metadata"]["managedFields"][0]["manager"], "tool");
    let request = admin.request(Method::POST, CONFIG_MAPS).header("user-agent", "müller/1.0");
    let created = request.json(&config_map("c", "1")).send().await.expect(201);
    assert_eq!(created["metadata"]["managedFields"][0]["manager"], "müller");
    let path = format!("{CONFIG_MAPS}?fieldManager=caf%C3%A9%20%F0%9F%98%80");
    let created = admin.post(&path, &config_map("b", "1")).await.expect(201);
    assert_eq!(created["metadata"]["managedFields"][0]["manager"], "café 😀");
}

#[tokio::test]
async fn the_time_of_deletion_cannot_be_moved() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a");
    let mut object = config_map("a", "1");
    object["metadata"]["finalizers"] = json!(["example.com/held"]);
    admin.post(CONFIG_MAPS, &object).await.expect(201);
    let moved = json!({"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}});
    let message = admin.merge(&item, &moved).await.refused(422, "Invalid");
    assert!(message.contains("metadata.deletionTimestamp") && message.contains("immutable"), "{message}");

    let deleted = admin.delete(&item).await.expect(200);
    let when = &deleted["metadata"]["deletionTimestamp"];
    for change in [moved, json!({"metadata": {"deletionTimestamp": null}})] {
        let answer = admin.merge(&item, &change).await.expect(200);
        assert_eq!(&answer["metadata"]["deletionTimestamp"], when, "{change}");
    }
    let change = json!({"metadata": {"deletionGracePeriodSeconds": 7}});
    admin.merge(&item, &change).await.refused(422, "Invalid");
}

#[tokio::test]
async fn bodies_whose_values_take_too_much_memory_are_refused_in_every_format() {
    // To count so many values takes a busy machine a while, without optimizations.
    const PATIENCE: Duration = Duration::from_mins(5);
    let server = TestServer::options().flag("--request-timeout=5m").start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let many =
        |open: &str, item: &str, count: usize| format!("{open}[{}{item}]", format!("{item},").repeat(count));
    let json = format!("{}}}}}", many(r#"{"metadata":{"ownerReferences":"#, "{}", 190_000));
    let yaml = format!("metadata:\n  ownerReferences:\n{}", "  - {}\n".repeat(190_000));
    let field = |tag: u8, content: &[u8]| {
        let length = u32::try_from(content.len()).unwrap();
        let bytes = (0..5).map(|part| (length >> (7 * part)) as u8 & 0x7f | if part < 4 { 0x80 } else { 0 });
        [&[tag << 3 | 2], &bytes.collect::<Vec<u8>>()[..], content].concat()
    };
    // A config map with half a million owners, of two bytes each.
    let owners = [13 << 3 | 2, 0].repeat(500_000);
    let protobuf = [b"k8s\0".to_vec(), field(2, &field(1, &owners))].concat();
    for (media_type, body) in [
        ("application/json", json.clone().into_bytes()),
        ("application/yaml", yaml.into_bytes()),
        ("application/vnd.kubernetes.protobuf", protobuf),
    ] {
        let sent = admin.request(Method::POST, CONFIG_MAPS).body(media_type, body);
        let why = sent.patience(PATIENCE).send().await.refused(413, "RequestEntityTooLarge");
        assert!(why.contains("the values of the document take more than"), "{media_type}: {why}");
    }
    let data = (0..190_000).map(|n| format!("  k{n}: x\n")).collect::<Vec<_>>().concat();
    let configuration = format!("kind: ConfigMap\napiVersion: v1\ndata:\n{data}");
    for (media_type, body) in [
        ("application/merge-patch+json", json.clone()),
        ("application/strategic-merge-patch+json", json.clone()),
        ("application/json-patch+json", many("", r#"{"op":"test"}"#, 100_000)),
        ("application/apply-patch+yaml", configuration),
    ] {
        let path = format!("{CONFIG_MAPS}/a?fieldManager=m");
        let sent = admin.request(Method::PATCH, &path).body(media_type, body);
        sent.patience(PATIENCE).send().await.refused(413, "RequestEntityTooLarge");
    }
}
