//! Priority and fairness as clients see it: headers, refusals, queues, and who gets how much.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use http::Method;
use orch_tests::{
    TestServer,
    client::{Answer, Client},
    objects::{CONFIG_MAPS, config_map},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    remote::{Reply, Site},
    token_webhook::kubeconfig,
};

const GROUP: &str = "/apis/flowcontrol.apiserver.orch.io/v1";
const DUMPS: &str = "/debug/api_priority_and_fairness";

/// Everything that bob and carol ask for, at a level; each of them is a flow.
fn schema(level: &str) -> Value {
    let all = json!(["*"]);
    json!({
        "metadata": {"name": "both"},
        "spec": {
            "priorityLevelConfiguration": {"name": level}, "matchingPrecedence": 50,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [{
                "subjects": [
                    {"kind": "User", "user": {"name": "bob"}}, {"kind": "User", "user": {"name": "carol"}},
                ],
                "resourceRules": [{
                    "verbs": all, "apiGroups": all, "resources": all, "clusterScope": true, "namespaces": all,
                }],
                "nonResourceRules": [{"verbs": all, "nonResourceURLs": all}],
            }],
        },
    })
}

/// Puts bob and carol into a level of their own.
pub async fn divert(admin: &Client, shares: u32, response: &Value) {
    let limited = json!({
        "nominalConcurrencyShares": shares, "borrowingLimitPercent": 0, "limitResponse": response,
    });
    let level = json!({"metadata": {"name": "own"}, "spec": {"type": "Limited", "limited": limited}});
    admin.post(&format!("{GROUP}/prioritylevelconfigurations"), &level).await.expect(201);
    admin.post(&format!("{GROUP}/flowschemas"), &schema("own")).await.expect(201);
}

