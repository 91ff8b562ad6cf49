//! The documents of the test catalog, compared as text where the order of fields matters.

use http::Request;
use http_body_util::BodyExt as _;
use orch_machinery::{json::Limits, media_type::MediaTypes, protobuf};
use orch_meta::meta::v1::{API_GROUP_LIST_TYPE, API_GROUP_TYPE, API_RESOURCE_LIST_TYPE, API_VERSIONS_TYPE};
use orch_registry::catalog::Catalog;
use orch_test_catalog::{KUBERNETES, ORCH, catalog, product};
use serde_json::{Value, json};

use super::Discovery;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const ALL_VERBS: &str = r#"["create","delete","deletecollection","get","list","patch","update","watch"]"#;

fn discovery(catalog: &Catalog, address: &str) -> Discovery {
    Discovery::new(catalog, &MediaTypes::new(orch_meta::VOCABULARIES, |_| true), address)
}

struct Answer {
    status: u16,
    headers: http::HeaderMap,
    text: String,
    bytes: bytes::Bytes,
}

async fn ask(discovery: &Discovery, path: &str, headers: &[(&str, &str)]) -> Option<Answer> {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(()).unwrap().into_parts().0;
    let response = discovery.serve(&request)?;
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(Answer { status: head.status.as_u16(), headers: head.headers, text, bytes })
}

/// The body of a plain answer.
async fn plain(path: &str) -> String {
    let discovery = discovery(&catalog(&KUBERNETES), "127.0.0.1:6443");
    let answer = ask(&discovery, path, &[]).await.unwrap();
    assert_eq!(answer.status, 200, "{path}");
    assert_eq!(answer.headers["content-type"], "application/json");
    answer.text
}

fn without_hashes(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once(",\"storageVersionHash\":\"") {
        out.push_str(before);
        rest = after.split_once('"').unwrap().1;
    }
    out + rest
}

#[tokio::test]
async fn the_roots_list_versions_and_groups() {
    assert_eq!(
        plain("/api").await,
        "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":\
         [{\"clientCIDR\":\"0.0.0.0/0\",\"serverAddress\":\"127.0.0.1:6443\"}]}\n"
    );
    let group = |name: &str| {
        format!(
            "{{\"name\":\"{name}\",\"versions\":[{{\"groupVersion\":\"{name}/v1\",\"version\":\"v1\"}}],\
             \"preferredVersion\":{{\"groupVersion\":\"{name}/v1\",\"version\":\"v1\"}}}}"
        )
    };
    let widgets = "{\"name\":\"things.example.com\",\"versions\":[\
                   {\"groupVersion\":\"things.example.com/v1\",\"version\":\"v1\"},\
                   {\"groupVersion\":\"things.example.com/v1beta1\",\"version\":\"v1beta1\"}],\
                   \"preferredVersion\":{\"groupVersion\":\"things.example.com/v1\",\"version\":\"v1\"}}";
    assert_eq!(
        plain("/apis").await,
        format!(
            "{{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[{},{},{widgets}]}}\n",
            group("apps"),
            group("authorization.k8s.io")
        )
    );
    assert_eq!(plain("/apis/").await, plain("/apis").await);
}

#[tokio::test]
async fn a_group_is_its_entry_with_a_kind() {
    assert_eq!(
        plain("/apis/apps").await,
        "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",\"name\":\"apps\",\
         \"versions\":[{\"groupVersion\":\"apps/v1\",\
         \"version\":\"v1\"}],\"preferredVersion\":{\"groupVersion\":\"apps/v1\",\"version\":\"v1\"}}\n"
    );
}

/// Compared with the recorded answer of a reference server.
#[tokio::test]
async fn virtual_kinds_can_only_be_created() {
    let body: Value = serde_json::from_str(&plain("/apis/authorization.k8s.io/v1").await).unwrap();
    assert_eq!(
        body,
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "authorization.k8s.io/v1",
            "resources": [
                {"name": "localsubjectaccessreviews", "singularName": "localsubjectaccessreview",
                 "namespaced": true, "kind": "LocalSubjectAccessReview", "verbs": ["create"]},
                {"name": "selfsubjectaccessreviews", "singularName": "selfsubjectaccessreview",
                 "namespaced": false, "kind": "SelfSubjectAccessReview", "verbs": ["create"]}]})
    );
}

