//! Paths outside the resources, and paths that lead nowhere.

use http::Method;
use orch_tests::{TestServer, client::Protocol};
use serde_json::json;

#[tokio::test]
async fn the_version_is_told() {
    let server = TestServer::start().await;
    let version = server.admin().get("/version").await.expect(200);
    for field in ["major", "minor", "gitVersion", "platform"] {
        assert!(version[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {version}");
    }
    assert!(version["gitVersion"].as_str().unwrap().starts_with('v'), "{version}");
}

#[tokio::test]
async fn the_root_lists_paths_that_answer() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let root = admin.get("/").await.expect(200);
    let paths: Vec<&str> =
        root["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert!(
        paths.contains(&"/api/v1") && paths.contains(&"/metrics") && paths.contains(&"/openapi/v3"),
        "{paths:?}"
    );
    for path in paths {
        assert_eq!(admin.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_path_that_does_not_exist_is_answered_with_a_status() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for path in ["/nothing", "/apis/none.example.com", "/apis/none.example.com/v1/things", "/livez/none"] {
        let answer = admin.get(path).await;
        assert_eq!((answer.status, answer.text().as_str()), (404, "404 page not found\n"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
    }
    for path in ["/nothing", "/nothing/", "/apis/none.example.com", "/apis/none.example.com/v1/things"] {
        let answer = admin.post(path, &json!({})).await;
        assert_eq!((answer.status, answer.text().as_str()), (404, "404 page not found\n"), "{path}");
    }
    // Paths without any method.
    for path in ["/api/v9", "/apis/apps/v9", "/api/v1/bindings", "/api/v1/namespaces/default/bindings/a"] {
        admin.post(path, &json!({})).await.refused(404, "NotFound");
    }
    for path in ["/api/v1", "/apis/apps", "/version", "/healthz"] {
        admin.post(path, &json!({})).await.refused(405, "MethodNotAllowed");
    }
    for path in [
        "/api/v1/nothings",
        "/api/v1/namespaces/default/nothings/a",
        "/api/v9/namespaces",
        "/api//v1/namespaces",
        "/api/v1/namespaces/default/configmaps/a/scale",
        "/api/v1/namespaces/default/namespaces/default",
        "/api/v1/namespaces/..%2f..%2fsecrets",
        "/api/v1/namespaces/default/configmaps/a%2fb",
    ] {
        admin.get(path).await.refused(404, "NotFound");
    }
    admin.get("/api/v1/namespaces/default/configmaps/..").await.refused(400, "BadRequest");
    for (method, path) in [
        (Method::POST, "/api/v1/configmaps"),
        (Method::DELETE, "/api/v1/configmaps"),
        (Method::PUT, "/api/v1/namespaces/default/configmaps"),
        (Method::POST, "/api/v1/namespaces/default/configmaps/a"),
        (Method::from_bytes(b"BREW").unwrap(), "/api/v1/configmaps"),
    ] {
        let answer = admin.request(method.clone(), path).send().await;
        let message = answer.refused(405, "MethodNotAllowed");
        assert_eq!(
            message, "the server does not allow this method on the requested resource",
            "{method} {path}"
        );
        assert!(
            answer.header("allow").starts_with("GET, HEAD"),
            "{method} {path}: {}",
            answer.header("allow")
        );
    }
}

/// The router of the documents tells how long an answer is before a Status gets another form.
#[tokio::test]
async fn a_path_that_does_not_exist_is_answered_in_every_form() {
    let server = TestServer::start().await;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let client = server.administrator_over(protocol);
        for path in ["/api/v9", "/apis/apps/v9", "/version"] {
            let ask = |name: &str, value: &str| {
                let method = if path == "/version" { Method::POST } else { Method::GET };
                client.request(method, path).header(name, value)
            };
            let code = if path == "/version" { 405 } else { 404 };
            let yaml = ask("accept", "application/yaml").send().await;
            assert_eq!((yaml.status, yaml.header("content-type")), (code, "application/yaml"), "{path}");
            assert!(yaml.text().contains(&format!("code: {code}\n")), "{path}: {}", yaml.text());
            let binary = ask("accept", "application/vnd.orch.protobuf").send().await;
            let media_type = "application/vnd.orch.protobuf";
            assert_eq!((binary.status, binary.header("content-type")), (code, media_type), "{path}");
            let indented = ask("user-agent", "curl/8.0").send().await;
            assert!(indented.text().starts_with("{\n"), "{path}: {}", indented.text());
            assert_eq!(indented.json()["code"], code, "{path}");
        }
    }
    let known = "application/json, application/yaml, application/vnd.orch.protobuf";
    let admin = server.admin();
    let ask = |accept| admin.request(Method::GET, "/api/v1").header("accept", accept);
    let message = ask("text/html").send().await.refused(406, "NotAcceptable");
    assert_eq!(message, format!("406: Not Acceptable\n\nAvailable representations: {known}"));
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let message = ask(table).send().await.refused(406, "NotAcceptable");
    assert_eq!(message, format!("only the following media types are accepted: {known}"));
}

#[tokio::test]
async fn the_process_shows_itself_to_those_who_may_see_it() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for (path, part) in [
        ("", "goroutine"),
        ("/", "perf record"),
        ("/cmdline", "--data-dir"),
        ("/goroutine", "worker 0: busy for"),
        ("/heap", "VmRSS:"),
        ("/threads", " system\n"),
    ] {
        let answer = admin.get(&format!("/debug/pprof{path}")).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "text/plain; charset=utf-8"));
        assert!(answer.text().contains(part), "{path}: {}", answer.text());
    }
    assert_eq!(admin.get("/debug/pprof/profile").await.status, 404);
    admin.post("/debug/pprof/heap", &json!({})).await.refused(405, "MethodNotAllowed");
    server.user("bob").get("/debug/pprof/heap").await.refused(403, "Forbidden");
    server.without_credentials().get("/debug/pprof/").await.refused(403, "Forbidden");

    let server = TestServer::options().flag("--profiling=false").start().await;
    for path in ["", "/", "/heap"] {
        assert_eq!(server.admin().get(&format!("/debug/pprof{path}")).await.status, 404, "{path}");
    }
}
