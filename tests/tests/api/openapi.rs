//! The published OpenAPI v3 documents: an index of hashed addresses, complete and consistent documents.

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
