//! What a right in one place does not reach: attacks with paths that could be read in two ways.

use http::Method;
use orch_tests::{Client, TestServer, objects::SECRETS};
use serde_json::{Value, json};

use crate::discovery::legacy_resources;

const RBAC: &str = "/apis/rbac.authorization.orch.io/v1";

/// Gives a user all rights in the namespace `default`, and those to `paths`.
async fn master_of_default(admin: &Client, user: &str, paths: &Value) {
    let subjects = json!([{"kind": "User", "name": user}]);
    let all = json!({"kind": "ClusterRole", "name": "cluster-admin"});
    let binding = json!({"metadata": {"name": user}, "subjects": subjects, "roleRef": all});
    admin.post(&format!("{RBAC}/namespaces/default/rolebindings"), &binding).await.expect(201);
    let rules = json!([{"nonResourceURLs": paths, "verbs": ["get"]}]);
    admin
        .post(&format!("{RBAC}/clusterroles"), &json!({"metadata": {"name": user}, "rules": rules}))
        .await
        .expect(201);
    let own = json!({"kind": "ClusterRole", "name": user});
    let binding = json!({"metadata": {"name": user}, "subjects": subjects, "roleRef": own});
    admin.post(&format!("{RBAC}/clusterrolebindings"), &binding).await.expect(201);
}

/// All rights in a namespace are none to what is in no namespace (CVE-2019-11247).
#[tokio::test]
async fn a_kind_without_namespaces_has_no_path_below_one() {
    let server = TestServer::start().await;
    let (admin, bob) = (server.admin(), server.user("bob"));
    master_of_default(&admin, "bob", &json!(["/nothing"])).await;
    let node = json!({"metadata": {"name": "n"}});
    admin.post("/api/v1/nodes", &node).await.expect(201);
    let before = admin.get("/api/v1/nodes/n").await.expect(200);
    let mut covered = 0;
    for resource in legacy_resources(&admin).await.iter().filter(|resource| !resource.namespaced) {
        let (root, plural) =
            resource.collection().rsplit_once('/').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        if resource.name.starts_with("namespaces") {
            continue;
        }
        for (method, below) in [
            (Method::GET, plural.clone()),
            (Method::POST, plural.clone()),
            (Method::DELETE, plural.clone()),
            (Method::GET, format!("{plural}/n")),
            (Method::PUT, format!("{plural}/n")),
            (Method::PATCH, format!("{plural}/n")),
            (Method::DELETE, format!("{plural}/n")),
        ] {
            let path = format!("{root}/namespaces/default/{below}");
            for client in [&bob, &admin] {
                let request = client.request(method.clone(), &path).json(&json!({"metadata": {"name": "n"}}));
                let answer = request.send().await;
                assert_eq!(answer.status, 404, "{method} {path}: {answer:?}");
            }
            covered += 1;
        }
    }
    assert!(covered > 50, "{covered}");
    assert_eq!(admin.get("/api/v1/nodes/n").await.expect(200), before);
}

/// What is allowed is what is answered, however a path is written (NCC HFV, CVE-2022-3162).
#[tokio::test]
async fn a_path_that_is_written_in_another_way_reaches_nothing_else() {
    let server = TestServer::start().await;
    let (admin, bob) = (server.admin(), server.user("bob"));
    master_of_default(&admin, "bob", &json!(["/livez/*", "/healthz/*"])).await;
    let secret = json!({"metadata": {"name": "other"}, "stringData": {"k": "content-of-another"}});
    let namespace = json!({"metadata": {"name": "other"}});
    admin.post("/api/v1/namespaces", &namespace).await.expect(201);
    admin.post("/api/v1/namespaces/other/secrets", &secret).await.expect(201);
    bob.get(SECRETS).await.expect(200);
    assert_eq!(bob.get("/livez/ping").await.status, 200);
    for path in [
        // From a namespace with rights into one without.
        "/api/v1/namespaces/default/../other/secrets",
        "/api/v1/namespaces/default/..%2fother/secrets",
        "/api/v1/namespaces/default%2f..%2fother/secrets",
        "/api/v1/namespaces/default/%2e%2e/other/secrets",
        "/api/v1/namespaces/default/secrets/../../other/secrets/other",
        "/api/v1/namespaces/default/secrets/..%2f..%2fother%2fsecrets%2fother",
        "/api/v1/namespaces/default/secrets/other/../../../other/secrets/other",
        "/api/v1/namespaces/default//secrets/other",
        "/api/v1/namespaces//other/secrets",
        "/api/v1//namespaces/other/secrets",
        "//api/v1/namespaces/other/secrets",
        "/api/v1/namespaces/default;other/secrets",
        "/api/v1/namespaces/%6fther/secrets",
        "/api/v1/namespaces/default/secrets%00/../../other/secrets",
        "/api/v1/namespaces/default/secrets\\..\\..\\other\\secrets",
        "/api/v1/namespaces/..",
        "/api/v1/namespaces/%2e%2e/secrets",
        "/api/v1/namespaces/*/secrets",
        // From one kind to another, whose stored name begins alike.
        "/api/v1/namespaces/default/configmaps/..%2fsecrets",
        "/apis/apps/v1/namespaces/other/..%2f..%2f..%2f..%2fapi%2fv1%2fsecrets",
        // From probes to what else is no resource.
        "/livez/../metrics",
        "/livez/..%2fmetrics",
        "/livez/%2e%2e/metrics",
        "/livez%2f..%2fmetrics",
        "/livez/./../metrics",
        "/livez//../metrics",
        "//metrics",
        "/%6detrics",
        "/metrics/",
        "/livez/../api/v1/namespaces/other/secrets",
        "/healthz/..%2fapi/v1/secrets",
    ] {
        let answer = bob.request(Method::GET, path).try_send().await;
        let Ok(answer) = answer else { continue };
        assert!(matches!(answer.status, 400 | 403 | 404), "{path}: {answer:?}");
        for content in ["content-of-another", "apiserver_request_total", "Y29udGVudC1v"] {
            assert!(!answer.text().contains(content), "{path}: {answer:?}");
        }
    }
}
