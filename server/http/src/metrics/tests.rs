//! What is exported, and that requests cannot add series.

use std::time::UNIX_EPOCH;

use orch_runtime::resource_def::Verb;
use orch_test_catalog::{CONFIG_MAPS, KUBERNETES, OLD_WIDGETS, PODS};

use super::*;

fn metrics() -> Metrics {
    Metrics::new(&KUBERNETES, UNIX_EPOCH + Duration::from_secs(7))
}

fn answered(code: StatusCode, elapsed: Duration) -> Answered {
    Answered { code, elapsed, bytes: None, is_terminated: false }
}

fn text(metrics: &Metrics) -> String {
    metrics.text().unwrap()
}

#[test]
fn requests_are_counted_under_their_labels() {
    let metrics = metrics();
    let list = RequestLabels::resource(&CONFIG_MAPS, None, Verb::List, "a", "");
    metrics.answered(&list, answered(StatusCode::OK, Duration::from_millis(10)));
    metrics.answered(&list, answered(StatusCode::OK, Duration::from_millis(30)));
    metrics.answered(&list, answered(StatusCode::IM_A_TEAPOT, Duration::ZERO));
    let status = RequestLabels::resource(&PODS, PODS.subresource("status"), Verb::Patch, "a", "b");
    metrics.answered(&status.with_dry_run(DryRun::All), answered(StatusCode::CONFLICT, Duration::ZERO));
    metrics.answered(&status.as_apply(), answered(StatusCode::OK, Duration::ZERO));
    let create = RequestLabels::resource(&CONFIG_MAPS, None, Verb::Create, "a", "");
    metrics.answered(&create, answered(StatusCode::CREATED, Duration::ZERO));
    let path = RequestLabels::path(&http::Method::HEAD, "/readyz/ping");
    metrics.answered(&path, answered(StatusCode::OK, Duration::ZERO));
    let text = text(&metrics);
    let labels = |verb: &str, dry_run: &str, resource: &str, subresource: &str, scope: &str| {
        let version = if resource.is_empty() { "" } else { "v1" };
        format!(
            "dry_run=\"{dry_run}\",group=\"\",resource=\"{resource}\",scope=\"{scope}\",\
             subresource=\"{subresource}\",verb=\"{verb}\",version=\"{version}\""
        )
    };
    for (code, labels, count) in [
        ("200", labels("LIST", "", "configmaps", "", "namespace"), 2),
        ("418", labels("LIST", "", "configmaps", "", "namespace"), 1),
        ("409", labels("PATCH", "All", "pods", "status", "resource"), 1),
        ("200", labels("APPLY", "", "pods", "status", "resource"), 1),
        ("201", labels("POST", "", "configmaps", "", "resource"), 1),
        ("200", labels("GET", "", "", "/readyz", ""), 1),
    ] {
        let line =
            format!("apiserver_request_total{{code=\"{code}\",component=\"apiserver\",{labels}}} {count}\n");
        assert!(text.contains(&line), "{line}{text}");
    }
    let list = labels("LIST", "", "configmaps", "", "namespace");
    let bucket = |bound: &str, count| {
        format!(
            "apiserver_request_duration_seconds_bucket{{component=\"apiserver\",{list},\
             le=\"{bound}\"}} {count}\n"
        )
    };
    assert!(text.contains(&bucket("0.005", 1)) && text.contains(&bucket("0.05", 3)), "{text}");
}