/// The product's tables, compared with the recorded answer of a reference server.
#[tokio::test]
async fn the_products_leases_are_described_as_recorded() {
    let discovery = discovery(&product(&KUBERNETES), "");
    let answer = ask(&discovery, "/apis/coordination.k8s.io/v1", &[]).await.unwrap();
    let body: Value = serde_json::from_str(&without_hashes(&answer.text)).unwrap();
    assert_eq!(
        body,
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "coordination.k8s.io/v1",
            "resources": [{"name": "leases", "singularName": "lease", "namespaced": true, "kind": "Lease",
             "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]}]})
    );
}

#[tokio::test]
async fn resources_and_subresources_are_sorted_entries() {
    let text = plain("/api/v1").await;
    assert!(
        text.starts_with("{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":["),
        "{text}"
    );
    let no_collection_delete = ALL_VERBS.replace("\"deletecollection\",", "");
    let expected = [
        format!(
            "{{\"name\":\"configmaps\",\"singularName\":\"configmap\",\"namespaced\":true,\
             \"kind\":\"ConfigMap\",\
             \"verbs\":{ALL_VERBS},\"shortNames\":[\"cm\"]}}"
        ),
        format!(
            "{{\"name\":\"namespaces\",\"singularName\":\"namespace\",\"namespaced\":false,\
             \"kind\":\"Namespace\",\
             \"verbs\":{no_collection_delete},\"shortNames\":[\"ns\"]}}"
        ),
        "{\"name\":\"namespaces/finalize\",\"singularName\":\"\",\"namespaced\":false,\"kind\":\"Namespace\",\
         \"verbs\":[\"update\"]}"
            .to_owned(),
        "{\"name\":\"namespaces/status\",\"singularName\":\"\",\"namespaced\":false,\"kind\":\"Namespace\",\
         \"verbs\":[\"get\",\"patch\",\"update\"]}"
            .to_owned(),
        format!(
            "{{\"name\":\"pods\",\"singularName\":\"pod\",\"namespaced\":true,\"kind\":\"Pod\",\
             \"verbs\":{ALL_VERBS},\"shortNames\":[\"po\"],\"categories\":[\"all\"]}}"
        ),
        "{\"name\":\"pods/eviction\",\"singularName\":\"\",\"namespaced\":true,\"group\":\"policy\",\
         \"version\":\"v1\",\"kind\":\"Eviction\",\"verbs\":[\"create\"]}"
            .to_owned(),
        "{\"name\":\"pods/status\",\"singularName\":\"\",\"namespaced\":true,\"kind\":\"Pod\",\
         \"verbs\":[\"get\",\"patch\",\"update\"]}"
            .to_owned(),
        format!(
            "{{\"name\":\"serviceaccounts\",\"singularName\":\"serviceaccount\",\"namespaced\":true,\
             \"kind\":\"ServiceAccount\",\"verbs\":{ALL_VERBS},\"shortNames\":[\"sa\"]}}"
        ),
        "{\"name\":\"serviceaccounts/token\",\"singularName\":\"\",\"namespaced\":true,\
         \"group\":\"authorization.k8s.io\",\"version\":\"v1\",\"kind\":\"SelfSubjectAccessReview\",\
         \"verbs\":[\"create\"]}"
            .to_owned(),
    ];
    let resources = without_hashes(&text);
    let resources = resources.split_once('[').unwrap().1.strip_suffix("]}\n").unwrap();
    assert_eq!(resources, expected.join(","));
}

/// The hashes that servers of this API show for these kinds.
#[tokio::test]
async fn the_storage_version_is_hashed_as_everywhere() {
    for (path, name, hash) in [
        ("/api/v1", "configmaps", Some("qFsyl6wFWjQ=")),
        ("/api/v1", "pods", Some("xPOwRZ+Yhw8=")),
        ("/api/v1", "namespaces", Some("Q3oi5N2YM8M=")),
        ("/api/v1", "pods/status", None),
        ("/apis/apps/v1", "daemonsets", Some("dd7pWHUlMKQ=")),
        ("/apis/authorization.k8s.io/v1", "selfsubjectaccessreviews", None),
    ] {
        let body: Value = serde_json::from_str(&plain(path).await).unwrap();
        let entry = body["resources"].as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap();
        assert_eq!(entry.get("storageVersionHash").and_then(Value::as_str), hash, "{name}");
    }
    let hash = |text: &str| text.split_once("storageVersionHash").unwrap().1.to_owned();
    let old = plain("/apis/things.example.com/v1beta1").await;
    let new = plain("/apis/things.example.com/v1").await;
    assert_eq!(hash(&old), hash(&new), "both versions are stored as one");
}

#[tokio::test]
async fn the_address_is_the_one_that_the_client_used() {
    let discovery = discovery(&catalog(&KUBERNETES), "127.0.0.1:6443");
    for (uri, host, expected) in [
        ("/api", "example.com:8443", "example.com:8443"),
        ("https://[::1]:1/api", "ignored", "[::1]:1"),
        ("/api", "a\"b", "a\\\"b"),
    ] {
        let answer = ask(&discovery, uri, &[("host", host)]).await.unwrap();
        assert!(answer.text.contains(&format!("\"serverAddress\":\"{expected}\"")), "{}", answer.text);
    }
}

#[tokio::test]
async fn the_aggregated_form_holds_everything() {
    let discovery = discovery(&catalog(&KUBERNETES), "");
    let answer = ask(&discovery, "/api", &[("accept", AGGREGATED)]).await.unwrap();
    assert_eq!(answer.headers["content-type"], AGGREGATED);
    assert_eq!(answer.headers["vary"], "Accept");
    assert_eq!(answer.headers["cache-control"], "public");
    let start = "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\",\
                 \"metadata\":{},\
                 \"items\":[{\"metadata\":{\"creationTimestamp\":null},\"versions\":[{\"version\":\"v1\",\
                 \"resources\":[\
                 {\"resource\":\"configmaps\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\
                 \"kind\":\"ConfigMap\"},\
                 \"scope\":\"Namespaced\",\"singularResource\":\"configmap\",\"verbs\":";
    let end = format!("{start}{ALL_VERBS},\"shortNames\":[\"cm\"]}},{{\"resource\":\"namespaces\",");
    assert!(answer.text.starts_with(&end), "{}", answer.text);
    assert!(answer.text.ends_with("],\"freshness\":\"Current\"}]}]}\n"), "{}", answer.text);
    let body: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(
        body["items"][0]["versions"][0]["resources"][2],
        json!({"resource": "pods", "responseKind": {"group": "", "version": "", "kind": "Pod"},
            "scope": "Namespaced", "singularResource": "pod", "shortNames": ["po"], "categories": ["all"],
            "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
            "subresources": [
                {"subresource": "eviction", "verbs": ["create"],
                 "responseKind": {"group": "policy", "version": "v1", "kind": "Eviction"}},
                {"subresource": "status", "verbs": ["get", "patch", "update"],
                 "responseKind": {"group": "", "version": "", "kind": "Pod"}}]})
    );
    let answer = ask(&discovery, "/apis", &[("accept", AGGREGATED)]).await.unwrap();
    let body: Value = serde_json::from_str(&answer.text).unwrap();
    let names: Vec<&str> = body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["apps", "authorization.k8s.io", "things.example.com"]);
    let versions = body["items"][2]["versions"].as_array().unwrap();
    assert_eq!((&versions[0]["version"], &versions[1]["version"]), (&json!("v1"), &json!("v1beta1")));
}

#[tokio::test]
async fn the_form_is_negotiated() {
    let discovery = discovery(&catalog(&ORCH), "");
    let group = |name: &str, version: &str| {
        format!("application/json;g=apidiscovery.{name};v={version};as=APIGroupDiscoveryList")
    };
    let (ours, theirs) = (group("orch.io", "v2"), group("k8s.io", "v2"));
    let old = group("k8s.io", "v2beta1");
    for (accept, expected) in [
        (String::new(), "application/json"),
        ("*/*".to_owned(), "application/json"),
        (ours.clone(), ours.as_str()),
        (theirs.clone(), &theirs),
        (old.clone(), &old),
        (format!("{theirs},{old},application/json"), &theirs),
        (format!("{theirs};profile=nopeer,application/json"), &theirs),
        (format!("{theirs},application/json;q=0.9"), &theirs),
        (format!("application/json;q=0.2, {old} ; q=0.3"), &old),
        (format!("{},application/json", group("k8s.io", "v9")), "application/json"),
        ("text/html,application/json;q=0.5".to_owned(), "application/json"),
    ] {
        let answer = ask(&discovery, "/apis", &[("accept", &accept)]).await.unwrap();
        assert_eq!(
            (answer.status, &answer.headers["content-type"]),
            (200, &expected.parse().unwrap()),
            "{accept}"
        );
        assert_eq!(answer.headers["vary"], "Accept");
        let api_version = match expected.split_once("g=") {
            Some((_, parameters)) => parameters.split_once(";as=").unwrap().0.replace(";v=", "/"),
            None => "v1".to_owned(),
        };
        assert!(answer.text.contains(&format!("\"apiVersion\":\"{api_version}\"")), "{accept}");
    }
    for path in ["/apis/apps", "/apis/apps/v1"] {
        let accept = format!("{theirs},application/json");
        let answer = ask(&discovery, path, &[("accept", &accept)]).await.unwrap();
        assert_eq!(
            (answer.status, &answer.headers["content-type"]),
            (200, &"application/json".parse().unwrap())
        );
        let answer = ask(&discovery, path, &[("accept", &theirs)]).await.unwrap();
        assert_eq!(answer.status, 406, "{path}");
    }
}

#[tokio::test]
async fn documents_in_protobuf_say_the_same() {
    let discovery = discovery(&catalog(&KUBERNETES), "127.0.0.1:6443");
    for (path, kind, def) in [
        ("/api", "APIVersions", &API_VERSIONS_TYPE),
        ("/apis", "APIGroupList", &API_GROUP_LIST_TYPE),
        ("/apis/apps", "APIGroup", &API_GROUP_TYPE),
        ("/apis/apps/v1", "APIResourceList", &API_RESOURCE_LIST_TYPE),
        ("/api/v1", "APIResourceList", &API_RESOURCE_LIST_TYPE),
    ] {
        let mut expected: Value = serde_json::from_str(&plain(path).await).unwrap();
        expected["apiVersion"] = json!("v1");
        let answer =
            ask(&discovery, path, &[("accept", "application/vnd.kubernetes.protobuf")]).await.unwrap();
        assert_eq!(answer.headers["content-type"], "application/vnd.kubernetes.protobuf", "{path}");
        let read = protobuf::decode(&answer.bytes, def, &Limits::default()).unwrap();
        assert_eq!((&read["kind"], &read["apiVersion"]), (&json!(kind), &json!("v1")));
        assert_eq!(without_empty(&read), without_empty(&expected), "{path}");
    }
}

/// Other programs read verbs in a message of their own: field 4 holds a message, whose field 1 repeats.
#[tokio::test]
async fn verbs_in_protobuf_are_in_a_message_of_their_own() {
    let discovery = discovery(&catalog(&KUBERNETES), "127.0.0.1:6443");
    let accept = [("accept", "application/vnd.kubernetes.protobuf")];
    let answer = ask(&discovery, "/apis/apps/v1", &accept).await.unwrap();
    let verbs = b"\x22\x14\x0a\x03get\x0a\x05patch\x0a\x06update";
    assert!(answer.bytes.windows(verbs.len()).any(|bytes| bytes == verbs), "{:?}", answer.bytes);
}

/// Protobuf does not tell what is empty from what is missing.
fn without_empty(value: &Value) -> Value {
    let is_empty = |value: &Value| *value == json!("") || *value == json!([]) || *value == json!(false);
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), without_empty(value)));
            Value::Object(fields.filter(|(_, value)| !is_empty(value)).collect())
        }
        Value::Array(items) => items.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}

