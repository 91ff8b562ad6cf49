//! A server in this process does what one behind an address does.

#![allow(clippy::needless_pass_by_value, reason = "values are made where they are passed")]

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use orch_config::Config;
use orch_test_catalog::{KUBERNETES, ORCH};
use serde_json::{Value, json};
use tower_service::Service;

use super::{InProcess, InProcessService};
use crate::Server;

async fn start(vocabulary: &str) -> InProcess {
    let config = Config::from_flags([format!("--vocabulary={vocabulary}")], &[&ORCH, &KUBERNETES]).unwrap();
    Server::builder(config).resources(orch_api::registry().iter().copied()).in_process().await.unwrap()
}

async fn ask(service: &mut InProcessService, method: Method, path: &str, body: Value) -> (StatusCode, Value) {
    let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let answer = service.call(request.body(Full::new(body)).unwrap()).await.unwrap();
    let status = answer.status();
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&text).unwrap_or(Value::Null))
}

/// Asks until the answer is a 404.
async fn gone(service: &mut InProcessService, path: &str) {
    let asked = async {
        while ask(service, Method::GET, path, Value::Null).await.0 != StatusCode::NOT_FOUND {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), asked).await.unwrap_or_else(|_| panic!("{path} stays"));
}

#[tokio::test]
async fn its_controllers_collect_garbage_and_empty_namespaces() {
    const NAMESPACE: &str = "/api/v1/namespaces/a";
    const MAPS: &str = "/api/v1/namespaces/a/configmaps";
    for vocabulary in ["orch", "kubernetes"] {
        let began = Instant::now();
        let plane = start(vocabulary).await;
        let ready = began.elapsed();
        let mut admin = plane.service();
        let namespace = json!({"metadata": {"name": "a"}});
        assert_eq!(
            ask(&mut admin, Method::POST, "/api/v1/namespaces", namespace).await.0,
            StatusCode::CREATED
        );
        let owner = ask(&mut admin, Method::POST, MAPS, json!({"metadata": {"name": "owner"}})).await.1;
        let uid = &owner["metadata"]["uid"];
        let reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid});
        for (name, owners) in [("owned", json!([reference])), ("free", json!([]))] {
            let map = json!({"metadata": {"name": name, "ownerReferences": owners}});
            assert_eq!(ask(&mut admin, Method::POST, MAPS, map).await.0, StatusCode::CREATED);
        }
        ask(&mut admin, Method::DELETE, &format!("{MAPS}/owner"), Value::Null).await;
        let began = Instant::now();
        gone(&mut admin, &format!("{MAPS}/owned")).await;
        let collected = began.elapsed();
        let free = ask(&mut admin, Method::GET, &format!("{MAPS}/free"), Value::Null).await;
        assert_eq!(free.0, StatusCode::OK);
        ask(&mut admin, Method::DELETE, NAMESPACE, Value::Null).await;
        let began = Instant::now();
        gone(&mut admin, NAMESPACE).await;
        let emptied = began.elapsed();
        println!(
            "{vocabulary}: ready in {ready:?}, garbage collected in {collected:?}, namespace gone in {emptied:?}"
        );
        // A fraction of a second on a machine with nothing else to do.
        assert!(ready < Duration::from_secs(30), "{vocabulary}: ready in {ready:?}");
        plane.stop().await.unwrap();
    }
}