#[test]
fn current_requests_rise_and_fall() {
    let metrics = metrics();
    let watch = RequestLabels::resource(&PODS, None, Verb::Watch, "", "");
    let open = (metrics.in_flight(true), [0, 1].map(|_| metrics.long_running(&watch, "Pod", Instant::now())));
    let long_running = "apiserver_longrunning_requests{component=\"apiserver\",group=\"\",resource=\"pods\",\
                        scope=\"cluster\",subresource=\"\",verb=\"WATCH\",version=\"v1\"}";
    let text_now = text(&metrics);
    assert!(
        text_now.contains("apiserver_current_inflight_requests{request_kind=\"mutating\"} 1\n"),
        "{text_now}"
    );
    assert!(
        text_now.contains("apiserver_current_inflight_requests{request_kind=\"readOnly\"} 0\n"),
        "{text_now}"
    );
    assert!(text_now.contains(&format!("{long_running} 2\n")), "{text_now}");
    drop(open);
    let text_now = text(&metrics);
    assert!(
        text_now.contains("apiserver_current_inflight_requests{request_kind=\"mutating\"} 0\n"),
        "{text_now}"
    );
    assert!(text_now.contains(&format!("{long_running} 0\n")), "{text_now}");
}

#[test]
fn values_are_asked_for_when_metrics_are_read() {
    let metrics = metrics();
    metrics
        .count_objects(|| vec![("configmaps".to_owned(), 3), ("leases.coordination.k8s.io".to_owned(), 0)]);
    let text = text(&metrics);
    assert!(text.contains("apiserver_storage_objects{resource=\"configmaps\"} 3\n"), "{text}");
    assert!(
        text.contains("apiserver_storage_objects{resource=\"leases.coordination.k8s.io\"} 0\n"),
        "{text}"
    );
    assert!(text.contains("\nprocess_start_time_seconds 7\n"), "{text}");
    if cfg!(target_os = "linux") {
        assert!(text.contains("\nprocess_resident_memory_bytes "), "{text}");
    }
}

#[test]
fn deprecated_kinds_are_flagged_once_asked_for() {
    let metrics = metrics();
    let old = RequestLabels::resource(&OLD_WIDGETS, None, Verb::Get, "a", "b");
    // Whoever is refused has not asked.
    metrics.answered(&old, answered(StatusCode::FORBIDDEN, Duration::ZERO));
    assert!(!text(&metrics).contains("apiserver_requested_deprecated_apis"));
    metrics.asked_for_deprecated(&OLD_WIDGETS, None);
    let line = "apiserver_requested_deprecated_apis{group=\"things.example.com\",removed_release=\"1.34\",\
                resource=\"widgets\",subresource=\"\",version=\"v1beta1\"} 1\n";
    let text = text(&metrics);
    assert!(text.contains(line), "{text}");
}

#[test]
fn requests_cannot_add_series() {
    let metrics = metrics();
    for index in 0..1000 {
        let name = format!("name-{index}");
        let method = http::Method::from_bytes(format!("M{index}").as_bytes()).unwrap();
        for labels in [
            RequestLabels::resource(&CONFIG_MAPS, None, Verb::Get, &name, &name),
            RequestLabels::path(&method, &format!("/{name}")),
            RequestLabels::path(&method, &format!("/apis/{name}")),
            RequestLabels::path(&method, &format!("/apis{name}")),
            RequestLabels::unserved(&method),
        ] {
            metrics.answered(&labels, answered(StatusCode::OK, Duration::ZERO));
        }
    }
    assert_eq!(metrics.0.series.read().unwrap().len(), 3);
}

#[test]
fn remembered_codes_can_be_searched() {
    assert!(CODES.is_sorted());
}

#[test]
fn durations_are_there_without_dry_run_too() {
    let metrics = metrics();
    let labels = RequestLabels::resource(&CONFIG_MAPS, None, Verb::Update, "a", "b");
    metrics.answered(&labels, answered(StatusCode::OK, Duration::from_millis(10)));
    let dry = labels.with_dry_run(DryRun::All);
    metrics.answered(&dry, answered(StatusCode::OK, Duration::from_millis(30)));
    let labels = "component=\"apiserver\",group=\"\",resource=\"configmaps\",scope=\"resource\",\
                  subresource=\"\",\
                  verb=\"PUT\",version=\"v1\"";
    let text = text(&metrics);
    for (series, value) in
        [("bucket", ",le=\"0.025\"} 1\n"), ("bucket", ",le=\"0.05\"} 2\n"), ("count", "} 2\n")]
    {
        let line = format!("\napiserver_request_sli_duration_seconds_{series}{{{labels}{value}");
        assert!(text.contains(&line), "{line}{text}");
    }
}

