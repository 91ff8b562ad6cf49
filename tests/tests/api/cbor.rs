//! CBOR behind its feature gate: the same objects, lists, watches, patches and failures as in JSON.

use http::Method;
use orch_api::{
    authentication::v1::TOKEN_REQUEST_TYPE,
    core::v1::{CONFIG_MAP_TYPE, SECRET_TYPE},
};
use orch_machinery::{
    cbor::{decode_any, encode},
    json::Limits,
};
use orch_tests::{
    TestServer,
    client::{Answer, Client},
    objects::{CONFIG_MAPS, SECRETS, config_map, labelled, version},
};
use serde_json::{Value, json};

const CBOR: &str = "application/cbor";
const STREAM: &str = "application/cbor-seq";
const APPLY: &str = "application/apply-patch+cbor";
/// Every document begins with it.
const MARK: &[u8] = &[0xd9, 0xd9, 0xf7];

async fn start() -> TestServer {
    TestServer::options().flag("--feature-gates=CBORServingAndStorage=true").start().await
}

async fn get(client: &Client, path: &str, accept: &str) -> Answer {
    client.request(Method::GET, path).header("accept", accept).send().await
}

/// A document without a type: bytes are base64, as in JSON.
fn read(bytes: &[u8]) -> Value {
    assert!(bytes.starts_with(MARK), "{}", bytes.escape_ascii());
    decode_any(bytes, &Limits::default()).unwrap_or_else(|error| panic!("{error}: {}", bytes.escape_ascii()))
}

#[tokio::test]
async fn without_its_gate_it_does_not_exist() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    let refused = get(&admin, &item, CBOR).await.refused(406, "NotAcceptable");
    assert!(!refused.contains("cbor"), "{refused}");
    let body = encode(&config_map("b", "1"), &CONFIG_MAP_TYPE);
    let refused = admin.request(Method::POST, CONFIG_MAPS).body(CBOR, body.clone()).send().await;
    let refused = refused.refused(415, "UnsupportedMediaType");
    assert!(
        refused.ends_with("application/json, application/yaml, application/vnd.orch.protobuf"),
        "{refused}"
    );
    let apply = format!("{item}?fieldManager=m");
    let patch = admin.request(Method::PATCH, &apply).body(APPLY, body).send().await;
    patch.refused(415, "UnsupportedMediaType");
    let document = admin.get("/openapi/v3/api/v1").await.expect(200).to_string();
    assert!(!document.contains("cbor"));
}