/// A panic ends its request with a 500, and is recorded and counted.
#[tokio::test]
async fn a_panic_is_recorded_and_counted() {
    async fn fails() -> &'static str {
        panic!("no luck")
    }
    let folder = tempfile::tempdir().unwrap();
    let (policy, log) = (folder.path().join("policy.yaml"), folder.path().join("audit.log"));
    std::fs::write(&policy, "apiVersion: audit.orch.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
        .unwrap();
    let flags = [
        "--vocabulary=orch".to_owned(),
        format!("--audit-policy-file={}", policy.display()),
        format!("--audit-log-path={}", log.display()),
        "--audit-log-mode=blocking".to_owned(),
    ];
    let server = Server::builder(Config::from_flags(flags, &[&ORCH]).unwrap());
    let routes = axum::Router::new().route("/fails", axum::routing::get(fails));
    let plane =
        server.resources(orch_api::registry().iter().copied()).router(routes).in_process().await.unwrap();
    let mut admin = plane.service();
    let (status, answer) = ask(&mut admin, Method::GET, "/fails", Value::Null).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(!answer.to_string().contains("no luck"), "{answer}");
    let request = Request::get("/metrics").body(Full::<Bytes>::default()).unwrap();
    let metrics = admin.call(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    let metrics = String::from_utf8(metrics.to_vec()).unwrap();
    assert!(metrics.lines().any(|line| line.starts_with("apiserver_request_aborts_total{")), "{metrics}");
    plane.stop().await.unwrap();
    let events = std::fs::read_to_string(&log).unwrap();
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_panic: Vec<Value> =
        events.filter(|event| event["stage"] == "Panic" && event["requestURI"] == "/fails").collect();
    let [event] = &of_panic[..] else { panic!("{of_panic:?}") };
    assert_eq!(event["responseStatus"]["code"], 500);
    assert_eq!(event["responseStatus"]["message"], "APIServer panic'd: no luck");
}

#[tokio::test]
async fn watches_go_on_until_the_server_stops() {
    let plane = start("orch").await;
    let mut admin = plane.service();
    let request =
        Request::get("/api/v1/namespaces/default/configmaps?watch=true&fieldSelector=metadata.name%3Dm");
    // A pipe is handed over to nobody, so the watch has a body in any case.
    let request = request.header("connection", "upgrade").header("upgrade", "websocket");
    let mut events = admin.call(request.body(Full::<Bytes>::default()).unwrap()).await.unwrap().into_body();
    let map = json!({"metadata": {"name": "m"}});
    ask(&mut admin, Method::POST, "/api/v1/namespaces/default/configmaps", map).await;
    let first = events.frame().await.unwrap().unwrap().into_data().unwrap();
    let event: Value = serde_json::from_slice(&first).unwrap();
    assert_eq!(
        (event["type"].as_str(), event["object"]["metadata"]["name"].as_str()),
        (Some("ADDED"), Some("m"))
    );
    plane.stop().await.unwrap();
    assert!(events.frame().await.is_none_or(|frame| frame.is_err()), "the watch ends with the server");
}

#[tokio::test]
async fn other_users_have_their_own_rights() {
    let plane = start("orch").await;
    let mut bob = plane.service_as("bob", &["devs", "system:authenticated"]).unwrap();
    let (status, answer) = ask(&mut bob, Method::GET, "/api/v1/namespaces", Value::Null).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("User \"bob\" cannot list"), "{answer}");
    let review = json!({"apiVersion": "authentication.orch.io/v1", "kind": "SelfSubjectReview"});
    let path = "/apis/authentication.orch.io/v1/selfsubjectreviews";
    let (_, answer) = ask(&mut bob, Method::POST, path, review).await;
    assert_eq!(answer["status"]["userInfo"]["username"], "bob", "{answer}");
    assert!(plane.service_as("b\nb", &[]).is_err());
}

/// Many of them fit into one process, and none leaves anything behind.
#[tokio::test]
async fn they_do_not_know_of_each_other() {
    let planes = [start("orch").await, start("orch").await];
    let [mut first, mut second] = [planes[0].service(), planes[1].service()];
    let map = json!({"metadata": {"name": "m"}});
    ask(&mut first, Method::POST, "/api/v1/namespaces/default/configmaps", map).await;
    let path = "/api/v1/namespaces/default/configmaps/m";
    assert_eq!(ask(&mut first, Method::GET, path, Value::Null).await.0, StatusCode::OK);
    assert_eq!(ask(&mut second, Method::GET, path, Value::Null).await.0, StatusCode::NOT_FOUND);
    let directories = planes.each_ref().map(|plane| plane.directory().to_owned());
    assert!(directories.iter().all(|directory| directory.exists()));
    drop(planes);
    assert!(directories.iter().all(|directory| !directory.exists()));
}
