//! What client tools look for in the documents, and how they fetch them.

use std::{collections::BTreeSet, sync::Arc};

use http::{HeaderMap, Request};
use http_body_util::BodyExt as _;
use orch_test_catalog::{KUBERNETES, ORCH, catalog, product};
use serde_json::{Value, json};

use super::*;

const NOW: i64 = 1_795_187_684;

struct Answer {
    status: u16,
    headers: HeaderMap,
    text: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

fn media_types() -> Arc<MediaTypes> {
    Arc::new(MediaTypes::new(&[&ORCH, &KUBERNETES], |gate| gate.default))
}

fn openapi(vocabulary: &'static orch_runtime::vocabulary::Vocabulary) -> OpenApi {
    OpenApi::new(Arc::new(catalog(vocabulary)), media_types())
}

async fn ask(openapi: &OpenApi, path: &str, headers: &[(&str, &str)]) -> Option<Answer> {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(()).unwrap().into_parts().0;
    let response = openapi.serve(&request, &Query::parse(request.uri.query()), NOW)?;
    let (head, body) = response.into_parts();
    let text = String::from_utf8_lossy(&body.collect().await.unwrap().to_bytes()).into_owned();
    Some(Answer { status: head.status.as_u16(), headers: head.headers, text })
}

async fn document(vocabulary: &'static orch_runtime::vocabulary::Vocabulary, key: &str) -> Value {
    let answer = ask(&openapi(vocabulary), &format!("/openapi/v3/{key}"), &[]).await.unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

#[tokio::test]
async fn documents_are_found_through_the_index() {
    let openapi = openapi(&KUBERNETES);
    let index = ask(&openapi, "/openapi/v3", &[]).await.unwrap();
    assert_eq!((index.status, &index.headers["content-type"]), (200, &JSON));
    let paths = index.json()["paths"].as_object().unwrap().clone();
    let keys: Vec<&str> = paths.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "api/v1",
            "apis/apps/v1",
            "apis/authorization.k8s.io/v1",
            "apis/things.example.com/v1",
            "apis/things.example.com/v1beta1"
        ]
    );
    for (key, location) in paths {
        let address = location["serverRelativeURL"].as_str().unwrap().to_owned();
        let answer = ask(&openapi, &address, &[]).await.unwrap();
        assert_eq!((answer.status, &answer.headers["content-type"]), (200, &JSON), "{address}");
        assert_eq!(answer.headers["cache-control"], "public, immutable");
        assert_eq!(answer.headers["expires"], "Sat, 20 Nov 2027 15:14:44 GMT");
        let digest = address.split_once("?hash=").unwrap().1;
        assert_eq!(answer.headers["etag"], format!("\"{digest}\""));
        assert_eq!(digest.len(), 128);

        let plain = ask(&openapi, &format!("/openapi/v3/{key}"), &[]).await.unwrap();
        assert_eq!(plain.text, answer.text);
        assert!(!plain.headers.contains_key("cache-control"));
        let stale = ask(&openapi, &format!("/openapi/v3/{key}?hash=AB"), &[]).await.unwrap();
        assert_eq!((stale.status, &stale.headers["location"]), (301, &address.parse().unwrap()));
    }
}

#[tokio::test]
async fn known_documents_are_not_sent_again() {
    let openapi = openapi(&KUBERNETES);
    for path in ["/openapi/v3", "/openapi/v3/apis/apps/v1"] {
        let first = ask(&openapi, path, &[]).await.unwrap();
        assert_eq!(first.headers["vary"], "Accept");
        let tag = first.headers["etag"].to_str().unwrap();
        let again = ask(&openapi, path, &[("if-none-match", tag)]).await.unwrap();
        assert_eq!((again.status, again.text.as_str()), (304, ""), "{path}");
    }
}

#[tokio::test]
async fn documents_are_there_in_two_forms_and_the_index_in_one() {
    const BINARY: &str = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
    let openapi = openapi(&KUBERNETES);
    for (accept, expected) in [
        ("", media_type::JSON),
        ("*/*", media_type::JSON),
        ("application/json, */*", media_type::JSON),
        ("application/*", media_type::JSON),
        ("application/com.github.proto-openapi.spec.v3@v1.0+protobuf,application/json;q=0.5", BINARY),
        (
            "application/com.github.proto-openapi.spec.v3@v1.0+protobuf;q=0.5,application/json",
            media_type::JSON,
        ),
        (BINARY, BINARY),
        ("text/html", ""),
        ("application/json;q=0", ""),
    ] {
        let json = |form: &'static str| if form.is_empty() { form } else { media_type::JSON };
        for (path, expected) in [("/openapi/v3", json(expected)), ("/openapi/v3/apis/apps/v1", expected)] {
            let answer = ask(&openapi, path, &[("accept", accept)]).await.unwrap();
            let status = if expected.is_empty() { 406 } else { 200 };
            assert_eq!(answer.status, status, "{path} {accept}");
            if status == 200 {
                assert_eq!(answer.headers["content-type"], expected, "{path} {accept}");
            }
        }
    }
    // An address with the digest is good for both forms.
    let path = "/openapi/v3/apis/apps/v1";
    let tag = |answer: &Answer| answer.headers["etag"].to_str().unwrap().trim_matches('"').to_owned();
    let json = ask(&openapi, path, &[]).await.unwrap();
    let named = format!("{path}?hash={}", tag(&json));
    let binary = ask(&openapi, &named, &[("accept", BINARY)]).await.unwrap();
    assert_eq!((binary.status, tag(&binary)), (200, tag(&json)));
}