#[tokio::test]
async fn objects_are_written_and_answered() {
    let server = start().await;
    let admin = server.admin();
    let secret = json!({
        "kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s"}, "data": {"k": "AQL/"},
    });
    let create = admin.request(Method::POST, SECRETS).header("accept", CBOR);
    let created = create.body(CBOR, encode(&secret, &SECRET_TYPE)).send().await;
    assert_eq!((created.status, created.header("content-type")), (201, CBOR));
    let item = format!("{SECRETS}/s");
    let plain = admin.get(&item).await.expect(200);
    assert_eq!(plain["data"], json!({"k": "AQL/"}));
    assert_eq!(read(&created.body), plain);
    // The bytes themselves, with the tag that says that they are base64 elsewhere.
    let bytes = [0x41, b'k', 0xd6, 0x43, 1, 2, 0xff];
    assert!(created.body.windows(bytes.len()).any(|found| found == bytes));

    let mut changed = plain.clone();
    changed["data"]["other"] = json!("AA==");
    let put = admin.request(Method::PUT, &item).body(CBOR, encode(&changed, &SECRET_TYPE)).send().await;
    assert_eq!(put.expect(200)["data"], changed["data"]);
    let metadata = get(&admin, &item, &format!("{CBOR};as=PartialObjectMetadata;v=v1;g=meta.orch.io")).await;
    let metadata = read(&metadata.body);
    assert_eq!(
        (&metadata["kind"], &metadata["apiVersion"]),
        (&json!("PartialObjectMetadata"), &json!("meta.orch.io/v1"))
    );
    assert_eq!(metadata["metadata"], admin.get(&item).await.expect(200)["metadata"]);
    // Tables are for people, and quality counts.
    for accept in [
        &format!("{CBOR};as=Table;v=v1;g=meta.orch.io, application/json"),
        &format!("{CBOR};q=0.5, application/json"),
        "*/*",
    ] {
        assert_eq!(get(&admin, &item, accept).await.header("content-type"), "application/json", "{accept}");
    }
    // A sub-resource with a body of its own.
    let account = json!({"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "robot"}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    admin.post(accounts, &account).await.expect(201);
    let ask = json!({
        "kind": "TokenRequest", "apiVersion": "authentication.orch.io/v1",
        "spec": {"audiences": [], "expirationSeconds": 600},
    });
    let token = admin.request(Method::POST, &format!("{accounts}/robot/token")).header("accept", CBOR);
    let token = token.body(CBOR, encode(&ask, &TOKEN_REQUEST_TYPE)).send().await;
    assert_eq!((token.status, token.header("content-type")), (201, CBOR));
    let token = read(&token.body);
    assert_eq!((&token["kind"], &token["spec"]["expirationSeconds"]), (&json!("TokenRequest"), &json!(600)));
    assert!(!token["status"]["token"].as_str().unwrap().is_empty());
}

#[tokio::test]
async fn lists_are_answered_piece_by_piece() {
    let server = start().await;
    let admin = server.admin();
    // More than is sent at once.
    let large = "x".repeat(30_000);
    for index in 0..9 {
        admin.post(CONFIG_MAPS, &config_map(&format!("m{index}"), &large)).await.expect(201);
    }
    for query in ["", "?limit=4", "?labelSelector=none"] {
        let path = format!("{CONFIG_MAPS}{query}");
        let plain = admin.get(&path).await.expect(200);
        let answer = get(&admin, &path, CBOR).await;
        assert_eq!(answer.header("content-type"), CBOR);
        let mut list = read(&answer.body);
        // Each page has a token of its own.
        let given = list["metadata"].as_object_mut().unwrap().remove("continue");
        assert_eq!(given.is_some(), query == "?limit=4");
        let mut plain = plain;
        plain["metadata"].as_object_mut().unwrap().remove("continue");
        assert_eq!(list, plain, "{query}");
    }
    let accept = format!("{CBOR};as=PartialObjectMetadataList;v=v1;g=meta.orch.io");
    let metadata = read(&get(&admin, CONFIG_MAPS, &accept).await.body);
    assert_eq!(metadata["kind"], "PartialObjectMetadataList");
    let items = metadata["items"].as_array().unwrap();
    assert!(items.len() == 9 && items.iter().all(|item| item["kind"] == "PartialObjectMetadata"));
    let compressed = admin.request(Method::GET, CONFIG_MAPS).header("accept", CBOR);
    let compressed = compressed.header("accept-encoding", "gzip").send().await;
    assert_eq!(compressed.header("content-encoding"), "gzip");
}

/// The documents of a stream that has ended.
fn events(stream: &[u8]) -> Vec<(String, Value)> {
    let is_mark = |at: usize| stream[at..].starts_with(&[MARK, &[0xa2, 0x44], b"type"].concat());
    let starts: Vec<usize> = (0..stream.len()).filter(|at| is_mark(*at)).chain([stream.len()]).collect();
    let events = starts.windows(2).map(|event| read(&stream[event[0]..event[1]]));
    events.map(|event| (event["type"].as_str().unwrap().to_owned(), event["object"].clone())).collect()
}

#[tokio::test]
async fn watches_are_sequences_of_documents() {
    let server = start().await;
    let admin = server.admin();
    let start = admin.get(CONFIG_MAPS).await.expect(200);
    let created = admin.post(CONFIG_MAPS, &labelled("a", json!({"l": "1"}))).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    let changed = admin.merge(&item, &json!({"data": {"value": "2"}})).await.expect(200);
    admin.delete(&item).await.expect(200);
    let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion={}", version(&start));
    for accept in [CBOR, STREAM, "application/cbor;stream=watch", "application/cbor-seq, application/json"] {
        let answer = get(&admin, &path, accept).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, STREAM), "{accept}");
        let events = events(&answer.body);
        let words: Vec<&str> = events.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, ["ADDED", "MODIFIED", "DELETED"]);
        assert_eq!((&events[0].1, &events[1].1), (&created, &changed));
    }
    // A sequence is no single document.
    get(&admin, &item, STREAM).await.refused(406, "NotAcceptable");
    let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=1");
    let known = get(&admin, &path, "text/plain").await.refused(406, "NotAcceptable");
    assert!(known.ends_with("application/vnd.orch.protobuf;stream=watch, application/cbor-seq"), "{known}");
    let gone = get(&admin, &format!("{CONFIG_MAPS}?watch=1&resourceVersion=x"), CBOR).await;
    assert_eq!((gone.header("content-type"), &read(&gone.body)["code"]), (CBOR, &json!(422)));
}