async fn uid(admin: &Client, kind: &str, name: &str) -> String {
    let object = admin.get(&format!("{GROUP}/{kind}/{name}")).await.expect(200);
    object["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// The uids that an answer names, which are the same in both spellings.
fn named(answer: &Answer) -> [String; 2] {
    ["FlowSchema", "PriorityLevel"].map(|kind| {
        let uid = answer.header(&format!("x-orch-pf-{kind}-uid")).to_owned();
        assert_eq!(answer.header(&format!("x-kubernetes-pf-{kind}-uid")), uid);
        uid
    })
}

fn is_refused(answer: &Answer) {
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert_eq!(answer.text(), "Too many requests, please try again later.\n");
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    assert!((1..=32).contains(&answer.header("retry-after").parse::<u32>().unwrap()));
}

#[tokio::test]
async fn every_answer_names_its_flow_schema_and_its_level() {
    let server = TestServer::start().await;
    let (admin, bob) = (server.admin(), server.user("bob"));
    for (client, path, schema, level) in [
        (&admin, CONFIG_MAPS, "exempt", "exempt"),
        (&bob, CONFIG_MAPS, "global-default", "global-default"),
        (&bob, "/readyz", "probes", "exempt"),
        (&bob, "/version", "global-default", "global-default"),
        (&bob, "/no/such/path", "global-default", "global-default"),
    ] {
        let uids = [
            uid(&admin, "flowschemas", schema).await,
            uid(&admin, "prioritylevelconfigurations", level).await,
        ];
        assert_eq!(named(&client.get(path).await), uids, "{path}");
    }
}

#[tokio::test]
async fn a_jail_refuses_its_users_and_nobody_else() {
    let server = TestServer::start().await;
    let (admin, bob) = (server.admin(), server.user("bob"));
    assert_eq!(bob.get("/version").await.status, 200);
    divert(&admin, 0, &json!({"type": "Reject"})).await;
    // As soon as the objects are stored.
    let refused = bob.get("/version").await;
    is_refused(&refused);
    let uids =
        [uid(&admin, "flowschemas", "both").await, uid(&admin, "prioritylevelconfigurations", "own").await];
    assert_eq!(named(&refused), uids);
    is_refused(&bob.post(CONFIG_MAPS, &config_map("a", "1")).await);
    assert_eq!(server.user("dave").get("/version").await.status, 200);
    let metrics = admin.get("/metrics").await.text();
    let labels = r#"flow_schema="both",priority_level="own",reason="concurrency-limit""#;
    let line = format!("apiserver_flowcontrol_rejected_requests_total{{{labels}}} 2");
    assert!(metrics.lines().any(|found| found == line), "{metrics}");
    for shown in [
        "demand_seats_average{priority_level=\"own\"} 0",
        "demand_seats_stdev{priority_level=\"own\"} 0",
        "target_seats{priority_level=\"own\"} 0.001",
        "seat_fair_frac ",
    ] {
        let line = format!("apiserver_flowcontrol_{shown}");
        assert!(metrics.lines().any(|found| found.starts_with(&line)), "{line} is not in {metrics}");
    }
    admin.delete(&format!("{GROUP}/flowschemas/both")).await.expect(200);
    assert_eq!(bob.get("/version").await.status, 200);
}

#[tokio::test]
async fn a_request_waits_for_a_quarter_of_its_time_and_can_be_looked_at() {
    let server = TestServer::options().flag("--request-timeout=8s").start().await;
    let admin = server.admin();
    let queuing = json!({"queues": 8, "handSize": 2, "queueLengthLimit": 10});
    divert(&admin, 0, &json!({"type": "Queue", "queuing": queuing})).await;
    let bob = server.user("bob");
    let waiting = tokio::spawn(async move {
        let began = Instant::now();
        (bob.get(&format!("{CONFIG_MAPS}/a")).await, began.elapsed())
    });
    let requests = format!("{DUMPS}/dump_requests?includeRequestDetails=1");
    let row = loop {
        let text = admin.get(&requests).await.text();
        assert!(text.starts_with("PriorityLevelName, FlowSchemaName, QueueIndex, "), "{text}");
        assert!(!waiting.is_finished(), "{text}");
        if let Some(row) = text.lines().nth(1) {
            break row.to_owned();
        }
    };
    let cells: Vec<&str> = row.split(',').map(str::trim).collect();
    assert_eq!((cells[0], cells[1], cells[3], cells[4]), ("own", "both", "0", "bob"), "{row}");
    let path = format!("{CONFIG_MAPS}/a");
    assert_eq!(cells[9], "0001-01-01T00:00:00Z", "{row}");
    assert_eq!(cells[10..], ["bob", "get", &path, "default", "a", "v1", "configmaps", ""], "{row}");
    let levels = admin.get(&format!("{DUMPS}/dump_priority_levels")).await.text();
    let own = levels.lines().find(|line| line.starts_with("own,")).unwrap();
    assert_eq!(
        own.split_whitespace().collect::<Vec<_>>()[..5],
        ["own,", "1,", "false,", "false,", "1,"],
        "{own}"
    );
    let queues = admin.get(&format!("{DUMPS}/dump_queues")).await.text();
    assert!(queues.lines().any(|line| line.starts_with("own,")), "{queues}");
    let (refused, took) = waiting.await.unwrap();
    is_refused(&refused);
    assert!(took >= Duration::from_secs(2), "{took:?}");
    assert_eq!(server.user("dave").get(&requests).await.status, 403);
}

#[tokio::test]
async fn a_request_that_is_worked_on_can_be_looked_at() {
    let (site, folder) = (Site::new().await, tempfile::tempdir().unwrap());
    let _silent = site.start(|_| Reply::Nothing).await;
    let file = kubeconfig(&site, folder.path());
    let server = TestServer::options()
        .flag("--authorization-mode=Webhook")
        .flag(format!("--authorization-webhook-config-file={}", file.display()))
        .start()
        .await;
    let (admin, bob) = (server.admin(), server.user("bob"));
    let asked = tokio::spawn(async move { bob.get(&format!("{CONFIG_MAPS}/a")).await });
    let requests = format!("{DUMPS}/dump_requests?includeRequestDetails=1");
    let start = Instant::now();
    let row = loop {
        let text = admin.get(&requests).await.text();
        if let Some(row) = text.lines().find(|line| line.contains(" bob, ")) {
            break row.to_owned();
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{text}");
    };
    let cells: Vec<&str> = row.split(',').map(str::trim).collect();
    assert_eq!((cells[0], cells[1], cells[3], cells[4]), ("global-default", "global-default", "-1", "bob"));
    assert_eq!(cells[8], "0s", "{row}");
    assert!(cells[5] <= cells[9] && cells[9].starts_with("20"), "{row}");
    let path = format!("{CONFIG_MAPS}/a");
    assert_eq!(cells[10..], ["bob", "get", &path, "default", "a", "v1", "configmaps", ""], "{row}");
    // It is gone with its client.
    asked.abort();
    while admin.get(&requests).await.text().contains(" bob, ") {
        assert!(start.elapsed() < Duration::from_secs(25));
    }
}

/// A watch has a seat while it tells what exists, not as long as it is open.
#[tokio::test]
async fn open_watches_take_no_seats() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for index in 0..3 {
        admin.post(CONFIG_MAPS, &config_map(&format!("m{index}"), "1")).await.expect(201);
    }
    let binding = json!({
        "metadata": {"name": "b"}, "subjects": [{"kind": "User", "name": "bob"}],
        "roleRef": {"kind": "ClusterRole", "name": "view"},
    });
    let bindings = "/apis/rbac.authorization.orch.io/v1/namespaces/default/rolebindings";
    admin.post(bindings, &binding).await.expect(201);
    // One seat, and no place to wait.
    divert(&admin, 1, &json!({"type": "Reject"})).await;
    let bob = server.user("bob");
    let mut watches = Vec::new();
    for _ in 0..5 {
        let mut watch = bob.watch(&format!("{CONFIG_MAPS}?watch=1")).await;
        for _ in 0..3 {
            watch.expect("ADDED").await;
        }
        watches.push(watch);
    }
    assert_eq!(bob.get(&format!("{CONFIG_MAPS}/m0")).await.status, 200);
}

#[tokio::test]
async fn without_fairness_there_are_plain_limits() {
    let options = TestServer::options().flag("--enable-priority-and-fairness=false");
    let server = options.flag("--max-requests-inflight=1").start().await;
    let answer = server.user("bob").get("/version").await;
    assert_eq!((answer.status, answer.header("x-orch-pf-flowschema-uid")), (200, ""));
    assert_eq!(server.admin().get(&format!("{DUMPS}/dump_queues")).await.status, 404);
}

/// Two flows of one level, of 200 and of 20 clients that ask without a pause, have about the same.
#[tokio::test(flavor = "multi_thread")]
async fn flows_share_a_level_whatever_their_number_of_clients() {
    // So many that chance matters little. A busy machine gives fewer in a second, so they are not counted by
    // time.
    const ANSWERS: u32 = 400;
    // Every level has one seat: with as many as there are processors, nobody would wait for one.
    let options = TestServer::options().flag("--authorization-mode=AlwaysAllow");
    let options = options.flag("--max-requests-inflight=1").flag("--max-mutating-requests-inflight=1");
    let server = options.start().await;
    let admin = server.admin();
    let value = "x".repeat(4096);
    for index in 0..60 {
        admin.post(CONFIG_MAPS, &config_map(&format!("m{index}"), &value)).await.expect(201);
    }
    let queuing = json!({"queues": 64, "handSize": 6, "queueLengthLimit": 50});
    divert(&admin, 1, &json!({"type": "Queue", "queuing": queuing})).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let mut clients = Vec::new();
    let answered = [("bob", 200), ("carol", 20)].map(|(user, number)| {
        let answered = Arc::new(AtomicU32::new(0));
        for _ in 0..number {
            let client = server.user(user);
            let (answered, is_over) = (Arc::clone(&answered), Arc::clone(&is_over));
            clients.push(tokio::spawn(async move {
                while !is_over.load(Relaxed) {
                    let request = client.request(Method::GET, CONFIG_MAPS).patience(Duration::from_mins(2));
                    let answer = request.send().await;
                    match answer.status {
                        200 => drop(answered.fetch_add(1, Relaxed)),
                        429 => tokio::time::sleep(Duration::from_millis(200)).await,
                        other => panic!("{other}: {}", answer.text()),
                    }
                }
            }));
        }
        answered
    });
    let now = || [0, 1].map(|flow| answered[flow].load(Relaxed));
    let until = async |total: u32| {
        while now().iter().sum::<u32>() < total && !clients.iter().any(JoinHandle::is_finished) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    // Until all clients ask.
    until(ANSWERS / 2).await;
    let before = now();
    until(before.iter().sum::<u32>() + ANSWERS).await;
    let after = now();
    let [many, few] = [0, 1].map(|flow| f64::from(after[flow] - before[flow]));
    is_over.store(true, Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    // In one queue for all, it would be ten to one.
    assert!(few > 0.4 * many && many > 0.3 * few, "200 clients had {many} answers, 20 had {few}");
}
