//! Tables and metadata alone: what is refused, and how watches tell them.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use http::Method;
use orch_tests::{
    Client, TestServer,
    client::{Answer, Watch},
    objects::{CONFIG_MAPS, config_map, name, names, version},
};
use serde_json::{Value, json};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

async fn get(client: &Client, path: &str, accept: &str) -> Answer {
    client.request(Method::GET, path).header("accept", accept).send().await
}

async fn watch(client: &Client, path: &str, accept: &str) -> Watch {
    client.request(Method::GET, path).header("accept", accept).watch().await.unwrap()
}

#[tokio::test]
async fn a_form_that_does_not_exist_is_passed_over_or_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    // Metadata of one object and of a list are two forms.
    assert_eq!(
        get(&admin, CONFIG_MAPS, METADATA).await.refused(406, "NotAcceptable"),
        "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)"
    );
    assert_eq!(
        get(&admin, &item, METADATA_LIST).await.refused(406, "NotAcceptable"),
        "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)"
    );
    let known = "Available representations: application/json, application/yaml, \
                 application/vnd.orch.protobuf";
    for (path, also) in [
        (item.as_str(), ""),
        (CONFIG_MAPS, ", application/json;stream=watch, application/vnd.orch.protobuf;stream=watch"),
    ] {
        let refused = get(&admin, path, "text/plain").await.refused(406, "NotAcceptable");
        assert_eq!(refused, format!("406: Not Acceptable\n\n{known}{also}"), "{path}");
    }
    let unknown_form = get(&admin, &item, &TABLE.replace("v=v1", "v=v7")).await;
    assert_eq!(
        unknown_form.refused(406, "NotAcceptable"),
        "only the following media types are accepted: application/json, application/yaml, \
         application/vnd.orch.protobuf"
    );
    // A table has no place for the mark that ends the initial events.
    let streaming = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1";
    let streaming = format!("{CONFIG_MAPS}?{streaming}&allowWatchBookmarks=true");
    get(&admin, &streaming, TABLE).await.refused(406, "NotAcceptable");
    let first = watch(&admin, &streaming, &format!("{TABLE},application/json")).await.expect("ADDED").await;
    assert_eq!(first["kind"], "ConfigMap");
    // A question is never looked at in a list.
    let reviews = "/apis/authentication.orch.io/v1/selfsubjectreviews";
    let ask = async |accept: &str| {
        let review = json!({"kind": "SelfSubjectReview", "apiVersion": "authentication.orch.io/v1"});
        admin.request(Method::POST, reviews).header("accept", accept).json(&review).send().await
    };
    ask(TABLE).await.refused(406, "NotAcceptable");
    let answer = ask(&format!("{TABLE},application/json")).await.expect(201);
    assert_eq!(answer["kind"], "SelfSubjectReview");
    for (accept, kind) in [
        (METADATA.to_owned(), "PartialObjectMetadata"),
        (TABLE.to_owned(), "Table"),
        (TABLE.replace("meta.k8s.io", "meta.orch.io"), "Table"),
        (format!("{METADATA_LIST},application/json"), "ConfigMap"),
        (format!("{METADATA_LIST},{TABLE}"), "Table"),
        (format!("{},application/json", TABLE.replace("v=v1", "v=v7")), "ConfigMap"),
        (format!("{},application/json", TABLE.replace("meta.k8s.io", "meta.example.io")), "ConfigMap"),
    ] {
        assert_eq!(get(&admin, &item, &accept).await.expect(200)["kind"], kind, "{accept}");
    }
    // 406 comes before 404, and a failure has a form of its own.
    get(&admin, &format!("{CONFIG_MAPS}/none"), "text/plain").await.refused(406, "NotAcceptable");
    get(&admin, &format!("{CONFIG_MAPS}/none"), TABLE).await.refused(404, "NotFound");
    get(&admin, &format!("{CONFIG_MAPS}?limit=x"), TABLE).await.refused(400, "BadRequest");
}

#[tokio::test]
async fn rows_have_what_is_asked_for() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let object = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    for path in [item.as_str(), CONFIG_MAPS, &format!("{CONFIG_MAPS}?watch=1")] {
        let separator = if path.contains('?') { '&' } else { '?' };
        let answer = get(&admin, &format!("{path}{separator}includeObject=All"), TABLE).await;
        let message = answer.refused(400, "BadRequest");
        assert_eq!(
            message,
            "Unable to convert to Table as requested: includeObject: Invalid value: \"All\": \
             must be 'Metadata', 'Object', 'None', or empty"
        );
    }
    for (include, expected) in [
        ("", "PartialObjectMetadata"),
        ("Metadata", "PartialObjectMetadata"),
        ("Object", "ConfigMap"),
        ("None", ""),
    ] {
        let table = get(&admin, &format!("{CONFIG_MAPS}?includeObject={include}"), TABLE).await.expect(200);
        let shown = &table["rows"][0]["object"];
        assert_eq!(shown["kind"].as_str().unwrap_or_default(), expected, "{include}");
        assert_eq!(table["rows"][0]["cells"][0], "a");
        if expected == "ConfigMap" {
            assert_eq!(shown, &object);
        } else if !expected.is_empty() {
            assert_eq!(shown["metadata"], object["metadata"]);
        }
    }
    // In the plain form the parameter is ignored.
    assert_eq!(names(&admin.get(&format!("{CONFIG_MAPS}?includeObject=All")).await.expect(200)), ["a"]);
    let table = get(&admin, &item, TABLE).await.expect(200);
    assert_eq!(version(&table), version(&object));
    let empty = get(&admin, &format!("{CONFIG_MAPS}?labelSelector=none"), TABLE).await.expect(200);
    assert_eq!(empty["rows"], json!([]));
    for column in table["columnDefinitions"].as_array().unwrap() {
        let keys: Vec<&String> = column.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["description", "format", "name", "priority", "type"]);
    }
}