#[test]
fn sizes_terminations_and_panics_are_counted() {
    let metrics = metrics();
    let list = RequestLabels::resource(&CONFIG_MAPS, None, Verb::List, "a", "");
    let update = RequestLabels::resource(&CONFIG_MAPS, None, Verb::Update, "a", "b");
    for labels in [&list, &update] {
        let sized = Answered { bytes: Some(5000), ..answered(StatusCode::OK, Duration::ZERO) };
        metrics.answered(labels, sized);
    }
    let refused = answered(StatusCode::TOO_MANY_REQUESTS, Duration::ZERO);
    metrics.answered(&list, Answered { is_terminated: true, ..refused });
    metrics.aborted(&update);
    metrics.validated_fields("Strict", Duration::ZERO);
    metrics.validated_fields("made up", Duration::ZERO);
    let watch = RequestLabels::resource(&PODS, None, Verb::Watch, "", "");
    let watch = metrics.long_running(&watch, "Pod", Instant::now());
    watch.told(3000);
    watch.told_initial();
    watch.told_all_initial();
    watch.lagged();
    metrics.passed(Filter::Fairness, Duration::ZERO);
    metrics.recognized(&UserInfo::new("a@b.example", [""; 0]));
    metrics.authenticated(Authentication::Failure, Duration::ZERO);
    metrics.authorized(Authorization::Denied, Duration::ZERO);
    let text = text(&metrics);
    for line in [
        "apiserver_response_sizes_count{component=\"apiserver\",group=\"\",resource=\"configmaps\",\
         scope=\"namespace\",subresource=\"\",verb=\"LIST\",version=\"v1\"} 1\n",
        "apiserver_request_terminations_total{code=\"429\",component=\"apiserver\",group=\"\",\
         resource=\"configmaps\",scope=\"namespace\",subresource=\"\",verb=\"LIST\",version=\"v1\"} 1\n",
        "apiserver_request_aborts_total{group=\"\",resource=\"configmaps\",scope=\"resource\",\
         subresource=\"\",\
         verb=\"PUT\",version=\"v1\"} 1\n",
        "field_validation_request_duration_seconds_count{field_validation=\"Strict\"} 1\n",
        "field_validation_request_duration_seconds_count{field_validation=\"Warn\"} 1\n",
        "apiserver_watch_events_total{group=\"\",kind=\"Pod\",version=\"v1\"} 1\n",
        "apiserver_watch_events_sizes_sum{group=\"\",kind=\"Pod\",version=\"v1\"} 3000\n",
        "authenticated_user_requests{username=\"email_id\"} 1\n",
        "authentication_attempts{result=\"failure\"} 1\n",
        "authorization_attempts_total{result=\"denied\"} 1\n",
        "apiserver_init_events_total{resource=\"pods\"} 1\n",
        "apiserver_watch_list_duration_seconds_count{group=\"\",resource=\"pods\",scope=\"cluster\",\
         version=\"v1\"} 1\n",
        "apiserver_terminated_watchers_total{resource=\"pods\"} 1\n",
        "apiserver_request_filter_duration_seconds_count{filter=\"priorityandfairness\"} 1\n",
        "apiserver_request_filter_duration_seconds_count{filter=\"authentication\"} 1\n",
        "apiserver_request_filter_duration_seconds_bucket{filter=\"authorization\",le=\"0.001\"} 1\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    let of_answers = "apiserver_response_sizes_count{";
    assert_eq!(text.lines().filter(|line| line.starts_with(of_answers)).count(), 1, "{text}");
}