#[tokio::test]
async fn other_paths_are_not_answered() {
    let openapi = openapi(&KUBERNETES);
    for path in [
        "/openapi",
        "/openapi/v2x",
        "/openapi/v2/api/v1",
        "/openapi/v3x",
        "/openapi/v3/apis",
        "/openapi/v3/apis/none/v1",
        "/openapi/v3//",
    ] {
        assert!(ask(&openapi, path, &[]).await.is_none(), "{path}");
    }
}

/// Method, path and operation id of everything in a document.
fn operations(document: &Value) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if method != "parameters" {
                let id = operation["operationId"].as_str().unwrap();
                let action = operation["x-kubernetes-action"].as_str().unwrap();
                assert!(all.insert(format!("{method} {path} {id} {action}")));
            }
        }
    }
    all
}

#[tokio::test]
async fn every_path_and_operation_is_there() {
    let core = operations(&document(&KUBERNETES, "api/v1").await);
    let of = |all: &BTreeSet<String>, plural: &str| -> Vec<String> {
        let names = |line: &&String| line.split('/').any(|part| part.split(' ').next() == Some(plural));
        all.iter().filter(names).cloned().collect()
    };
    assert_eq!(
        of(&core, "configmaps"),
        [
            "delete /api/v1/namespaces/{namespace}/configmaps \
             deleteCoreV1CollectionNamespacedConfigMap deletecollection",
            "delete /api/v1/namespaces/{namespace}/configmaps/{name} deleteCoreV1NamespacedConfigMap delete",
            "get /api/v1/configmaps listCoreV1ConfigMapForAllNamespaces list",
            "get /api/v1/namespaces/{namespace}/configmaps listCoreV1NamespacedConfigMap list",
            "get /api/v1/namespaces/{namespace}/configmaps/{name} readCoreV1NamespacedConfigMap get",
            "get /api/v1/watch/configmaps watchCoreV1ConfigMapListForAllNamespaces watchlist",
            "get /api/v1/watch/namespaces/{namespace}/configmaps \
             watchCoreV1NamespacedConfigMapList watchlist",
            "get /api/v1/watch/namespaces/{namespace}/configmaps/{name} watchCoreV1NamespacedConfigMap watch",
            "patch /api/v1/namespaces/{namespace}/configmaps/{name} patchCoreV1NamespacedConfigMap patch",
            "post /api/v1/namespaces/{namespace}/configmaps createCoreV1NamespacedConfigMap post",
            "put /api/v1/namespaces/{namespace}/configmaps/{name} replaceCoreV1NamespacedConfigMap put",
        ]
    );
    for line in [
        "get /api/v1/namespaces listCoreV1Namespace list",
        "put /api/v1/namespaces/{name}/finalize replaceCoreV1NamespaceFinalize put",
        "patch /api/v1/namespaces/{name}/status patchCoreV1NamespaceStatus patch",
        "post /api/v1/namespaces/{namespace}/pods/{name}/eviction createCoreV1NamespacedPodEviction post",
        "get /api/v1/namespaces/{namespace}/pods/{name}/status readCoreV1NamespacedPodStatus get",
    ] {
        assert!(core.contains(line), "{line} {core:#?}");
    }
    assert!(!core.iter().any(|line| line.contains("CollectionNamespace ")), "a verb that is not served");
    let reviews = operations(&document(&KUBERNETES, "apis/authorization.k8s.io/v1").await);
    assert_eq!(
        reviews.into_iter().collect::<Vec<_>>(),
        [
            "post /apis/authorization.k8s.io/v1/namespaces/{namespace}/localsubjectaccessreviews \
             createAuthorizationV1NamespacedLocalSubjectAccessReview post",
            "post /apis/authorization.k8s.io/v1/selfsubjectaccessreviews \
             createAuthorizationV1SelfSubjectAccessReview post",
        ]
    );
    let widgets = operations(&document(&KUBERNETES, "apis/things.example.com/v1beta1").await);
    let list =
        "get /apis/things.example.com/v1beta1/widgets listThingsExampleComV1beta1WidgetForAllNamespaces list";
    assert!(widgets.contains(list), "{widgets:#?}");
}