#[tokio::test]
async fn a_watch_of_a_table_says_its_columns_once() {
    let server = TestServer::options().at_rest().start().await;
    let admin = server.admin();
    let created = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let path = format!("{CONFIG_MAPS}?watch=1&allowWatchBookmarks=true");
    let mut watch = watch(&admin, &path, TABLE).await;
    let first = watch.expect("ADDED").await;
    assert_eq!((&first["kind"], &first["apiVersion"]), (&json!("Table"), &json!("meta.k8s.io/v1")));
    assert!(first["columnDefinitions"].as_array().is_some_and(|columns| !columns.is_empty()));
    let bookmark = watch.expect("BOOKMARK").await;
    assert_eq!((&bookmark["kind"], &bookmark["columnDefinitions"]), (&json!("Table"), &Value::Null));
    assert_eq!(version(&bookmark), version(&created));
    let marks = &bookmark["rows"][0]["object"]["metadata"]["annotations"];
    assert_eq!(marks["k8s.io/initial-events-end"], "true", "{bookmark}");
    admin.post(CONFIG_MAPS, &config_map("b", "1")).await.expect(201);
    let next = watch.expect("ADDED").await;
    assert_eq!((&next["columnDefinitions"], &next["rows"][0]["cells"][0]), (&Value::Null, &json!("b")));
    admin.delete(&format!("{CONFIG_MAPS}/b")).await.expect(200);
    let deleted = watch.expect("DELETED").await;
    assert_eq!(deleted["rows"].as_array().map(Vec::len), Some(1));
    assert!(version(&deleted).parse::<u64>().unwrap() > version(&next).parse().unwrap());
}

#[tokio::test]
async fn a_watch_of_metadata_tells_nothing_else() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let created = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let path = format!("{CONFIG_MAPS}?watch=1&allowWatchBookmarks=1");
    // Clients that use one header for lists and watches ask for the list.
    for accept in [METADATA_LIST, METADATA] {
        let mut watch = watch(&admin, &path, accept).await;
        assert_eq!(watch.expect("ADDED").await["kind"], "PartialObjectMetadata", "{accept}");
        let bookmark = watch.expect("BOOKMARK").await;
        let blueprint = &bookmark["metadata"]["annotations"]["kubernetes.io/initial-events-list-blueprint"];
        let list = BASE64.decode(blueprint.as_str().unwrap()).unwrap();
        let expected = json!({
            "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {},
            "items": null,
        });
        assert_eq!(serde_json::from_slice::<Value>(&list).unwrap(), expected);
    }
    let mut watch = watch(&admin, &path, METADATA).await;
    let seen = watch.expect("ADDED").await;
    assert_eq!(
        (&seen["kind"], &seen["apiVersion"]),
        (&json!("PartialObjectMetadata"), &json!("meta.k8s.io/v1"))
    );
    assert_eq!((&seen["metadata"], &seen["data"]), (&created["metadata"], &Value::Null));
    let bookmark = watch.expect("BOOKMARK").await;
    assert_eq!(bookmark["kind"], "PartialObjectMetadata");
    admin.delete(&format!("{CONFIG_MAPS}/a")).await.expect(200);
    assert_eq!(name(&watch.expect("DELETED").await), "a");
}

/// A failure in the stream is a Status in every form.
#[tokio::test]
async fn an_error_event_is_a_status_in_every_form() {
    let server = TestServer::options().flag("--history-retention=1ms").start().await;
    let admin = server.admin();
    let first = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    for accept in [TABLE, METADATA, "application/json"] {
        let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&first));
        let error = loop {
            let change = json!({"data": {"n": rand::random::<u32>().to_string()}});
            admin.merge(&format!("{CONFIG_MAPS}/a"), &change).await.expect(200);
            let mut event = watch(&admin, &path, accept).await.event().await;
            if event["type"] == "ERROR" {
                break event["object"].take();
            }
        };
        assert_eq!((&error["kind"], &error["code"]), (&json!("Status"), &json!(410)), "{accept}");
    }
}

/// Flow schemas are shown in the order in which they are tried.
#[tokio::test]
async fn rows_of_flow_schemas_are_in_the_order_of_their_precedence() {
    const SCHEMAS: &str = "/apis/flowcontrol.apiserver.orch.io/v1/flowschemas";
    let server = TestServer::start().await;
    let admin = server.admin();
    let table = get(&admin, SCHEMAS, TABLE).await.expect(200);
    let shown = |row: &Value| {
        let cells = &row["cells"];
        (cells[2].as_i64().unwrap(), cells[0].as_str().unwrap().to_owned())
    };
    let shown: Vec<_> = table["rows"].as_array().unwrap().iter().map(shown).collect();
    assert!(shown.len() > 10 && shown.is_sorted(), "{shown:?}");
    assert_eq!((&*shown[0].1, &*shown[shown.len() - 1].1), ("exempt", "catch-all"));
    let yaml = get(&admin, SCHEMAS, &TABLE.replace("json", "yaml")).await.text();
    let at = |name: &str| yaml.find(&format!("name: {name}\n")).expect("its row is there");
    assert!(at("exempt") < at("probes") && at("probes") < at("catch-all"), "{yaml}");
    assert!(names(&admin.get(SCHEMAS).await.expect(200)).is_sorted());
}
