//! Answers in protobuf: the same as in JSON, for objects, lists, watches and failures.

use std::io::Read as _;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use bytes::{Buf, Bytes};
use flate2::read::GzDecoder;
use http::Method;
use orch_api::{
    authentication::v1::TOKEN_REQUEST_TYPE,
    core::v1::CONFIG_MAP_TYPE,
    meta::v1::{LIST_META_TYPE, STATUS_TYPE},
    policy::v1::EVICTION_TYPE,
};
use orch_machinery::{
    json::Limits,
    protobuf::{decode, encode},
};
use orch_runtime::{
    resource_def::ResourceDef,
    scalar::ByteString,
    type_def::{FieldDef, ListSemantics, Scalar, Shape, TypeDef},
};
use orch_tests::{
    TestServer,
    client::{Answer, Client},
    objects::{CONFIG_MAPS, config_map, labelled, version},
};
use serde_json::{Value, json};

const ORCH: &str = "application/vnd.orch.protobuf";
const KUBERNETES: &str = "application/vnd.kubernetes.protobuf";

const CONFIG_MAP: Shape = Shape::Object(&CONFIG_MAP_TYPE);

static LIST_TYPE: TypeDef = TypeDef {
    name: "core.v1.ConfigMapList",
    short_name: "ConfigMapList",
    fields: &[
        FieldDef { name: "metadata", tag: Some(1), shape: Shape::Object(&LIST_META_TYPE), ..FieldDef::PLAIN },
        FieldDef {
            name: "items",
            tag: Some(2),
            shape: Shape::List { item: &CONFIG_MAP, semantics: ListSemantics::Atomic },
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

async fn get(client: &Client, path: &str, accept: &str) -> Answer {
    client.request(Method::GET, path).header("accept", accept).send().await
}

fn read(bytes: &[u8], def: &'static TypeDef) -> Value {
    decode(bytes, def, &Limits::default()).unwrap_or_else(|error| panic!("{error}: {}", bytes.escape_ascii()))
}

/// An object without the empty values that only protobuf writes.
fn typed(tree: &Value) -> Value {
    let kinds = orch_api::registry().iter().flat_map(|group_version| group_version.resources);
    let resource: &ResourceDef = kinds.copied().find(|resource| resource.kind == "ConfigMap").unwrap();
    (resource.from_tree)(tree.clone()).unwrap().to_tree().unwrap()
}

#[tokio::test]
async fn objects_are_written_and_answered() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let body = encode(&config_map("a", "1"), &CONFIG_MAP_TYPE, "v1", "ConfigMap").unwrap();
    let created =
        admin.request(Method::POST, CONFIG_MAPS).header("accept", ORCH).body(ORCH, body).send().await;
    assert_eq!((created.status, created.header("content-type")), (201, ORCH));
    let item = format!("{CONFIG_MAPS}/a");
    let plain = admin.get(&item).await.expect(200);
    assert_eq!(plain["data"], json!({"value": "1"}));
    assert_eq!(typed(&read(&created.body, &CONFIG_MAP_TYPE)), typed(&plain));
    for accept in [
        ORCH,
        KUBERNETES,
        &format!("{KUBERNETES}, application/json"),
        "text/plain, application/vnd.orch.protobuf",
    ] {
        let answer = get(&admin, &item, accept).await;
        assert!(accept.contains(answer.header("content-type")), "{accept}: {:?}", answer.headers);
        let tree = read(&answer.body, &CONFIG_MAP_TYPE);
        assert_eq!((&tree["kind"], &tree["apiVersion"]), (&json!("ConfigMap"), &json!("v1")));
        assert_eq!(typed(&tree), typed(&plain), "{accept}");
    }
    // Tables are for people, and quality counts.
    for accept in [
        &format!("{ORCH};as=Table;v=v1;g=meta.orch.io, application/json"),
        &format!("{ORCH};q=0.5, application/json"),
    ] {
        let answer = get(&admin, &item, accept).await;
        assert_eq!(answer.header("content-type"), "application/json", "{accept}");
        assert_eq!(answer.expect(200), plain, "{accept}");
    }
    let metadata = get(&admin, &item, &format!("{ORCH};as=PartialObjectMetadata;v=v1;g=meta.orch.io")).await;
    let metadata = read(&metadata.body, &CONFIG_MAP_TYPE);
    assert_eq!(
        (&metadata["kind"], &metadata["apiVersion"]),
        (&json!("PartialObjectMetadata"), &json!("meta.orch.io/v1"))
    );
    assert_eq!(typed(&metadata)["metadata"], typed(&plain)["metadata"]);
    assert_eq!(typed(&metadata).get("data"), None);
}

#[tokio::test]
async fn lists_are_answered_whole_and_in_pages() {
    let server = TestServer::options().at_rest().start().await;
    let admin = server.admin();
    // More than is sent at once.
    let large = "x".repeat(20_000);
    for index in 0..9 {
        admin.post(CONFIG_MAPS, &config_map(&format!("m{index}"), &large)).await.expect(201);
    }
    for query in ["", "?limit=4", "?labelSelector=none"] {
        let path = format!("{CONFIG_MAPS}{query}");
        let plain = admin.get(&path).await.expect(200);
        let answer = get(&admin, &path, ORCH).await;
        assert_eq!(answer.header("content-type"), ORCH);
        assert_eq!(answer.header("content-length"), answer.body.len().to_string(), "{query}");
        let list = read(&answer.body, &LIST_TYPE);
        assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("ConfigMapList"), &json!("v1")));
        assert_eq!(version(&list), version(&plain), "{query}");
        assert_eq!(
            list["metadata"]["remainingItemCount"], plain["metadata"]["remainingItemCount"],
            "{query}"
        );
        assert_eq!(items(&list), items(&plain), "{query}");
    }
    let accept = format!("{ORCH};as=PartialObjectMetadataList;v=v1;g=meta.orch.io");
    let metadata = read(&get(&admin, CONFIG_MAPS, &accept).await.body, &LIST_TYPE);
    assert_eq!(metadata["kind"], "PartialObjectMetadataList");
    assert_eq!(metadata["items"].as_array().unwrap().len(), 9);
    assert!(metadata["items"].as_array().unwrap().iter().all(|item| typed(item).get("data").is_none()));
}