fn names<'a>(parameters: &'a Value, place: &str) -> Vec<&'a str> {
    let parameters = parameters.as_array().unwrap().iter().filter(|parameter| parameter["in"] == place);
    parameters.map(|parameter| parameter["name"].as_str().unwrap()).collect()
}

/// The parameters of each standard operation, as the contract lists them.
#[tokio::test]
async fn operations_have_the_standard_parameters() {
    let document = document(&KUBERNETES, "api/v1").await;
    let collection = &document["paths"]["/api/v1/namespaces/{namespace}/configmaps"];
    let item = &document["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"];
    assert_eq!(names(&collection["parameters"], "path"), ["namespace"]);
    assert_eq!(names(&item["parameters"], "path"), ["name", "namespace"]);
    assert_eq!(names(&item["parameters"], "query"), ["pretty"]);
    let write = ["dryRun", "fieldManager", "fieldValidation"];
    assert_eq!(names(&collection["post"]["parameters"], "query"), write);
    assert_eq!(names(&item["put"]["parameters"], "query"), write);
    assert_eq!(names(&item["patch"]["parameters"], "query"), [&write[..], &["force"]].concat());
    assert_eq!(
        names(&item["delete"]["parameters"], "query"),
        ["dryRun", "gracePeriodSeconds", "propagationPolicy"]
    );
    assert_eq!(item["get"].get("parameters"), None);
    let list = [
        "allowWatchBookmarks",
        "continue",
        "fieldSelector",
        "labelSelector",
        "limit",
        "resourceVersion",
        "resourceVersionMatch",
        "sendInitialEvents",
        "timeoutSeconds",
        "watch",
    ];
    assert_eq!(names(&collection["get"]["parameters"], "query"), list);
}

#[tokio::test]
async fn bodies_and_answers_refer_to_schemas() {
    let document = document(&KUBERNETES, "api/v1").await;
    let path = |path: &str| &document["paths"][path];
    let item = path("/api/v1/namespaces/{namespace}/configmaps/{name}");
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let patch_types: Vec<&String> =
        item["patch"]["requestBody"]["content"].as_object().unwrap().keys().collect();
    // Clients make three-way patches only where they find this one.
    for name in ["application/merge-patch+json", "application/strategic-merge-patch+json"] {
        assert!(patch_types.iter().any(|known| *known == name), "{patch_types:?}");
    }
    let schema = json!({"schema": reference("core.v1.ConfigMap")});
    let types = ["application/json", "application/vnd.kubernetes.protobuf", "application/yaml"];
    let content: Value =
        types.into_iter().map(|media_type| (media_type.to_owned(), schema.clone())).collect();
    assert_eq!(item["put"]["requestBody"], json!({"content": content, "required": true}));
    assert_eq!(item["get"]["responses"]["200"]["content"], content);
    assert_eq!(item["delete"]["requestBody"].get("required"), None);
    let answers = |operation: &Value| -> Vec<String> {
        operation["responses"].as_object().unwrap().keys().cloned().collect()
    };
    let collection = path("/api/v1/namespaces/{namespace}/configmaps");
    assert_eq!(answers(&collection["post"]), ["200", "201", "202", "401"]);
    assert_eq!(answers(&item["delete"]), ["200", "202", "401"]);
    let list = &collection["get"]["responses"]["200"]["content"];
    assert_eq!(list["application/json"]["schema"], reference("core.v1.ConfigMapList"));
    assert_eq!(list["application/json;stream=watch"]["schema"], reference("core.v1.ConfigMapList"));
    assert_eq!(
        item["delete"]["responses"]["200"]["content"]["application/json"]["schema"],
        reference("meta.v1.Status")
    );
    let eviction = &path("/api/v1/namespaces/{namespace}/pods/{name}/eviction")["post"];
    assert_eq!(
        eviction["requestBody"]["content"]["application/json"]["schema"],
        reference("policy.v1.Eviction")
    );
    assert_eq!(
        eviction["x-kubernetes-group-version-kind"],
        json!({"group": "policy", "version": "v1", "kind": "Eviction"})
    );
}

