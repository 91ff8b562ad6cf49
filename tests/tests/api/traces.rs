//! Traces: the spans of a request reach the collector, and the context reaches the servers that are called.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map},
    server::ServerOptions,
};
use serde_json::Value;

use crate::{
    grpc_collector::{Collector, Field, Fields, fields},
    remote::{Remote, Reply, Seen, Site},
    token_webhook::{judge, kubeconfig},
};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector that takes everything.
fn collect(_: &Seen) -> Reply {
    Reply::Answer(200, "{}".to_owned())
}

/// A server whose spans go to the site.
fn traced(site: &Site, folder: &Path, per_million: u32) -> ServerOptions {
    let file = folder.join("tracing.yaml");
    let endpoint = site.url().replace("https://", "http://");
    to_endpoint(&endpoint, &file, per_million)
}

/// A server whose spans go to an endpoint.
fn to_endpoint(endpoint: &str, file: &Path, per_million: u32) -> ServerOptions {
    let text = format!(
        "apiVersion: apiserver.config.orch.io/v1beta1\nkind: TracingConfiguration\n\
         endpoint: {endpoint}\nsamplingRatePerMillion: {per_million}\n"
    );
    std::fs::write(file, text).unwrap();
    TestServer::options().flag(format!("--tracing-config-file={}", file.display()))
}

/// The file of the reference names a host and a port, which take gRPC. A call that fails for now is tried
/// again.
#[tokio::test]
async fn spans_reach_a_collector_by_grpc() {
    const UNAVAILABLE: u16 = 14;
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start(&[UNAVAILABLE, 0]).await;
    let endpoint = format!("localhost:{}", collector.address.port());
    let server = to_endpoint(&endpoint, &folder.path().join("tracing.yaml"), 0).start().await;
    let admin = server.admin();
    let request = admin.request(http::Method::GET, &format!("{CONFIG_MAPS}/a"));
    let request = request.header("traceparent", &format!("00-{TRACE}-{PARENT}-01"));
    request.header("tracestate", "a=b").header("audit-id", "my-id").send().await.expect(404);
    admin.get(CONFIG_MAPS).await.expect(200);
    let start = Instant::now();
    while collector.calls() < 2 {
        assert!(start.elapsed() < Duration::from_mins(1), "the collector is called {}", collector.calls());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let spans = collector.spans();
    let text = |span: &Fields, field: u64| span[&field][0].text().to_owned();
    let name = "GET /api/v1/namespaces/{:namespace}/configmaps/{:name}";
    let root = spans.iter().find(|span| text(span, 5) == name).unwrap();
    let id = |text: &str| u128::from_str_radix(text, 16).unwrap();
    assert_eq!(root[&1][0].bytes()[..], id(TRACE).to_be_bytes());
    assert_eq!(root[&4][0].bytes()[..], id(PARENT).to_be_bytes()[8..]);
    assert_eq!((text(root, 3), root[&6][0].number()), ("a=b".to_owned(), 2));
    let (began, ended) = (root[&7][0].number(), root[&8][0].number());
    assert!(began < ended && began > 1_700_000_000_000_000_000, "{began} {ended}");
    let attributes: Vec<(String, Fields)> = root[&9]
        .iter()
        .map(|pair| {
            let pair = fields(pair.bytes());
            (text(&pair, 1), fields(pair[&2][0].bytes()))
        })
        .collect();
    let attribute = |name: &str| &attributes.iter().find(|(key, _)| key == name).unwrap().1;
    assert_eq!(attribute("http.response.status_code")[&3], [Field::Number(404)]);
    assert_eq!(text(attribute("audit-id"), 1), "my-id");
    let parts = spans.iter().filter(|span| span.get(&4).is_some_and(|parent| *parent == root[&2]));
    let mut names: Vec<String> = parts.map(|span| text(span, 5)).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["apf-queue-wait", "authentication", "authorization", "handler"]);
}

/// All spans that the collector got.
fn spans(collector: &Remote) -> Vec<Value> {
    let messages = collector.seen().into_iter().map(|seen| {
        assert_eq!(seen.path, "/v1/traces");
        serde_json::from_str::<Value>(&seen.body).unwrap()
    });
    let spans = |message: Value| message["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().cloned();
    messages.flat_map(|message| spans(message).unwrap()).collect()
}

fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let found = spans.iter().find(|span| span["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {spans:#?}"))
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let attributes = span["attributes"].as_array().unwrap();
    &attributes.iter().find(|attribute| attribute["key"] == key).unwrap()["value"]
}

