//! Priority and fairness as clients see it: headers, refusals, queues, and who gets how much.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use http::Method;
use orch_tests::{
    TestServer,
    client::{Answer, Client},
    objects::{CONFIG_MAPS, config_map, version},
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    remote::{Reply, Site},
    token_webhook::kubeconfig,
    wire::connect,
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
    let terminated = metrics.lines().find(|line| {
        line.starts_with("apiserver_request_terminations_total{")
            && [r#"code="429""#, r#"subresource="/version""#, r#"verb="GET""#]
                .iter()
                .all(|part| line.contains(part))
    });
    assert!(terminated.is_some_and(|line| line.ends_with(" 1")), "{terminated:?} {metrics}");
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
    let server = TestServer::options().flag("--request-timeout=24s").start().await;
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
        if waiting.is_finished() {
            let (answer, took) = waiting.await.unwrap();
            panic!("answered after {took:?}: {} {}\n{text}", answer.status, answer.text());
        }
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
    assert!(took >= Duration::from_secs(6), "{took:?}");
    assert_eq!(server.user("dave").get(&requests).await.status, 403);
}

/// A server whose authorizer never answers, and what must be kept while it is used. Administrators are
/// allowed without the authorizer.
pub async fn undecided() -> (TestServer, impl Sized) {
    let (site, folder) = (Site::new().await, tempfile::tempdir().unwrap());
    let silent = site.start(|_| Reply::Nothing).await;
    let file = kubeconfig(&site, folder.path());
    let options = TestServer::options().flag("--authorization-mode=Webhook");
    let file = format!("--authorization-webhook-config-file={}", file.display());
    (options.flag(file).start().await, (silent, folder))
}

/// What bob asks for, while it is worked on: the cells of its row. It is gone with its client.
async fn row_of_bob(server: &TestServer, method: Method, path: &str, body: Option<Value>) -> Vec<String> {
    let (admin, bob, path) = (server.admin(), server.user("bob"), path.to_owned());
    let asked = tokio::spawn(async move {
        let request = bob.request(method, &path);
        let request = match &body {
            Some(body) => request.json(body),
            None => request,
        };
        request.send().await
    });
    let requests = format!("{DUMPS}/dump_requests?includeRequestDetails=1");
    let start = Instant::now();
    let row = loop {
        let text = admin.get(&requests).await.text();
        if let Some(row) = text.lines().find(|line| line.contains(" bob, ")) {
            break row.split(',').map(|cell| cell.trim().to_owned()).collect();
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{text}");
    };
    asked.abort();
    while admin.get(&requests).await.text().contains(" bob, ") {
        assert!(start.elapsed() < Duration::from_secs(25));
    }
    row
}

#[tokio::test]
async fn a_request_that_is_worked_on_can_be_looked_at() {
    let (server, _silent) = undecided().await;
    let path = format!("{CONFIG_MAPS}/a");
    let cells = row_of_bob(&server, Method::GET, &path, None).await;
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    assert_eq!((cells[0], cells[1], cells[3], cells[4]), ("global-default", "global-default", "-1", "bob"));
    assert_eq!(cells[8], "0s", "{cells:?}");
    assert!(cells[5] <= cells[9] && cells[9].starts_with("20"), "{cells:?}");
    assert_eq!(cells[10..], ["bob", "get", &path, "default", "a", "v1", "configmaps", ""], "{cells:?}");
}

/// A long list takes several seats while it is made, and a write several while many watches are told.
#[tokio::test]
async fn what_is_much_work_takes_several_seats() {
    let (server, _silent) = undecided().await;
    let admin = server.admin();
    divert(&admin, 10, &json!({"type": "Reject"})).await;
    for index in 0..310 {
        admin.post(CONFIG_MAPS, &config_map(&format!("m{index}"), "1")).await.expect(201);
    }
    let now = version(&admin.get(CONFIG_MAPS).await.expect(200)).to_owned();
    let mut watches = Vec::new();
    for _ in 0..20 {
        watches.push(admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={now}")).await);
    }
    let one = format!("{CONFIG_MAPS}/m0");
    for (method, path, body, first, lasts) in [
        (Method::GET, one.as_str(), None, "1", false),
        (Method::GET, CONFIG_MAPS, None, "4", false),
        (Method::PUT, one.as_str(), Some(config_map("m0", "2")), "1", true),
    ] {
        let row = row_of_bob(&server, method.clone(), path, body).await;
        assert_eq!([&row[0], &row[6]], ["own", first], "{method} {path}: {row:?}");
        // Controllers watch too, so there may be more seats than for these watches.
        let last: u32 = row[7].parse().unwrap();
        assert_eq!((last >= 2, row[8] != "0s"), (lasts, lasts), "{method} {path}: {row:?}");
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

/// The body of a write is not read before its turn comes.
#[tokio::test]
async fn a_write_waits_for_its_turn_before_its_body_is_read() {
    let server = TestServer::options().flag("--request-timeout=8s").start().await;
    let queuing = json!({"queues": 8, "handSize": 2, "queueLengthLimit": 10});
    divert(&server.admin(), 0, &json!({"type": "Queue", "queuing": queuing})).await;
    let mut stream = connect(&server).await;
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer tok-bob\r\n\
         content-type: application/json\r\ncontent-length: 100000\r\n\r\n"
    );
    let began = Instant::now();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read_buf(&mut answer)).await;
        assert!(read.expect("an answer comes without the body").unwrap() > 0);
    }
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 429 ") && answer.contains("retry-after: 1\r\n"), "{answer}");
    assert!(began.elapsed() >= Duration::from_secs(2), "it waited for its turn");
}

/// The seats that each level has now, the fewest, the most, and those that its shares give it.
async fn limits(admin: &Client) -> BTreeMap<String, [f64; 4]> {
    let metrics = admin.get("/metrics").await.text();
    let mut limits: BTreeMap<String, [f64; 4]> = BTreeMap::new();
    for (place, name) in ["current", "lower", "upper", "nominal"].into_iter().enumerate() {
        let start = format!("apiserver_flowcontrol_{name}_limit_seats{{priority_level=\"");
        for line in metrics.lines().filter_map(|line| line.strip_prefix(&start)) {
            let (level, value) = line.split_once("\"} ").unwrap();
            limits.entry(level.to_owned()).or_default()[place] = value.parse().unwrap();
        }
    }
    limits
}

/// At first a level has half of what it may lend. When levels lend, which is every ten seconds, all seats are
/// given out.
#[tokio::test]
async fn levels_lend_their_seats_again_and_again() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let start = Instant::now();
    let all = loop {
        let limits = limits(&admin).await;
        let sum = |place: usize| limits.values().map(|limits| limits[place]).sum::<f64>();
        let (current, nominal, rounding) = (sum(0), sum(3), limits.len() as f64);
        assert!(nominal >= 600.0 && current <= nominal + rounding, "{limits:?}");
        if current >= nominal - rounding {
            break limits;
        }
        assert!(start.elapsed() < Duration::from_mins(1), "{limits:?}");
        tokio::time::sleep(Duration::from_millis(250)).await;
    };
    for (level, [current, lower, upper, _]) in &all {
        assert!(level == "exempt" || (lower..=upper).contains(&current), "{level}: {all:?}");
    }
}

#[tokio::test]
async fn without_fairness_there_are_plain_limits() {
    let options = TestServer::options().flag("--enable-priority-and-fairness=false");
    let options = options.flag("--max-requests-inflight=1").flag("--authorization-mode=AlwaysAllow");
    let server = options.start().await;
    let (admin, carol) = (server.admin(), server.user("carol"));
    let answer = carol.get("/version").await;
    assert_eq!((answer.status, answer.header("x-orch-pf-flowschema-uid")), (200, ""));
    assert_eq!(admin.get(&format!("{DUMPS}/dump_queues")).await.status, 404);
    let (waiting, refused) = loop {
        // A version that is never reached: the server waits for it for three seconds.
        let bob = server.user("bob");
        let waiting =
            tokio::spawn(
                async move { bob.get(&format!("{CONFIG_MAPS}/a?resourceVersion=999999")).await.status },
            );
        tokio::time::sleep(Duration::from_millis(500)).await;
        let answer = carol.get("/version").await;
        if answer.status == 429 {
            break (waiting, answer);
        }
        // The machine was too busy for the first request to come first.
        waiting.await.unwrap();
    };
    is_refused(&refused);
    assert_eq!(refused.header("retry-after"), "1");
    // Watches and those who look after the server are not limited, and writes have a limit of their own.
    drop(carol.watch(&format!("{CONFIG_MAPS}?watch=1")).await);
    assert_eq!(admin.get("/version").await.status, 200);
    carol.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    assert_eq!(waiting.await.unwrap(), 504);
    assert_eq!(carol.get("/version").await.status, 200);
    let metrics = admin.get("/metrics").await.text();
    let mut lines = metrics.lines();
    assert!(
        lines.any(|line| line.starts_with("apiserver_request_terminations_total{code=\"429\"")),
        "{metrics}"
    );
}