#[tokio::test]
async fn applies_and_failures_are_documents_too() {
    let server = start().await;
    let admin = server.admin();
    let item = format!("{CONFIG_MAPS}/a?fieldManager=m");
    let apply =
        |body: Vec<u8>| admin.request(Method::PATCH, &item).header("accept", CBOR).body(APPLY, body).send();
    let configuration = json!({
        "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"},
        "data": {"k": "v"}, "binaryData": {"b": "AQI="},
    });
    let applied = apply(encode(&configuration, &CONFIG_MAP_TYPE)).await;
    assert_eq!(applied.status, 201, "{applied:?}");
    let applied = read(&applied.body);
    assert_eq!((&applied["data"], &applied["binaryData"]), (&json!({"k": "v"}), &json!({"b": "AQI="})));
    let owner = &applied["metadata"]["managedFields"][0];
    assert_eq!((&owner["manager"], &owner["operation"]), (&json!("m"), &json!("Apply")));
    assert_eq!(owner["fieldsV1"]["f:data"], json!({"f:k": {}}));
    // A name twice is a fault of the document, whatever is said about strictness.
    let twice = [MARK, &[0xa2, 0x41, b'a', 1, 0x41, b'a', 2]].concat();
    let refused = read(&apply(twice.clone()).await.body);
    assert_eq!(refused["message"], "error decoding CBOR: cbor: found duplicate map key \"a\"");
    let lax = format!("{CONFIG_MAPS}?fieldValidation=Ignore");
    let refused = admin.request(Method::POST, &lax).body(CBOR, twice).send().await;
    let refused = refused.refused(400, "BadRequest");
    assert!(refused.ends_with("cbor: found duplicate map key \"a\""), "{refused}");
    let mut unknown = config_map("b", "1");
    unknown["other"] = json!(1);
    let strict = format!("{CONFIG_MAPS}?fieldValidation=Strict");
    let refused = admin.request(Method::POST, &strict).body(CBOR, encode(&unknown, &CONFIG_MAP_TYPE)).send();
    let refused = refused.await.refused(400, "BadRequest");
    assert!(refused.ends_with("strict decoding error: unknown field \"other\""), "{refused}");
    // There is no CBOR form of the other patches.
    let merge = admin.request(Method::PATCH, &item).body("application/merge-patch+cbor", vec![0xa0]);
    merge.send().await.refused(415, "UnsupportedMediaType");

    let missing = get(&admin, &format!("{CONFIG_MAPS}/none"), CBOR).await;
    assert_eq!((missing.status, missing.header("content-type")), (404, CBOR));
    assert_eq!(read(&missing.body)["message"], r#"configmaps "none" not found"#);
    let deleted = admin.request(Method::DELETE, &format!("{CONFIG_MAPS}/a")).header("accept", CBOR).send();
    assert_eq!(read(&deleted.await.body)["status"], "Success");
}

#[tokio::test]
async fn documents_list_it_and_discovery_has_it() {
    let server = start().await;
    let admin = server.admin();
    let plain = admin.get("/api/v1").await.expect(200);
    assert_eq!(read(&get(&admin, "/api/v1", CBOR).await.body), plain);
    let document = admin.get("/openapi/v3/api/v1").await.expect(200);
    let path = &document["paths"]["/api/v1/namespaces/{namespace}/configmaps"];
    let listed = path["get"]["responses"]["200"]["content"].as_object().unwrap();
    assert!(listed.contains_key(CBOR) && listed.contains_key(STREAM), "{:?}", listed.keys());
    let item = &document["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"];
    assert!(item["patch"]["requestBody"]["content"].get(APPLY).is_some());
    assert!(item["put"]["requestBody"]["content"].get(CBOR).is_some());
}
