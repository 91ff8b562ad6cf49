//! Health probes: plain, verbose, without single checks, and one check at a time.

use std::time::{Duration, Instant};

use orch_tests::{
    TestServer,
    objects::{NAMESPACES, namespace},
};

use crate::fairness::undecided;

#[tokio::test]
async fn probes_answer_in_all_their_forms() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for probe in ["livez", "readyz", "healthz"] {
        let plain = admin.get(&format!("/{probe}")).await;
        assert_eq!((plain.status, plain.text().as_str()), (200, "ok"), "{probe}");
        assert!(plain.header("content-type").starts_with("text/plain"));
        let verbose = admin.get(&format!("/{probe}?verbose")).await.text();
        assert!(verbose.contains("[+]ping ok\n"), "{verbose}");
        assert!(verbose.ends_with(&format!("{probe} check passed\n")), "{verbose}");
        let excluded = admin.get(&format!("/{probe}?verbose&exclude=ping")).await.text();
        assert!(excluded.contains("[+]ping excluded: ok\n"), "{excluded}");
        for line in verbose.lines().filter_map(|line| line.strip_prefix("[+]")) {
            let check = line.split(' ').next().unwrap();
            let single = admin.get(&format!("/{probe}/{check}")).await;
            assert_eq!((single.status, single.text().as_str()), (200, "ok"), "{probe}/{check}");
        }
        assert_eq!(admin.get(&format!("/{probe}/no-such-check")).await.status, 404);
    }
}

#[tokio::test]
async fn probes_have_the_checks_of_the_reference() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let hooks = [
        "rbac/bootstrap-roles",
        "start-system-namespaces-controller",
        "bootstrap-controller",
        "start-apiserver-admission-initializer",
        "storage-object-count-tracker-hook",
        "generic-apiserver-start-informers",
        "scheduling/bootstrap-system-priority-classes",
        "priority-and-fairness-config-producer",
        "priority-and-fairness-config-consumer",
        "priority-and-fairness-filter",
    ];
    for probe in ["livez", "readyz", "healthz"] {
        for check in ["ping", "log", "etcd"] {
            assert_eq!(admin.get(&format!("/{probe}/{check}")).await.status, 200, "{probe}/{check}");
        }
        for hook in hooks {
            let path = format!("/{probe}/poststarthook/{hook}");
            assert_eq!(admin.get(&path).await.status, 200, "{path}");
        }
        // What it stands for is not there (docs/MONITORING.md, "Probes").
        let absent = format!("/{probe}/poststarthook/start-cluster-authentication-info-controller");
        assert_eq!(admin.get(&absent).await.status, 404, "{absent}");
        for check in ["informer-sync", "shutdown", "etcd-readiness"] {
            let expected = if probe == "readyz" { 200 } else { 404 };
            assert_eq!(admin.get(&format!("/{probe}/{check}")).await.status, expected, "{probe}/{check}");
        }
    }
}

#[tokio::test]
async fn checks_of_fairness_are_there_with_it() {
    let server = TestServer::options().flag("--enable-priority-and-fairness=false").start().await;
    let verbose = server.admin().get("/readyz?verbose").await.text();
    assert!(verbose.contains("poststarthook/rbac/bootstrap-roles ok\n"), "{verbose}");
    assert!(!verbose.contains("priority-and-fairness"), "{verbose}");
}

#[tokio::test]
async fn readiness_tells_what_is_known_about_the_data() {
    let server = TestServer::start().await;
    let verbose = server.admin().get("/readyz?verbose").await.text();
    let line = verbose.lines().find(|line| line.starts_with("[+]data ok: read through ")).unwrap_or(&verbose);
    assert!(line.ends_with(", no damage found"), "{verbose}");
    let metrics = server.admin().get("/metrics").await.text();
    for metric in ["check_rounds", "check_rows", "damaged_rows 0\n", "unreadable_places 0\n"] {
        assert!(metrics.contains(&format!("\napiserver_storage_{metric}")), "{metric}: {metrics}");
    }
}

/// Every worker of a controller waits for somebody who decides what its account may do.
#[tokio::test]
async fn readiness_tells_of_a_controller_that_lags() {
    let (server, _silent) = undecided().await;
    let admin = server.admin();
    for number in 0..10 {
        admin.post(NAMESPACES, &namespace(&format!("n{number}"))).await.expect(201);
    }
    let begun = Instant::now();
    loop {
        let ready = admin.get("/readyz?verbose").await;
        assert_eq!(ready.status, 200, "that is no reason to keep requests away");
        let text = ready.text();
        let told =
            text.lines().find(|line| line.starts_with("[+]controller/serviceaccount-controller ok: lags, "));
        if told.is_some_and(|line| line.contains(" keys wait, the first for ")) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{text}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Operators compute from it how available the server was.
#[tokio::test]
async fn outcomes_of_checks_are_counted() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for _ in 0..3 {
        admin.get("/livez/ping").await;
    }
    let text = admin.get("/metrics/slis").await.text();
    for line in [
        r#"kubernetes_healthcheck{name="ping",type="livez"} 1"#,
        r#"kubernetes_healthchecks_total{name="ping",status="success",type="livez"} "#,
    ] {
        assert!(text.contains(&format!("\n{line}")), "{line} is not in {text}");
    }
    server.without_credentials().get("/metrics/slis").await.refused(403, "Forbidden");
}