fn nanos(span: &Value, field: &str) -> u128 {
    span[field].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn spans_of_a_request_reach_the_collector() {
    let folder = tempfile::tempdir().unwrap();
    let (collector_site, webhook_site) = (Site::new().await, Site::new().await);
    let (collector, webhook) = (collector_site.start_plain(collect).await, webhook_site.start(judge).await);
    let webhook_file = kubeconfig(&webhook_site, folder.path());
    let mut server = traced(&collector_site, folder.path(), 0)
        .flag(format!("--authentication-token-webhook-config-file={}", webhook_file.display()))
        .start()
        .await;
    let caller = server.without_credentials().with_token("hook-bob");
    let request = caller.request(http::Method::GET, &format!("{CONFIG_MAPS}/a?secret=1"));
    let request = request.header("traceparent", &format!("00-{TRACE}-{PARENT}-01"));
    request.header("audit-id", "my-id").send().await.expect(403);
    // Nobody asked for the trace of this one.
    caller.get(CONFIG_MAPS).await.expect(403);
    server.stop().await;

    let spans = spans(&collector);
    let root = named(&spans, "GET /api/v1/namespaces/{:namespace}/configmaps/{:name}");
    assert_eq!((&root["traceId"], &root["parentSpanId"]), (&TRACE.into(), &PARENT.into()));
    assert_eq!(root["kind"], 2);
    assert_eq!(attribute(root, "http.response.status_code")["intValue"], "403");
    assert_eq!(attribute(root, "url.path")["stringValue"], format!("{CONFIG_MAPS}/a"));
    assert_eq!(attribute(root, "audit-id")["stringValue"], "my-id");
    let mut names: Vec<&str> = Vec::new();
    for part in spans.iter().filter(|span| *span != root) {
        assert_eq!((&part["traceId"], &part["parentSpanId"]), (&root["traceId"], &root["spanId"]));
        for (field, other) in
            [("startTimeUnixNano", "endTimeUnixNano"), ("endTimeUnixNano", "startTimeUnixNano")]
        {
            let within = nanos(root, field).abs_diff(nanos(part, field));
            let length = nanos(root, field).abs_diff(nanos(root, other));
            assert!(within <= length + 1_000_000, "{part} is not within {root}");
        }
        names.push(part["name"].as_str().unwrap());
    }
    names.sort_unstable();
    assert_eq!(names, ["apf-queue-wait", "authentication", "authorization", "call", "handler"]);
    // The webhook was asked once, because the second request found the answer, and knows the call's span.
    let [asked] = &webhook.seen()[..] else { panic!("{:?}", webhook.seen()) };
    let call = named(&spans, "call")["spanId"].as_str().unwrap().to_owned();
    assert_eq!(asked.traceparent, format!("00-{TRACE}-{call}-01"));
}

#[tokio::test]
async fn a_large_write_has_its_trace_too() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::new().await;
    let collector = site.start_plain(collect).await;
    let mut server = traced(&site, folder.path(), 1_000_000).start().await;
    let large = config_map("large", &"x".repeat(100_000));
    server.admin().post(CONFIG_MAPS, &large).await.expect(201);
    server.stop().await;
    let spans = spans(&collector);
    let root = named(&spans, "POST /api/v1/namespaces/{:namespace}/configmaps");
    let parts = spans.iter().filter(|span| span["parentSpanId"] == root["spanId"]);
    let names: Vec<&str> = parts.map(|span| span["name"].as_str().unwrap()).collect();
    let expected = ["authentication", "apf-queue-wait", "authorization", "read-request-body", "handler"];
    assert_eq!(names, expected);
}

#[tokio::test]
async fn without_a_collector_requests_are_answered_and_spans_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::new().await;
    let server = traced(&site, folder.path(), 1_000_000).start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let start = Instant::now();
    loop {
        let metrics = admin.get("/metrics").await.text();
        let line = metrics.lines().find(|line| line.starts_with("apiserver_tracing_lost_spans_total "));
        if !line.unwrap().ends_with(" 0") {
            break;
        }
        assert!(start.elapsed() < Duration::from_mins(1), "no span is lost");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(server.log().contains("traces cannot be delivered"), "{}", server.log());
}

#[tokio::test]
async fn a_wrong_file_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tracing.yaml");
    let text =
        "apiVersion: apiserver.config.orch.io/v1beta1\nkind: TracingConfiguration\nendpoint: collector\n";
    std::fs::write(&file, text).unwrap();
    let flag = format!("--tracing-config-file={}", file.display());
    let (code, told) = TestServer::refusal(&[flag]).await;
    assert_eq!(code, Some(2), "{told}");
    assert!(
        told.contains("tracing.yaml:3:11: endpoint: \"collector\" is not of the form host:port"),
        "{told}"
    );
}