#[tokio::test]
async fn groups_are_there_for_who_takes_any_application_type() {
    let discovery = discovery(&catalog(&ORCH), "");
    let accept = [("accept", "application/*")];
    for (path, status) in [("/apis", 200), ("/apis/apps", 200), ("/apis/apps/v1", 406), ("/api", 406)] {
        assert_eq!(ask(&discovery, path, &accept).await.unwrap().status, status, "{path}");
    }
}

#[tokio::test]
async fn what_is_not_acceptable_is_refused() {
    let discovery = discovery(&catalog(&ORCH), "");
    for path in ["/api", "/apis", "/apis/apps", "/apis/apps/v1"] {
        for accept in ["text/html", "application/vnd.other.protobuf", "application/json;q=0"] {
            let answer = ask(&discovery, path, &[("accept", accept)]).await.unwrap();
            assert_eq!(
                (answer.status, &answer.headers["content-type"]),
                (406, &"application/json".parse().unwrap())
            );
            let body: Value = serde_json::from_str(&answer.text).unwrap();
            assert_eq!((&body["reason"], &body["code"]), (&json!("NotAcceptable"), &json!(406)), "{path}");
        }
    }
}

#[tokio::test]
async fn a_known_document_is_not_sent_again() {
    let discovery = discovery(&catalog(&KUBERNETES), "");
    let first = ask(&discovery, "/apis", &[("accept", AGGREGATED)]).await.unwrap();
    let tag = first.headers["etag"].to_str().unwrap();
    assert_eq!(tag.len(), 130);
    let again = ask(&discovery, "/apis", &[("accept", AGGREGATED), ("if-none-match", tag)]).await.unwrap();
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    assert_eq!(again.headers["etag"], tag);
    assert_eq!(again.headers["cache-control"], "public");
    let other = ask(&discovery, "/api", &[("accept", AGGREGATED), ("if-none-match", tag)]).await.unwrap();
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn other_paths_are_not_answered() {
    let discovery = discovery(&catalog(&KUBERNETES), "");
    for path in
        ["/", "/api/v9", "/apis/none", "/apis/apps/v9", "/apis/apps/v1/daemonsets", "/apis//", "/apis/meta"]
    {
        assert!(ask(&discovery, path, &[]).await.is_none(), "{path}");
    }
}
