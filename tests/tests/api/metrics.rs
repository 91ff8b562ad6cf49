//! Metrics: requests are counted by route; no text that a client chose becomes a label.

use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map, version},
};
use serde_json::json;

#[tokio::test]
async fn requests_are_counted_by_route() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for name in ["a", "b", "c"] {
        admin.post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
    }
    let apply = admin.request(http::Method::PATCH, &format!("{CONFIG_MAPS}/d?fieldManager=m"));
    let configuration = config_map("d", "1").to_string();
    apply.body("application/apply-patch+yaml", configuration).send().await.expect(201);
    admin.get(&format!("{CONFIG_MAPS}/none")).await.refused(404, "NotFound");
    let text = admin.get("/metrics").await.text();
    for (verb, count) in [("POST", " 3"), ("APPLY", " 1")] {
        let verb = format!("verb=\"{verb}\"");
        let counted = text
            .lines()
            .find(|line| {
                line.starts_with("apiserver_request_total{")
                    && [r#"code="201""#, r#"resource="configmaps""#, &verb]
                        .iter()
                        .all(|part| line.contains(part))
            })
            .unwrap_or_else(|| panic!("no count of {verb}:\n{text}"));
        assert!(counted.ends_with(count), "{counted}");
    }
    assert!(text.contains("apiserver_request_duration_seconds_bucket{"), "{text}");
}

#[tokio::test]
async fn made_up_paths_and_methods_make_no_series() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let series =
        async || admin.get("/metrics").await.text().lines().filter(|line| !line.starts_with('#')).count();
    let made_up = async |number: usize| {
        admin.get(&format!("/made/up/{number}")).await;
        admin.get(&format!("/api/v1/made-up-{number}")).await;
        admin.get(&format!("/apis/made-up-{number}.example.com/v1/things")).await;
        admin.get(&format!("/api/v1/namespaces/made-up-{number}/configmaps")).await;
        let method = http::Method::from_bytes(format!("MADEUP{number}").as_bytes()).unwrap();
        admin
            .request(method, "/api/v1/configmaps")
            .header("user-agent", &format!("agent-{number}"))
            .send()
            .await;
    };
    made_up(0).await;
    series().await;
    let before = series().await;
    for number in 1..20 {
        made_up(number).await;
    }
    assert_eq!(series().await, before);
}

/// History is bounded in bytes, with the encoded events of watches in all forms; where that makes it too
/// short, the metrics and the log say so.
#[tokio::test]
async fn a_history_without_room_says_so() {
    const SIZE: f64 = (16 << 20) as f64;
    const VALUE: usize = 500_000;
    const WRITES: usize = 40;
    let server = TestServer::options().flag("--history-size=16MiB").start().await;
    let admin = server.admin();
    let gauge = async |series: &str| {
        let text = admin.get("/metrics").await.text();
        let line = text.lines().find_map(|line| line.strip_prefix(series));
        line.unwrap_or_else(|| panic!("no {series}:\n{text}")).trim().parse::<f64>().unwrap()
    };
    let (states, frames) = (
        r#"apiserver_storage_history_bytes{part="states"}"#,
        r#"apiserver_storage_history_bytes{part="frames"}"#,
    );
    let object = admin.post(CONFIG_MAPS, &config_map("a", &"x".repeat(VALUE))).await.expect(201);
    assert!(gauge("apiserver_storage_history_seconds").await > 299.0);
    assert!(gauge(frames).await < 1.0);

    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&object));
    let mut plain = admin.watch(&path).await;
    let table = admin.request(http::Method::GET, &format!("{path}&includeObject=Object"));
    let table = table.header("accept", "application/json;as=Table;g=meta.k8s.io;v=v1").watch().await;
    let Ok(mut table) = table else { panic!("refused") };
    for number in 0..WRITES {
        let change = json!({"metadata": {"labels": {"number": number.to_string()}}});
        admin.merge(&format!("{CONFIG_MAPS}/a"), &change).await.expect(200);
        plain.expect("MODIFIED").await;
        table.expect("MODIFIED").await;
        if number == 0 {
            assert!(gauge(frames).await >= 2.0 * VALUE as f64, "both forms count");
            assert!(gauge(states).await >= VALUE as f64);
        }
    }
    // What the last write added may not be cleared away yet.
    let held = gauge(states).await + gauge(frames).await;
    assert!(held < SIZE + 6.0 * VALUE as f64, "{held}");
    assert!(gauge(states).await > SIZE / 2.0, "most of it is history");
    assert!(gauge("apiserver_storage_history_seconds").await < 300.0);
    assert!(gauge("apiserver_storage_history_forgotten_early_total").await > 0.0);
    assert!(server.log().contains("history is shorter than its retention time"), "{}", server.log());
}