/// So long that it is not measured at once: its length is not known before.
#[tokio::test]
async fn long_lists_are_answered_piece_by_piece() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for index in 0..600 {
        admin.post(CONFIG_MAPS, &config_map(&format!("m{index}"), &"x".repeat(300))).await.expect(201);
    }
    let plain = admin.get(CONFIG_MAPS).await.expect(200);
    let answer = get(&admin, CONFIG_MAPS, ORCH).await;
    assert_eq!(answer.header("content-length"), "");
    assert_eq!(items(&read(&answer.body, &LIST_TYPE)), items(&plain));

    let request = admin.request(Method::GET, CONFIG_MAPS).header("accept", ORCH);
    let compressed = request.header("accept-encoding", "gzip").send().await;
    assert_eq!(compressed.header("content-encoding"), "gzip");
    let mut bytes = Vec::new();
    GzDecoder::new(&compressed.body[..]).read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, answer.body);
}

fn items(list: &Value) -> Vec<Value> {
    list["items"].as_array().into_iter().flatten().map(typed).collect()
}

/// An event: its type and its object, which is a document.
static EVENT_TYPE: TypeDef = TypeDef {
    name: "meta.v1.WatchEvent",
    short_name: "WatchEvent",
    fields: &[
        FieldDef { name: "type", tag: Some(1), shape: Shape::Scalar(Scalar::String), ..FieldDef::PLAIN },
        FieldDef {
            name: "object",
            tag: Some(1),
            inline_tag: Some(2),
            shape: Shape::Scalar(Scalar::Bytes),
            ..FieldDef::PLAIN
        },
    ],
    by_name: &[],
    atomic: false,
    size: 0,
};

