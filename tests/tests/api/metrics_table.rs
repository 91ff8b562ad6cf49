//! Metrics: the names, types and labels that dashboards of the reference read, each held against a server
//! after requests of many kinds.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::{Duration, Instant},
};

use http::Method;
use orch_tests::{
    TestServer,
    client::Client,
    objects::{CONFIG_MAPS, SECRETS, config_map},
};
use serde_json::json;

use crate::fairness::divert;

/// A metric that the server has: its name, its type, the names of its labels.
type Row = (&'static str, &'static str, &'static str);

const REQUEST: &str = "verb group version resource subresource scope component";
const LEVEL: &str = "priority_level";
const FLOW: &str = "priority_level flow_schema";

const ROWS: &[Row] = &[
    (
        "apiserver_request_total",
        "counter",
        "verb dry_run group version resource subresource scope component code",
    ),
    (
        "apiserver_request_duration_seconds",
        "histogram",
        "verb dry_run group version resource subresource scope component",
    ),
    ("apiserver_request_sli_duration_seconds", "histogram", REQUEST),
    ("apiserver_longrunning_requests", "gauge", REQUEST),
    ("apiserver_response_sizes", "histogram", REQUEST),
    ("apiserver_requested_deprecated_apis", "gauge", "group version resource subresource removed_release"),
    ("apiserver_current_inflight_requests", "gauge", "request_kind"),
    ("apiserver_current_inqueue_requests", "gauge", "request_kind"),
    (
        "apiserver_request_terminations_total",
        "counter",
        "verb group version resource subresource scope component code",
    ),
    ("apiserver_request_filter_duration_seconds", "histogram", "filter"),
    ("apiserver_request_timestamp_comparison_time", "histogram", "code_path"),
    ("apiserver_selfrequest_total", "counter", "verb resource subresource"),
    ("apiserver_watch_events_total", "counter", "group version kind"),
    ("apiserver_watch_events_sizes", "histogram", "group version kind"),
    ("apiserver_watch_list_duration_seconds", "histogram", "group version resource scope"),
    ("apiserver_tls_handshake_errors_total", "counter", ""),
    ("field_validation_request_duration_seconds", "histogram", "field_validation"),
    ("apiserver_storage_objects", "gauge", "resource"),
    ("etcd_request_duration_seconds", "histogram", "operation type"),
    ("etcd_requests_total", "counter", "operation type"),
    ("etcd_request_errors_total", "counter", "operation type"),
    ("apiserver_storage_list_total", "counter", "resource"),
    ("apiserver_storage_list_fetched_objects_total", "counter", "resource"),
    ("apiserver_storage_list_evaluated_objects_total", "counter", "resource"),
    ("apiserver_storage_list_returned_objects_total", "counter", "resource"),
    ("apiserver_storage_size_bytes", "gauge", "storage_cluster_id"),
    (
        "apiserver_storage_transformation_operations_total",
        "counter",
        "resource status transformation_type transformer_prefix",
    ),
    (
        "apiserver_storage_transformation_duration_seconds",
        "histogram",
        "transformation_type transformer_prefix",
    ),
    ("apiserver_cache_list_total", "counter", "resource_prefix index"),
    ("apiserver_cache_list_fetched_objects_total", "counter", "resource_prefix index"),
    ("apiserver_cache_list_returned_objects_total", "counter", "resource_prefix"),
    ("apiserver_watch_cache_events_received_total", "counter", "resource"),
    ("apiserver_watch_cache_events_dispatched_total", "counter", "resource"),
    ("apiserver_watch_cache_resource_version", "gauge", "resource"),
    ("apiserver_watch_cache_read_wait_seconds", "histogram", "resource"),
    ("apiserver_init_events_total", "counter", "resource"),
    ("apiserver_terminated_watchers_total", "counter", "resource"),
    ("apiserver_watch_cache_consistent_read_total", "counter", "resource success fallback"),
    ("authenticated_user_requests", "counter", "username"),
    ("authentication_attempts", "counter", "result"),
    ("authentication_duration_seconds", "histogram", "result"),
    ("authorization_attempts_total", "counter", "result"),
    ("authorization_duration_seconds", "histogram", "result"),
    ("apiserver_authorization_decisions_total", "counter", "type name decision"),
    ("authentication_token_cache_request_total", "counter", "status"),
    ("authentication_token_cache_request_duration_seconds", "histogram", "status"),
    ("authentication_token_cache_fetch_total", "counter", "status"),
    ("authentication_token_cache_active_fetch_count", "gauge", "status"),
    ("apiserver_audit_event_total", "counter", ""),
    ("apiserver_audit_requests_rejected_total", "counter", ""),
    ("apiserver_audit_level_total", "counter", "level"),
    ("apiserver_audit_error_total", "counter", "plugin"),
    ("apiserver_flowcontrol_rejected_requests_total", "counter", "priority_level flow_schema reason"),
    ("apiserver_flowcontrol_dispatched_requests_total", "counter", FLOW),
    ("apiserver_flowcontrol_current_inqueue_requests", "gauge", FLOW),
    ("apiserver_flowcontrol_current_executing_requests", "gauge", FLOW),
    ("apiserver_flowcontrol_current_executing_seats", "gauge", FLOW),
    ("apiserver_flowcontrol_request_queue_length_after_enqueue", "histogram", FLOW),
    ("apiserver_flowcontrol_work_estimated_seats", "histogram", FLOW),
    (
        "apiserver_flowcontrol_request_wait_duration_seconds",
        "histogram",
        "priority_level flow_schema execute",
    ),
    ("apiserver_flowcontrol_request_execution_seconds", "histogram", "priority_level flow_schema type"),
    ("apiserver_flowcontrol_nominal_limit_seats", "gauge", LEVEL),
    ("apiserver_flowcontrol_lower_limit_seats", "gauge", LEVEL),
    ("apiserver_flowcontrol_upper_limit_seats", "gauge", LEVEL),
    ("apiserver_flowcontrol_current_limit_seats", "gauge", LEVEL),
    ("apiserver_flowcontrol_demand_seats", "histogram", LEVEL),
    ("apiserver_flowcontrol_demand_seats_high_watermark", "gauge", LEVEL),
    ("apiserver_flowcontrol_demand_seats_average", "gauge", LEVEL),
    ("apiserver_flowcontrol_demand_seats_stdev", "gauge", LEVEL),
    ("apiserver_flowcontrol_demand_seats_smoothed", "gauge", LEVEL),
    ("apiserver_flowcontrol_target_seats", "gauge", LEVEL),
    ("apiserver_flowcontrol_seat_fair_frac", "gauge", ""),
    ("apiserver_flowcontrol_request_concurrency_limit", "gauge", LEVEL),
    ("apiserver_admission_step_admission_duration_seconds", "histogram", "type operation rejected"),
    (
        "apiserver_admission_controller_admission_duration_seconds",
        "histogram",
        "name type operation rejected",
    ),
    ("orch_feature_enabled", "gauge", "name stage"),
];

/// What the server has and no request of this test can bring about, and the test that does.
const ELSEWHERE: &[(&str, &str)] =
    &[("apiserver_request_aborts_total", "metrics::tests::sizes_terminations_and_panics_are_counted")];

/// What the reference has and this server has not. The reasons are in docs/MONITORING.md.
const ABSENT: &[&str] = &[
    "apiserver_request_slo_duration_seconds",
    "apiserver_request_post_timeout_total",
    "apiserver_admission_step_admission_duration_seconds_summary",
    "apiserver_admission_webhook_admission_duration_seconds",
];

const DOCUMENT: &str = include_str!("../../../docs/MONITORING.md");

/// The families of a text: their types, and the names of labels of each.
fn families(text: &str) -> BTreeMap<String, (String, BTreeSet<String>)> {
    let mut families = BTreeMap::new();
    let mut current: Option<(String, String)> = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            current = Some((name.to_owned(), kind.to_owned()));
            continue;
        }
        let Some((name, kind)) = current.as_ref().filter(|_| !line.starts_with('#')) else { continue };
        let labels = line.split_once('{').map_or("", |(_, rest)| rest.rsplit_once('}').unwrap().0);
        // Values are made of letters, digits and a few signs, never of quotes.
        let names = labels.split("\",").filter_map(|pair| pair.split_once("=\"")).map(|(name, _)| name);
        let names = names.filter(|name| *name != "le").map(str::to_owned).collect::<BTreeSet<_>>();
        let known = families.entry(name.clone()).or_insert_with(|| (kind.clone(), names.clone()));
        assert_eq!(known.1, names, "all series of a metric have the same labels: {line}");
    }
    families
}