/// Whatever a request did, it is seen: how large its answer was, what the store did, who asked.
#[tokio::test]
async fn the_work_of_requests_is_measured() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1")).await;
    let path = format!("{CONFIG_MAPS}?fieldValidation=Strict");
    admin.post(&path, &config_map("measured", "1")).await.expect(201);
    watch.expect("ADDED").await;
    admin.get(CONFIG_MAPS).await.expect(200);
    admin.delete(&format!("{CONFIG_MAPS}/measured")).await.expect(200);
    server.user("bob").get(CONFIG_MAPS).await.refused(403, "Forbidden");
    let stranger = server.without_credentials().with_token("wrong");
    stranger.get(CONFIG_MAPS).await.refused(401, "Unauthorized");
    // A version that is never reached ends the request with a 504, slowly.
    let never = format!("{CONFIG_MAPS}/measured?resourceVersion=999999");
    admin.get(&never).await.refused(504, "Timeout");
    assert!(tokio::net::TcpStream::connect(server.address()).await.is_ok());

    let text = admin.get("/metrics").await.text();
    for series in [
        r#"apiserver_request_sli_duration_seconds_count{component="apiserver",group="",resource="configmaps""#,
        r#"apiserver_response_sizes_count{component="apiserver",group="",resource="configmaps""#,
        r#"field_validation_request_duration_seconds_count{field_validation="Strict"} 1"#,
        r#"apiserver_watch_events_total{group="",kind="ConfigMap",version="v1"}"#,
        r#"apiserver_watch_events_sizes_count{group="",kind="ConfigMap",version="v1"}"#,
        r#"authentication_attempts{result="failure"} 1"#,
        r#"authentication_duration_seconds_count{result="success"}"#,
        r#"authorization_attempts_total{result="no-opinion"} 1"#,
        r#"authorization_duration_seconds_count{result="allowed"}"#,
        r#"authenticated_user_requests{username="admin"}"#,
        r#"etcd_requests_total{operation="create",type="configmaps"} 1"#,
        r#"etcd_requests_total{operation="delete",type="configmaps"} 1"#,
        r#"etcd_request_duration_seconds_count{operation="create",type="configmaps"} 1"#,
        r#"apiserver_storage_list_total{resource="configmaps"} 1"#,
        r#"apiserver_storage_list_returned_objects_total{resource="configmaps"}"#,
        r#"apiserver_storage_size_bytes{storage_cluster_id="sqlite"}"#,
        "apiserver_tls_handshake_errors_total",
        "apiserver_audit_event_total 0",
    ] {
        assert!(text.lines().any(|line| line.starts_with(series)), "{series}\n{text}");
    }
    server.logged("a slow request").await;
    let slow = server.log().lines().find(|line| line.contains("a slow request")).map(str::to_owned);
    let slow = slow.unwrap_or_else(|| panic!("{}", server.log()));
    for part in ["authentication", "authorization", "handler", "configmaps/measured"] {
        assert!(slow.contains(part), "{slow}");
    }
}