/// Operations name one kind, schemas a list of kinds; tools look for exactly that.
#[tokio::test]
async fn kinds_are_marked() {
    let document = document(&KUBERNETES, "api/v1").await;
    let schemas = &document["components"]["schemas"];
    let marks = |name: &str| &schemas[name]["x-kubernetes-group-version-kind"];
    let mark =
        |group: &str, version: &str, kind: &str| json!({"group": group, "version": version, "kind": kind});
    assert_eq!(marks("core.v1.ConfigMap"), &json!([mark("", "v1", "ConfigMap")]));
    assert_eq!(marks("core.v1.ConfigMapList"), &json!([mark("", "v1", "ConfigMapList")]));
    assert_eq!(marks("meta.v1.Status"), &json!([mark("", "v1", "Status")]));
    assert_eq!(marks("policy.v1.Eviction"), &json!([mark("policy", "v1", "Eviction")]));
    assert_eq!(
        marks("meta.v1.DeleteOptions"),
        &json!([
            mark("", "v1", "DeleteOptions"),
            mark("apps", "v1", "DeleteOptions"),
            mark("authorization.k8s.io", "v1", "DeleteOptions"),
            mark("things.example.com", "v1", "DeleteOptions"),
            mark("things.example.com", "v1beta1", "DeleteOptions"),
        ])
    );
    assert_eq!(marks("meta.v1.ObjectMeta"), &Value::Null);
    for name in ["meta.v1.Status", "meta.v1.DeleteOptions", "policy.v1.Eviction"] {
        assert_eq!(schemas[name]["properties"]["kind"]["type"], "string", "{name}");
    }
    let item = &document["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"];
    for method in ["get", "put", "patch", "delete"] {
        assert_eq!(item[method]["x-kubernetes-group-version-kind"], mark("", "v1", "ConfigMap"), "{method}");
    }
}

#[tokio::test]
async fn schemas_are_those_that_are_reached() {
    let openapi = openapi(&KUBERNETES);
    assert_closed(&openapi).await;
    let core = ask(&openapi, "/openapi/v3/api/v1", &[]).await.unwrap();
    assert!(!core.text.contains("meta.v1.Unused"));
}

/// Every document of the product can be built, in the words of either vocabulary.
#[tokio::test]
async fn the_products_schemas_fit_together() {
    for vocabulary in [&ORCH, &KUBERNETES] {
        let openapi = OpenApi::new(Arc::new(product(vocabulary)), media_types());
        assert_closed(&openapi).await;
        for entry in &openapi.entries {
            let document = ask(&openapi, &format!("/openapi/v3/{}", entry.key), &[]).await.unwrap().json();
            let ids = operations(&document).len();
            let unique: BTreeSet<String> = operations(&document)
                .iter()
                .map(|line| line.split(' ').nth(2).unwrap_or_default().to_owned())
                .collect();
            assert_eq!(unique.len(), ids, "{}: operation ids are unique", entry.key);
        }
    }
}

/// Each document has the schemas that it refers to, and no others.
async fn assert_closed(openapi: &OpenApi) {
    for entry in &openapi.entries {
        let document = ask(openapi, &format!("/openapi/v3/{}", entry.key), &[]).await.unwrap();
        assert_eq!(document.status, 200, "{}", entry.key);
        let text = &document.text;
        let document = document.json();
        let present: BTreeSet<&str> =
            document["components"]["schemas"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut referred: BTreeSet<&str> = BTreeSet::new();
        for part in text.split("\"#/components/schemas/").skip(1) {
            referred.insert(part.split('"').next().unwrap());
        }
        assert_eq!(present, referred, "{}", entry.key);
    }
}

#[tokio::test]
async fn names_are_in_the_words_of_the_vocabulary() {
    for (vocabulary, group) in [(&ORCH, "authorization.orch.io"), (&KUBERNETES, "authorization.k8s.io")] {
        let document = document(vocabulary, &format!("apis/{group}/v1")).await;
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let name = format!("{group}.v1.Spec");
        assert_eq!(
            schemas[&name]["properties"]["inner"]["$ref"],
            format!("#/components/schemas/{group}.v1.Spec")
        );
        assert_eq!(
            schemas[&format!("{group}.v1.SelfSubjectAccessReview")]["x-kubernetes-group-version-kind"],
            json!([{"group": group, "version": "v1", "kind": "SelfSubjectAccessReview"}])
        );
        let path = format!("/apis/{group}/v1/selfsubjectaccessreviews");
        assert_eq!(document["paths"][path]["post"]["tags"], json!(["authorization_v1"]));
    }
}

#[tokio::test]
async fn a_reference_that_leads_nowhere_is_the_servers_fault() {
    static BROKEN: orch_runtime::resource_def::GroupVersionDef =
        orch_runtime::resource_def::GroupVersionDef {
            group: "",
            version: "v1",
            resources: &[&orch_test_catalog::CONFIG_MAPS],
            feature_gates: &[],
            schemas: "{}",
        };
    let openapi = OpenApi::new(Arc::new(Catalog::new(&ORCH, [&BROKEN])), media_types());
    for path in ["/openapi/v3", "/openapi/v3/api/v1"] {
        let answer = ask(&openapi, path, &[]).await.unwrap();
        assert_eq!(answer.status, 500);
        assert!(!answer.text.contains("core.v1"), "{}", answer.text);
    }
}
