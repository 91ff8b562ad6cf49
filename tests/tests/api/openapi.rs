//! The published OpenAPI documents: of v3 an index of hashed addresses, complete and consistent documents;
//! the document of v2.

use http::Method;
use orch_tests::TestServer;
use serde_json::Value;

#[tokio::test]
async fn documents_are_found_through_the_index_and_may_be_kept() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let index = admin.get("/openapi/v3").await.expect(200);
    let paths = index["paths"].as_object().unwrap();
    assert!(paths.contains_key("api/v1") && paths.contains_key("apis/coordination.orch.io/v1"), "{paths:?}");
    for (key, entry) in paths {
        let address = entry["serverRelativeURL"].as_str().unwrap();
        assert!(address.contains("hash="), "{address}");
        let hashed = admin.get(address).await;
        hashed.expect(200);
        assert!(hashed.header("cache-control").contains("immutable"), "{key}: {:?}", hashed.headers);
        let plain = admin.get(&format!("/openapi/v3/{key}")).await;
        assert_eq!(plain.body, hashed.body);
        let tag = plain.header("etag");
        let again = admin
            .request(Method::GET, &format!("/openapi/v3/{key}"))
            .header("if-none-match", tag)
            .send()
            .await;
        assert_eq!(again.status, 304, "{key}");
        let stale = admin.get(&format!("/openapi/v3/{key}?hash=old")).await;
        assert_eq!(stale.status, 301, "{key}: a client with an old address is sent to the new one");
        assert_eq!(stale.header("location"), address);
    }
}

#[tokio::test]
async fn documents_describe_every_kind_and_refer_to_nothing_else() {
    for vocabulary in ["orch", "kubernetes"] {
        let server = TestServer::options().vocabulary(vocabulary).start().await;
        let admin = server.admin();
        let index = admin.get("/openapi/v3").await.expect(200);
        for key in index["paths"].as_object().unwrap().keys().filter(|key| key.matches('/').count() > 0) {
            let document = admin.get(&format!("/openapi/v3/{key}")).await.expect(200);
            assert!(document["openapi"].as_str().unwrap().starts_with("3.0"), "{key}");
            let schemas = document["components"]["schemas"].as_object().unwrap();
            let mut references = Vec::new();
            collect_references(&document, &mut references);
            for reference in references {
                let name = reference.strip_prefix("#/components/schemas/").expect("a reference to a schema");
                assert!(schemas.contains_key(name), "{key}: {reference} leads nowhere");
            }
            let discovered = admin.get(&format!("/{key}")).await.expect(200);
            for resource in discovered["resources"].as_array().into_iter().flatten() {
                let kind = &resource["kind"];
                let described = schemas.values().any(|schema| {
                    let kinds = schema["x-kubernetes-group-version-kind"].as_array();
                    kinds.is_some_and(|kinds| kinds.iter().any(|known| known["kind"] == *kind))
                });
                assert!(described, "{key} does not describe {kind}");
            }
        }
    }
}

const V2: &str = "/openapi/v2";

#[tokio::test]
async fn the_document_of_v2_says_what_those_of_v3_say() {
    for (vocabulary, group) in [("orch", "coordination.orch.io"), ("kubernetes", "coordination.k8s.io")] {
        let server = TestServer::options().vocabulary(vocabulary).start().await;
        let admin = server.admin();
        let answer = admin.get(V2).await;
        let document = answer.expect(200);
        assert_eq!(
            (&document["swagger"], answer.header("content-type")),
            (&"2.0".into(), "application/json")
        );
        let definitions = document["definitions"].as_object().unwrap();
        let mut references = Vec::new();
        collect_references(&document, &mut references);
        for reference in references {
            let name = reference.strip_prefix("#/definitions/").expect("a reference to a definition");
            assert!(definitions.contains_key(name), "{reference} leads nowhere");
        }
        let lease = &definitions[&format!("{group}.v1.Lease")];
        let kind = serde_json::json!([{"group": group, "version": "v1", "kind": "Lease"}]);
        assert_eq!(lease["x-kubernetes-group-version-kind"], kind);
        let containers = &definitions["core.v1.PodSpec"]["properties"]["containers"];
        assert_eq!(containers["x-kubernetes-patch-strategy"], "merge");
        assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
        assert_eq!(containers["x-kubernetes-list-type"], "map");

        let core = admin.get("/openapi/v3/api/v1").await.expect(200);
        let schemas = &core["components"]["schemas"];
        for (name, place) in [
            ("core.v1.ServiceSpec", "/x-orch-rules"),
            ("core.v1.PodSpec", "/x-orch-rules"),
            ("core.v1.ConfigMap", "/properties/data/x-kubernetes-validations"),
        ] {
            let said = schemas[name].pointer(place).unwrap_or_else(|| panic!("{name} has no {place}"));
            assert!(said.is_array(), "{name}: {said}");
            assert_eq!(definitions[name].pointer(place), Some(said), "{name}");
        }

        let index = admin.get("/openapi/v3").await.expect(200);
        let mut paths = 0;
        for key in index["paths"].as_object().unwrap().keys() {
            let v3 = admin.get(&format!("/openapi/v3/{key}")).await.expect(200);
            for (path, item) in v3["paths"].as_object().unwrap() {
                paths += 1;
                let of_v2 =
                    document["paths"][path].as_object().unwrap_or_else(|| panic!("{path} is missing"));
                assert_eq!(
                    of_v2.keys().collect::<Vec<_>>(),
                    item.as_object().unwrap().keys().collect::<Vec<_>>()
                );
                let Some(patch) = of_v2.get("patch") else { continue };
                assert_eq!(
                    patch["x-kubernetes-group-version-kind"],
                    item["patch"]["x-kubernetes-group-version-kind"]
                );
                let parameters = patch["parameters"].as_array().unwrap();
                assert!(parameters.iter().any(|parameter| parameter["name"] == "fieldValidation"), "{path}");
                assert!(parameters.iter().any(|parameter| parameter["in"] == "body"), "{path}");
                let consumed = patch["consumes"].as_array().unwrap();
                assert!(consumed.contains(&"application/strategic-merge-patch+json".into()), "{path}");
            }
        }
        assert_eq!(document["paths"].as_object().unwrap().len(), paths);
    }
}