/// Requests of many kinds.
async fn mixed(server: &TestServer, admin: &Client) {
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    admin.put(&format!("{CONFIG_MAPS}/a"), &config_map("a", "2")).await.expect(200);
    admin.put(&format!("{CONFIG_MAPS}/a"), &config_map("a", "2")).await.expect(200);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
    admin.post(SECRETS, &secret).await.expect(201);
    admin.get(CONFIG_MAPS).await.expect(200);
    admin.get("/api/v1/pods?fieldSelector=spec.nodeName=n").await.expect(200);
    let watch = format!(
        "{CONFIG_MAPS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&\
         resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
    );
    assert!(admin.get(&watch).await.text().contains("initial-events-end"));
    admin.get(&format!("{V1BETA2}/exempt")).await.expect(200);
    let create = admin.request(Method::POST, CONFIG_MAPS).json(&config_map("b", "1"));
    create.header("impersonate-user", "bob").send().await.refused(403, "Forbidden");
    server.without_credentials().with_token("wrong").get(CONFIG_MAPS).await.refused(401, "Unauthorized");
    let never = format!("{CONFIG_MAPS}/a?resourceVersion=999999&timeout=100ms");
    admin.get(&never).await.refused(504, "Timeout");
    admin.delete(&format!("{CONFIG_MAPS}/a")).await.expect(200);
}