/// The events of a stream that has ended.
fn events(mut stream: Bytes) -> Vec<(String, Vec<u8>)> {
    let mut events = Vec::new();
    while stream.has_remaining() {
        let length = stream.get_u32() as usize;
        let message = stream.split_to(length);
        // The reader wants an envelope around a message: its object is the second field.
        let mut document = b"k8s\0".to_vec();
        document.push(2 << 3 | 2);
        let mut rest = length;
        while rest >= 0x80 {
            document.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        document.push(rest as u8);
        document.extend_from_slice(&message);
        let event = read(&document, &EVENT_TYPE);
        let object: ByteString = event["object"].as_str().unwrap().parse().unwrap();
        events.push((event["type"].as_str().unwrap().to_owned(), object.to_vec()));
    }
    events
}

#[tokio::test]
async fn watches_are_cut_into_frames() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let start = admin.get(CONFIG_MAPS).await.expect(200);
    let created = admin.post(CONFIG_MAPS, &labelled("a", json!({"l": "1"}))).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    let changed = admin.merge(&item, &json!({"data": {"value": "2"}})).await.expect(200);
    admin.delete(&item).await.expect(200);
    let path = format!(
        "{CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion={}",
        version(&start)
    );
    for accept in [format!("{ORCH};stream=watch"), KUBERNETES.to_owned()] {
        let answer = get(&admin, &path, &accept).await;
        let media_type = accept.split(';').next().unwrap();
        assert_eq!(answer.header("content-type"), format!("{media_type};stream=watch"));
        let events = events(answer.body.clone());
        let words: Vec<&str> = events.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(&words[..3], ["ADDED", "MODIFIED", "DELETED"]);
        assert!(words[3..].iter().all(|word| *word == "BOOKMARK"), "{words:?}");
        let objects: Vec<Value> =
            events.iter().map(|(_, object)| typed(&read(object, &CONFIG_MAP_TYPE))).collect();
        assert_eq!(objects[0], typed(&created));
        assert_eq!(objects[1], typed(&changed));
    }
    // The empty list in the bookmark that ends the initial events is a document of the same media type.
    let path = format!("{CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=1");
    let events = events(get(&admin, &path, KUBERNETES).await.body);
    let bookmark = read(&events[0].1, &CONFIG_MAP_TYPE);
    let blueprint = &bookmark["metadata"]["annotations"]["kubernetes.io/initial-events-list-blueprint"];
    let list = read(&BASE64.decode(blueprint.as_str().unwrap()).unwrap(), &LIST_TYPE);
    assert_eq!([&list["kind"], &list["apiVersion"]], ["ConfigMapList", "v1"]);
    assert_eq!(list.get("items"), None);
    let gone = get(&admin, &format!("{CONFIG_MAPS}?watch=1&resourceVersion=x"), ORCH).await;
    assert_eq!(gone.header("content-type"), ORCH);
    assert_eq!(read(&gone.body, &STATUS_TYPE)["status"], "Failure");
}

#[tokio::test]
async fn failures_and_successes_without_an_object_are_statuses() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let missing = get(&admin, &format!("{CONFIG_MAPS}/none"), ORCH).await;
    assert_eq!((missing.status, missing.header("content-type")), (404, ORCH));
    let status = read(&missing.body, &STATUS_TYPE);
    assert_eq!(status["message"], r#"configmaps "none" not found"#);
    assert_eq!((&status["kind"], &status["code"]), (&json!("Status"), &json!(404)));
    assert_eq!((&status["reason"], &status["details"]["name"]), (&json!("NotFound"), &json!("none")));
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    let deleted = admin.request(Method::DELETE, &item).header("accept", KUBERNETES).send().await;
    assert_eq!((deleted.status, deleted.header("content-type")), (200, KUBERNETES));
    assert_eq!(read(&deleted.body, &STATUS_TYPE)["status"], "Success");
}

/// Sub-resources with bodies of their own types: a token is an object, an eviction is answered by a Status.
#[tokio::test]
async fn bodies_of_sub_resources_have_their_own_types() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let (accounts, pods) = ("/api/v1/namespaces/default/serviceaccounts", "/api/v1/namespaces/default/pods");
    let robot = json!({"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "robot"}});
    admin.post(accounts, &robot).await.expect(201);
    let ask = json!({"spec": {"audiences": [], "expirationSeconds": 600}});
    let ask = encode(&ask, &TOKEN_REQUEST_TYPE, "authentication.orch.io/v1", "TokenRequest").unwrap();
    let post = |path: String, body: Vec<u8>| {
        admin.request(Method::POST, &path).header("accept", ORCH).body(ORCH, body).send()
    };
    let token = post(format!("{accounts}/robot/token"), ask).await;
    assert_eq!((token.status, token.header("content-type")), (201, ORCH));
    let token = read(&token.body, &TOKEN_REQUEST_TYPE);
    assert_eq!(
        (&token["kind"], &token["apiVersion"]),
        (&json!("TokenRequest"), &json!("authentication.orch.io/v1"))
    );
    assert_eq!(token["spec"]["expirationSeconds"], 600);
    assert!(token["status"]["token"].as_str().unwrap().matches('.').count() == 2);

    let pod = json!({
        "kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "image": "x:1"}]},
    });
    admin.post(pods, &pod).await.expect(201);
    let eviction = json!({"metadata": {"name": "a", "namespace": "default"}});
    let eviction = encode(&eviction, &EVICTION_TYPE, "policy/v1", "Eviction").unwrap();
    let evicted = post(format!("{pods}/a/eviction"), eviction).await;
    assert_eq!((evicted.status, evicted.header("content-type")), (201, ORCH));
    assert_eq!(read(&evicted.body, &STATUS_TYPE)["status"], "Success");
}