#[tokio::test]
async fn the_document_of_v2_is_there_in_protobuf() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let get = |accept: &str| admin.request(Method::GET, V2).header("accept", accept).send();
    let name = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    let other_name = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let first = get(name).await;
    for accept in [name.to_owned(), other_name.to_owned(), format!("text/plain,{other_name}")] {
        let answer = get(&accept).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, name), "{accept}");
        // Field 1 of the document: the version of its language.
        assert!(answer.body.starts_with(b"\x0a\x032.0"), "{:?}", answer.body.get(..20));
        assert_eq!(answer.body, first.body);
    }
    let again = admin.request(Method::GET, V2).header("accept", name);
    assert_eq!(again.header("if-none-match", first.header("etag")).send().await.status, 304);
    let modified = first.header("last-modified");
    assert!(modified.ends_with(" GMT"), "{modified}");
    for (time, status) in [(modified, 304), ("Fri, 20 Nov 1998 15:14:44 GMT", 200)] {
        let again = admin.request(Method::GET, V2).header("accept", name);
        let answer = again.header("if-modified-since", time).send().await;
        assert_eq!((answer.status, answer.header("last-modified")), (status, modified), "{time}");
    }
    for accept in ["*/*", "application/json", "application/json;q=0.9,text/plain"] {
        assert_eq!(get(accept).await.header("content-type"), "application/json", "{accept}");
    }
    get("text/plain").await.refused(406, "NotAcceptable");
}

fn collect_references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                found.push(reference);
            }
            fields.values().for_each(|value| collect_references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        _ => {}
    }
}

/// The published schema of this name.
fn named<'v>(schemas: &'v Value, name: &str) -> &'v Value {
    let mut found =
        schemas.as_object().unwrap().iter().filter(|(key, _)| key.rsplit('.').next() == Some(name));
    found.next().unwrap_or_else(|| panic!("{name} is not published")).1
}

/// Generators of clients make fields that are not optional of what is required.
#[tokio::test]
async fn what_clients_have_to_give_is_required_and_nothing_else() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let [apps, core] = ["/openapi/v3/apis/apps/v1", "/openapi/v3/api/v1"];
    let (apps, core) = (admin.get(apps).await.expect(200), admin.get(core).await.expect(200));
    let second = admin.get("/openapi/v2").await.expect(200);
    let second = &second["definitions"];
    let (apps, core) = (&apps["components"]["schemas"], &core["components"]["schemas"]);
    let of_set: (&[_], &[_]) = (&["selector", "template"], &["updateStrategy", "minReadySeconds"]);
    for (schemas, name, (required, optional)) in [
        (apps, "DaemonSetSpec", of_set),
        (second, "DaemonSetSpec", of_set),
        // What is always written need not be sent, and these texts of an event only with `eventTime`.
        (core, "NodeStatus", (&[], &["nodeInfo", "daemonEndpoints"])),
        (core, "Event", (&["involvedObject"], &["reportingComponent", "reportingInstance"])),
    ] {
        let schema = named(schemas, name);
        let is_required = |field: &str| {
            schema["required"].as_array().is_some_and(|names| names.iter().any(|name| name == field))
        };
        assert!(required.iter().all(|field| is_required(field)), "{name}: {schema}");
        assert!(!optional.iter().any(|field| is_required(field)), "{name}: {schema}");
    }
}

/// Clients show the names of these types, and generators make one type of each.
#[tokio::test]
async fn values_in_two_forms_have_a_type_of_their_own() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let core = admin.get("/openapi/v3/api/v1").await.expect(200);
    let core = &core["components"]["schemas"];
    let limits = &named(core, "ResourceRequirements")["properties"]["limits"]["additionalProperties"];
    assert_eq!(limits["$ref"], "#/components/schemas/meta.v1.Quantity");
    assert_eq!(named(core, "Quantity")["oneOf"][0]["type"], "string");
    let port = &named(core, "ServicePort")["properties"]["targetPort"];
    assert_eq!(port["allOf"][0]["$ref"], "#/components/schemas/meta.v1.IntOrString");
    assert_eq!(named(core, "IntOrString")["x-kubernetes-int-or-string"], true);
    let second = admin.get("/openapi/v2").await.expect(200);
    let second = &second["definitions"];
    let (quantity, either) = (named(second, "Quantity"), named(second, "IntOrString"));
    assert_eq!((&quantity["type"], &either["type"]), (&"string".into(), &"string".into()));
    assert_eq!(either["format"], "int-or-string");
}