const V1BETA2: &str = "/apis/flowcontrol.apiserver.orch.io/v1beta2/prioritylevelconfigurations";

#[tokio::test]
async fn every_metric_of_the_table_is_there_with_its_type_and_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (keys, policy) = (folder.path().join("keys.yaml"), folder.path().join("policy.yaml"));
    let secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let text = format!(
        "apiVersion: apiserver.config.orch.io/v1\nkind: EncryptionConfiguration\nresources:\n\
         - resources: [secrets]\n  providers:\n  - secretbox: {{keys: [{{name: one, secret: {secret}}}]}}\n"
    );
    fs::write(&keys, text).unwrap();
    let text = "apiVersion: audit.orch.io/v1\nkind: Policy\nrules:\n- {level: Metadata}\n";
    fs::write(&policy, text).unwrap();
    let server = TestServer::options()
        .flag(format!("--encryption-provider-config={}", keys.display()))
        .flag(format!("--audit-policy-file={}", policy.display()))
        .flag(format!("--audit-log-path={}", folder.path().join("audit.log").display()))
        .flag("--runtime-config=flowcontrol.apiserver.orch.io/v1beta2=true")
        .start()
        .await;
    let admin = server.admin();
    mixed(&server, &admin).await;
    // The server writes the status of a flow schema in its own name, soon.
    divert(&admin, 1, &json!({"type": "Reject"})).await;
    let start = Instant::now();
    let text = loop {
        let text = admin.get("/metrics").await.text();
        if text.contains("apiserver_selfrequest_total{") || start.elapsed() > Duration::from_mins(1) {
            break text;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let families = families(&text);
    let mut problems = Vec::new();
    for (name, kind, labels) in ROWS {
        let labels: BTreeSet<String> = labels.split_whitespace().map(str::to_owned).collect();
        match families.get(*name) {
            None => problems.push(format!("{name} is missing")),
            Some(found) if *found != ((*kind).to_owned(), labels.clone()) => {
                problems.push(format!("{name} is {found:?} instead of {kind} {labels:?}"));
            }
            Some(_) => {}
        }
    }
    let absent = ABSENT.iter().chain(ELSEWHERE.iter().map(|(name, _)| name));
    problems
        .extend(absent.filter(|name| families.contains_key(**name)).map(|name| format!("{name} is there")));
    assert!(problems.is_empty(), "{}\n{text}", problems.join("\n"));

    for series in [
        r#"apiserver_authorization_decisions_total{decision="allowed",name="rbac",type="RBAC"}"#,
        r#"apiserver_authorization_decisions_total{decision="denied",name="node",type="Node"} 0"#,
        r#"apiserver_cache_list_total{index="f:spec.nodeName",resource_prefix="/pods"} 1"#,
        r#"apiserver_cache_list_total{index="",resource_prefix="/configmaps"} 1"#,
        r#"apiserver_watch_cache_consistent_read_total{fallback="false",resource="pods",success="true"} 1"#,
        r#"apiserver_watch_cache_events_received_total{resource="secrets"}"#,
        r#"apiserver_request_timestamp_comparison_time_count{code_path="equal_objects"}"#,
        r#"apiserver_request_timestamp_comparison_time_count{code_path="unequal_objects_fast"}"#,
        r#"apiserver_request_filter_duration_seconds_count{filter="impersonation"}"#,
        r#"apiserver_request_filter_duration_seconds_count{filter="audit"}"#,
        r#"apiserver_watch_list_duration_seconds_count{group="",resource="configmaps",scope="namespace""#,
        r#"authorization_attempts_total{result="no-opinion"} 1"#,
        r#"authentication_attempts{result="error"} 0"#,
    ] {
        assert!(text.lines().any(|line| line.starts_with(series)), "{series}\n{text}");
    }
}

/// An operator finds each metric, and each that is not there.
#[test]
fn every_metric_of_the_table_is_documented() {
    let absent = ABSENT.iter().chain(ELSEWHERE.iter().map(|(name, _)| name));
    let names = ROWS.iter().map(|(name, ..)| name).chain(absent);
    // Those of fairness are in a table of their own, by what follows the prefix.
    let is_missing = |name: &&&str| {
        let short = name.strip_prefix("apiserver_flowcontrol_").unwrap_or(name);
        !DOCUMENT.contains(&format!("`{short}`"))
    };
    let missing: Vec<&&str> = names.filter(is_missing).collect();
    assert!(missing.is_empty(), "docs/MONITORING.md does not name {missing:?}");
}
