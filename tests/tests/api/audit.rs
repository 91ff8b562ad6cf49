//! Audit: what is recorded of requests, whatever becomes of them, and what happens when it cannot be.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use orch_auth::service_account::{BoundObject, Grant, Keys, SigningKey, TokenConfig, TokenIssuer};
use orch_tests::{
    TestServer,
    client::Protocol,
    objects::{CONFIG_MAPS, SECRETS, config_map, name},
    server::ServerOptions,
    skip::skipped,
};
use rustls_pki_types::{PrivateKeyDer, pem::PemObject as _};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

use crate::{fairness::divert, restart::hang_up};

/// A server that records, and its log.
pub struct Audited {
    pub server: TestServer,
    pub directory: TempDir,
}

/// A policy with these rules, as YAML.
fn write_policy(directory: &Path, suffix: &str, rules: &str) -> PathBuf {
    let file = directory.join("policy.yaml");
    fs::write(&file, format!("apiVersion: audit.{suffix}/v1\nkind: Policy\nrules:\n{rules}")).unwrap();
    file
}

impl Audited {
    pub async fn start(rules: &str, options: ServerOptions) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let policy = write_policy(directory.path(), "orch.io", rules);
        let server = options
            .flag(format!("--audit-policy-file={}", policy.display()))
            .flag(format!("--audit-log-path={}", directory.path().join("audit.log").display()))
            .start()
            .await;
        Audited { server, directory }
    }

    pub fn events(&self) -> Vec<Value> {
        events(&self.directory.path().join("audit.log"))
    }

    /// The events whose URI contains a text.
    pub fn about(&self, uri: &str) -> Vec<Value> {
        let is_about = |event: &Value| event["requestURI"].as_str().unwrap().contains(uri);
        self.events().into_iter().filter(is_about).collect()
    }

    /// Waits for the event that completes a request.
    pub async fn completed(&self, uri: &str) -> Value {
        let start = Instant::now();
        loop {
            let mut found = self.about(uri);
            found.retain(|event| event["stage"] == "ResponseComplete");
            if let Some(event) = found.pop() {
                return event;
            }
            assert!(start.elapsed() < Duration::from_secs(30), "{:?}", self.about(uri));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn events(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    // A line may be on its way to the file.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

fn stages(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["stage"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_request_is_recorded_with_all_that_is_known() {
    let audited = Audited::start("- level: RequestResponse\n", TestServer::options()).await;
    let admin = audited.server.admin();
    let request = admin.request(http::Method::POST, &format!("{CONFIG_MAPS}?fieldManager=me"));
    let request = request.json(&config_map("a", "1")).header("user-agent", "test/1");
    let answer = request.header("audit-id", "my-id").send().await;
    let created = answer.expect(201);
    // Requests wait for the log, so the events are there when the answer is.
    let events = audited.about("fieldManager=me");
    assert_eq!(stages(&events), ["RequestReceived", "ResponseComplete"]);
    let (first, last) = (&events[0], &events[1]);
    for event in &events {
        assert_eq!(event["kind"], "Event");
        assert_eq!(event["apiVersion"], "audit.orch.io/v1");
        assert_eq!(event["level"], "RequestResponse");
        assert_eq!(event["auditID"], "my-id");
        assert_eq!(event["requestURI"], format!("{CONFIG_MAPS}?fieldManager=me"));
        assert_eq!(event["verb"], "create");
        let groups = json!(["system:masters", "system:authenticated"]);
        assert_eq!(event["user"], json!({"username": "admin", "uid": "admin", "groups": groups}));
        assert_eq!(event["sourceIPs"], json!(["127.0.0.1"]));
        assert_eq!(event["userAgent"], "test/1");
    }
    let object = json!({"resource": "configmaps", "namespace": "default", "apiVersion": "v1"});
    assert_eq!(first["objectRef"], object);
    assert_eq!(first.get("responseStatus"), None);
    assert_eq!(last["objectRef"]["name"], "a");
    assert_eq!(last["responseStatus"], json!({"metadata": {}, "code": 201}));
    assert_eq!(last["requestObject"], config_map("a", "1"));
    assert_eq!(last["responseObject"], created);
    let annotations = &last["annotations"];
    assert_eq!(annotations["authorization.orch.io/decision"], "allow");
    assert!(annotations["authorization.orch.io/reason"].is_string());
    assert_eq!(annotations["authentication.orch.io/method"], "token-file");
    for time in ["requestReceivedTimestamp", "stageTimestamp"] {
        let text = last[time].as_str().unwrap();
        assert_eq!((text.len(), &text[19..20]), (27, "."), "{text}");
    }
    assert!(last["stageTimestamp"].as_str() >= last["requestReceivedTimestamp"].as_str());
}

#[tokio::test]
async fn every_refusal_is_recorded() {
    let audited = Audited::start("- level: Metadata\n", TestServer::options()).await;
    let server = &audited.server;
    server.without_credentials().with_token("wrong").get("/api/v1/nodes").await.refused(401, "Unauthorized");
    let event = audited.completed("/api/v1/nodes").await;
    assert_eq!(event["responseStatus"]["code"], 401);
    assert_eq!(event["responseStatus"]["reason"], "Unauthorized");
    assert_eq!(event["user"], json!({}));
    assert_eq!(event["annotations"]["authentication.orch.io/attempted"], "bearer");

    server.user("bob").get(SECRETS).await.refused(403, "Forbidden");
    let event = audited.completed(SECRETS).await;
    assert_eq!(event["responseStatus"]["code"], 403);
    assert_eq!(event["responseStatus"]["reason"], "Forbidden");
    assert_eq!(event["annotations"]["authorization.orch.io/decision"], "forbid");
    assert_eq!(event["user"]["username"], "bob");
    assert_eq!(event.get("responseObject"), None);

    let admin = server.admin();
    // A version that is never reached: the answer comes after three seconds, and says where they went.
    admin.get(&format!("{CONFIG_MAPS}/late?resourceVersion=999999")).await.refused(504, "Timeout");
    let annotations = &audited.completed("/late").await["annotations"];
    for stage in ["total", "authentication", "authorization", "handler"] {
        assert!(annotations[format!("apiserver.latency.orch.io/{stage}")].is_string(), "{annotations}");
    }
    admin.get(&format!("{CONFIG_MAPS}/none")).await.refused(404, "NotFound");
    assert_eq!(audited.completed("/none").await["responseStatus"]["reason"], "NotFound");
    let mut invalid = config_map("B A D", "1");
    admin.post(CONFIG_MAPS, &invalid).await.expect(422);
    let event = audited.completed(CONFIG_MAPS).await;
    assert_eq!(event["objectRef"]["name"], "B A D");
    let status = &event["responseStatus"];
    assert_eq!(status["reason"], "Invalid");
    // Where, but not what: that was sent.
    assert_eq!(status["details"]["causes"][0]["field"], "metadata.name");
    assert!(!status.to_string().contains("Invalid value"), "{status}");
    invalid["metadata"] = json!({"generateName": "made-"});
    let made = admin.post(CONFIG_MAPS, &invalid).await.expect(201);
    assert_eq!(audited.completed(CONFIG_MAPS).await["objectRef"]["name"], name(&made));
}

/// By a limit of the user, and because their turn does not come.
#[tokio::test]
async fn requests_that_are_too_many_are_recorded() {
    let options = TestServer::options().flag("--max-watches-per-user=1");
    let audited = Audited::start("- level: Metadata\n", options).await;
    let (admin, bob) = (audited.server.admin(), audited.server.user("bob"));
    let open = admin.watch(&format!("{CONFIG_MAPS}?watch=1")).await;
    admin.get(&format!("{CONFIG_MAPS}?watch=1&second=1")).await.refused(429, "TooManyRequests");
    let event = audited.completed("second=1").await;
    assert_eq!((&event["verb"], &event["responseStatus"]["code"]), (&json!("watch"), &json!(429)));
    assert_eq!(event["user"]["groups"][0], "system:masters", "{event}");
    drop(open);
    divert(&admin, 0, &json!({"type": "Reject"})).await;
    assert_eq!(bob.get("/version?turn=1").await.status, 429);
    let event = audited.completed("turn=1").await;
    assert_eq!((&event["user"]["username"], &event["responseStatus"]["code"]), (&json!("bob"), &json!(429)));
}

#[tokio::test]
async fn a_policy_chooses_levels_stages_and_fields() {
    let rules = "\
- {level: None, nonResourceURLs: ['/healthz*', /version]}
- {level: Metadata, resources: [{group: '', resources: [secrets]}], omitStages: [RequestReceived]}
- {level: Request, users: [admin], verbs: [delete]}
- {level: RequestResponse, users: [admin], omitStages: [RequestReceived], omitManagedFields: true}
";
    let audited = Audited::start(rules, TestServer::options()).await;
    let admin = audited.server.admin();
    admin.get("/healthz/ping").await;
    admin.get("/version").await;
    audited.server.user("bob").get(CONFIG_MAPS).await;
    assert_eq!(audited.events(), [Value::Null; 0]);

    let secret = json!({"metadata": {"name": "s"}, "stringData": {"password": "hush"}});
    admin.post(SECRETS, &secret).await.expect(201);
    assert_eq!(stages(&audited.about(SECRETS)), ["ResponseComplete"]);
    assert!(!fs::read_to_string(audited.directory.path().join("audit.log")).unwrap().contains("hush"));

    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    admin.merge(&format!("{CONFIG_MAPS}/a"), &json!({"data": {"value": "2"}})).await.expect(200);
    let patch = audited.completed("configmaps/a").await;
    assert_eq!(patch["requestObject"], json!({"data": {"value": "2"}}));
    assert_eq!(patch["responseObject"]["data"]["value"], "2");
    assert_eq!(patch["responseObject"]["metadata"].get("managedFields"), None);
    let list = admin.request(http::Method::GET, &format!("{CONFIG_MAPS}?limit=5"));
    list.header("accept", "application/yaml").send().await;
    let list = audited.completed("limit=5").await;
    assert_eq!(list["responseObject"]["kind"], "ConfigMapList");
    assert_eq!(list["responseObject"]["items"][0]["metadata"].get("managedFields"), None);
    let yaml = admin.request(http::Method::PUT, &format!("{CONFIG_MAPS}/a"));
    yaml.body("application/yaml", "metadata: {name: a}\ndata: {value: '3'}\n").send().await.expect(200);
    assert_eq!(audited.completed("configmaps/a").await["requestObject"]["data"], json!({"value": "3"}));

    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
    admin.request(http::Method::DELETE, &format!("{CONFIG_MAPS}/a")).json(&options).send().await.expect(200);
    let events = audited.about("configmaps/a");
    let delete = events.last().unwrap();
    assert_eq!((&delete["level"], &delete["verb"]), (&json!("Request"), &json!("delete")));
    assert_eq!(delete["requestObject"], options);
    assert_eq!(delete.get("responseObject"), None);
    assert_eq!(delete["responseStatus"]["status"], "Success");
    assert_eq!(delete["responseStatus"]["code"], 200);
}

#[tokio::test]
async fn a_watch_is_recorded_when_it_begins_and_when_it_ends() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let audited = Audited::start("- level: Metadata\n", TestServer::options()).await;
        let admin = audited.server.administrator_over(protocol);
        let watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1")).await;
        assert_eq!(stages(&audited.about("watch=1")), ["RequestReceived", "ResponseStarted"]);
        drop(watch);
        drop(admin);
        let event = audited.completed("watch=1").await;
        assert_eq!(event["verb"], "watch");
        assert_eq!(event["responseStatus"], json!({"metadata": {}, "code": 200}));
        let short = audited.server.admin();
        short.get(&format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=1")).await;
        audited.completed("timeoutSeconds=1").await;
        assert_eq!(audited.about("timeoutSeconds=1").len(), 3);
    }
}

#[tokio::test]
async fn a_client_that_leaves_is_recorded() {
    let audited = Audited::start("- level: Metadata\n", TestServer::options()).await;
    let admin = audited.server.admin();
    // A version that is never reached: the server waits for it for three seconds.
    let path = format!("{CONFIG_MAPS}?resourceVersion=999999&resourceVersionMatch=NotOlderThan");
    let request = tokio::spawn(async move { admin.get(&path).await.status });
    while audited.about("999999").is_empty() {
        assert!(!request.is_finished(), "it has not been seen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    request.abort();
    let event = audited.completed("999999").await;
    assert_eq!(
        event["responseStatus"],
        json!({"metadata": {}, "status": "Success", "message": "Connection closed early", "code": 200})
    );
}

#[tokio::test]
async fn a_server_of_the_other_vocabulary_spells_events_its_way() {
    let directory = tempfile::tempdir().unwrap();
    let rules = "- {level: Metadata, resources: [{group: rbac.authorization.k8s.io}]}\n";
    let policy = write_policy(directory.path(), "k8s.io", rules);
    let log = directory.path().join("logs/audit.log");
    let server = TestServer::options()
        .vocabulary("kubernetes")
        .flag(format!("--audit-policy-file={}", policy.display()))
        .flag(format!("--audit-log-path={}", log.display()))
        .start()
        .await;
    server.admin().get("/apis/rbac.authorization.k8s.io/v1/clusterroles/view").await.expect(200);
    let events = events(&log);
    assert_eq!(stages(&events), ["RequestReceived", "ResponseComplete"]);
    assert_eq!(events[1]["apiVersion"], "audit.k8s.io/v1");
    assert_eq!(events[1]["annotations"]["authorization.k8s.io/decision"], "allow");
    assert_eq!(events[1]["objectRef"]["apiGroup"], "rbac.authorization.k8s.io");
}

#[tokio::test]
async fn a_wrong_policy_ends_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let policy = write_policy(directory.path(), "orch.io", "- {level: Metadata}\n- {level: Some}\n");
    for (file, expected) in [
        (policy, ":5:11: level must be one of \"None\", \"Metadata\", \"Request\", \"RequestResponse\""),
        (directory.path().join("none"), "cannot read "),
    ] {
        let mut command = TestServer::command();
        command
            .arg(format!("--audit-policy-file={}", file.display()))
            .args(["--audit-log-path=-", "--secure-port=0", "--data-dir"])
            .arg(directory.path().join("data"))
            .stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        // The server ends with its input.
        let input = process.stdin.take();
        let output = process.wait_with_output().await.unwrap();
        drop(input);
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("--audit-policy-file: ") && message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn without_a_policy_nothing_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("audit.log");
    let server = TestServer::options().flag(format!("--audit-log-path={}", log.display())).start().await;
    server.admin().get(CONFIG_MAPS).await.expect(200);
    assert!(!log.exists());
    assert!(server.log().contains("nothing is audited without --audit-policy-file"), "{}", server.log());
}

/// A full disk: the server goes on, and counts what it lost. Where requests must be recorded, it refuses
/// them.
#[tokio::test]
async fn a_full_disk_loses_events_or_refuses_requests() {
    const FULL: &str = "/dev/full";
    if !Path::new(FULL).exists() {
        skipped("a full disk for the audit log", "there is no /dev/full");
        return;
    }
    for (mode, code) in [("batch", 200), ("blocking", 200), ("blocking-strict", 500)] {
        let directory = tempfile::tempdir().unwrap();
        let rules = "- {level: None, nonResourceURLs: [/metrics]}\n- level: Metadata\n";
        let policy = write_policy(directory.path(), "orch.io", rules);
        let server = TestServer::options()
            .flag(format!("--audit-policy-file={}", policy.display()))
            .flag(format!("--audit-log-path={FULL}"))
            .flag(format!("--audit-log-mode={mode}"))
            .start()
            .await;
        let admin = server.admin();
        let answer = admin.get(CONFIG_MAPS).await;
        assert_eq!(answer.status, code, "{mode}: {answer:?}");
        if code == 500 {
            assert!(answer.text().contains("failed to store audit event"), "{answer:?}");
        }
        let start = Instant::now();
        loop {
            let metrics = admin.get("/metrics").await.text();
            let lost = r#"apiserver_audit_error_total{plugin="log"} 2"#;
            let rejected = format!("apiserver_audit_requests_rejected_total {}", u8::from(code == 500));
            if metrics.contains(lost) && metrics.contains(&rejected) {
                assert!(metrics.contains(r#"apiserver_audit_level_total{level="Metadata"} 1"#), "{metrics}");
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(30), "{mode}: {metrics}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        server.logged("audit events were lost").await;
    }
}

#[tokio::test]
async fn a_webhook_is_sent_lists_and_gets_the_rest_at_the_end() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (seen, mut lists) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, seen.clone(), Duration::ZERO));
        }
    });
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = write_kubeconfig(directory.path(), address);
    let rules = "- {level: Metadata, verbs: [list], omitStages: [RequestReceived]}\n";
    let policy = write_policy(directory.path(), "orch.io", rules);
    let mut server = TestServer::options()
        .flag(format!("--audit-policy-file={}", policy.display()))
        .flag(format!("--audit-webhook-config-file={}", kubeconfig.display()))
        .flag("--audit-webhook-batch-max-size=3")
        .start()
        .await;
    let admin = server.admin();
    for _ in 0..4 {
        admin.get(CONFIG_MAPS).await.expect(200);
    }
    let list: Value = lists.recv().await.unwrap();
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("EventList"), &json!("audit.orch.io/v1")));
    assert_eq!(list["items"].as_array().unwrap().len(), 3);
    assert_eq!(list["items"][2]["responseStatus"]["code"], 200);
    drop(admin);
    assert!(server.stop().await.success());
    let list: Value = lists.recv().await.unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

/// A kubeconfig file for a webhook at this address.
fn write_kubeconfig(directory: &Path, address: SocketAddr) -> PathBuf {
    let file = directory.join("webhook.kubeconfig");
    let text = format!(
        "contexts: [{{name: c, context: {{cluster: k}}}}]\n\
         clusters: [{{name: k, cluster: {{server: 'http://{address}/audit'}}}}]\n"
    );
    fs::write(&file, text).unwrap();
    file
}

/// The wait for audit is told as what it is, and sends nobody to look for it in authentication.
#[tokio::test]
async fn a_slow_webhook_is_told_as_audit() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (seen, mut lists) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, seen.clone(), Duration::from_millis(700)));
        }
    });
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = write_kubeconfig(directory.path(), address);
    let policy = write_policy(directory.path(), "orch.io", "- {level: Metadata, verbs: [get]}\n");
    let server = TestServer::options()
        .flag(format!("--audit-policy-file={}", policy.display()))
        .flag(format!("--audit-webhook-config-file={}", kubeconfig.display()))
        .flag("--audit-webhook-mode=blocking")
        .start()
        .await;
    server.admin().get(&format!("{CONFIG_MAPS}/slow")).await.expect(404);
    server.logged("a slow request").await;
    let text = server.log();
    let slow = text.lines().find(|line| line.contains("a slow request") && line.contains("/slow"));
    let slow = slow.unwrap_or_else(|| panic!("{text}"));
    assert!(slow.contains(", audit "), "{slow}");
    let completed = loop {
        let list: Value = lists.recv().await.unwrap();
        let event = list["items"][0].clone();
        if event["stage"] == "ResponseComplete" && event["requestURI"].as_str().unwrap().ends_with("/slow") {
            break event;
        }
    };
    let milliseconds = |stage: &str| -> f64 {
        let text = &completed["annotations"][format!("apiserver.latency.orch.io/{stage}")];
        let text = text.as_str().unwrap_or_else(|| panic!("{completed}"));
        let units = [("ms", 1.0), ("µs", 0.001), ("ns", 0.000_001), ("s", 1000.0)];
        let (number, unit) =
            units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit))).unwrap();
        number.parse::<f64>().unwrap() * unit
    };
    assert!(milliseconds("audit") >= 690.0, "{completed}");
    assert!(milliseconds("authentication") < 690.0, "{completed}");
}

#[tokio::test]
async fn a_log_that_was_moved_away_is_left_at_a_signal() {
    let audited = Audited::start("- {level: Metadata, verbs: [get]}\n", TestServer::options()).await;
    let (log, moved) = (audited.directory.path().join("audit.log"), audited.directory.path().join("moved"));
    let admin = audited.server.admin();
    admin.get(&format!("{CONFIG_MAPS}/before")).await.expect(404);
    fs::rename(&log, &moved).unwrap();
    hang_up(&audited.server);
    audited.server.logged("the audit log is opened again").await;
    admin.get(&format!("{CONFIG_MAPS}/after")).await.expect(404);
    let uris = |file: &Path| -> Vec<String> {
        let events = events(file).into_iter().filter(|event| event["stage"] == "ResponseComplete");
        events.map(|event| event["requestURI"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(uris(&moved), [format!("{CONFIG_MAPS}/before")]);
    assert_eq!(uris(&log), [format!("{CONFIG_MAPS}/after")]);
}

/// Answers each list after a pause.
async fn answer(mut stream: TcpStream, seen: mpsc::UnboundedSender<Value>, pause: Duration) {
    let mut read = String::new();
    loop {
        let mut piece = [0; 4096];
        let Ok(count @ 1..) = stream.read(&mut piece).await else { return };
        read.push_str(std::str::from_utf8(&piece[..count]).unwrap());
        let Some((_, body)) = read.split_once("\r\n\r\n") else { continue };
        let Ok(list) = serde_json::from_str(body) else { continue };
        tokio::time::sleep(pause).await;
        seen.send(list).unwrap();
        read.clear();
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.is_err() {
            return;
        }
    }
}

/// The example keeps bodies with credentials out, in both vocabularies.
#[tokio::test]
async fn the_example_policy_never_records_the_body_of_a_secret() {
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/audit-policy.yaml");
    for (vocabulary, domain) in [("orch", "orch.io"), ("kubernetes", "kubernetes.io")] {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("audit.log");
        let server = TestServer::options()
            .vocabulary(vocabulary)
            .flag(format!("--audit-policy-file={policy}"))
            .flag(format!("--audit-log-path={}", log.display()))
            .start()
            .await;
        let admin = server.admin();
        let secret = json!({"metadata": {"name": "s"}, "stringData": {"password": "hush"}});
        admin.post(SECRETS, &secret).await.expect(201);
        admin.merge(&format!("{SECRETS}/s"), &json!({"stringData": {"password": "hush"}})).await.expect(200);
        admin.get(&format!("{SECRETS}/s")).await.expect(200);
        // The client is told what is wrong with its body, the log is not.
        for wrong in [json!({"data": {"p": "hush!"}}), json!({"data": "hush"})] {
            let message = admin.merge(&format!("{SECRETS}/s"), &wrong).await.refused(422, "Invalid");
            assert!(message.contains("hush"), "{message}");
        }
        let accounts = "/api/v1/namespaces/default/serviceaccounts";
        admin.post(accounts, &json!({"metadata": {"name": "a"}})).await.expect(201);
        let token = admin.post(&format!("{accounts}/a/token"), &json!({"spec": {}})).await.expect(201);
        let token = token["status"]["token"].as_str().unwrap();
        // Questions about tokens, in either spelling.
        let suffixes = ["orch.io", "k8s.io"];
        for suffix in suffixes {
            let version = format!("authentication.{suffix}/v1");
            let review = json!({"apiVersion": version, "kind": "TokenReview", "spec": {"token": token}});
            let answer = admin.post(&format!("/apis/{version}/tokenreviews"), &review).await.expect(201);
            assert_eq!(answer["status"]["authenticated"], true, "{answer}");
        }
        let text = fs::read_to_string(&log).unwrap();
        let issued = format!("authentication.{domain}/issued-credential-id\":\"JTI=");
        assert!(text.contains(&issued), "{text}");
        for secret in ["hush", "aHVzaA==", token] {
            assert!(!text.contains(secret), "{text}");
        }
        let events = events(&log);
        let levels: Vec<&Value> = events.iter().map(|event| &event["level"]).collect();
        let account = events.iter().find(|event| event["requestURI"] == accounts).unwrap();
        assert_eq!(account["level"], "Request", "{levels:?}");
        for suffix in suffixes {
            let uri = format!("/apis/authentication.{suffix}/v1/tokenreviews");
            let review = events.iter().find(|event| event["requestURI"] == uri).unwrap();
            assert_eq!(review["level"], "Metadata", "{vocabulary}: {review}");
        }
    }
}

#[tokio::test]
async fn a_token_that_should_have_been_renewed_is_told() {
    let audited = Audited::start("- level: Metadata\n", TestServer::options()).await;
    let (server, admin) = (&audited.server, audited.server.admin());
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}});
    let account = admin.post(accounts, &account).await.expect(201);
    // Such a token is an hour old at least, so it is made here, with the server's own key.
    let key = PrivateKeyDer::from_pem_file(server.data_dir().join("pki/service-account.key")).unwrap();
    let config = TokenConfig::default();
    let key = SigningKey::from_der(&key).unwrap();
    let issuer = TokenIssuer::new(Keys::new(key, Vec::new()), &config, &[], &orch_api::ORCH);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().cast_signed();
    let uid = account["metadata"]["uid"].as_str().unwrap().to_owned();
    let grant = Grant {
        id: Grant::new_id(),
        namespace: "default".to_owned(),
        account: BoundObject { name: "robot".to_owned(), uid },
        audiences: vec!["https://orch.default.svc".to_owned()],
        bound: None,
        node: None,
        issued: now - 4000,
        expires: now + 4000,
        warn_after: Some(now - 393),
    };
    let robot = server.without_credentials().with_token(&issuer.issue(&grant).unwrap());
    robot.get(&format!("{CONFIG_MAPS}?asked=late")).await.expect(403);
    let told =
        audited.completed("asked=late").await["annotations"]["authentication.orch.io/stale-token"].clone();
    let start = "subject: system:serviceaccount:default:robot, seconds after warning threshold: ";
    let seconds: u32 = told.as_str().unwrap().strip_prefix(start).unwrap().parse().unwrap();
    assert!((393..453).contains(&seconds), "{seconds}");
    // What is known of a token is kept for a while.
    robot.get(CONFIG_MAPS).await.expect(403);
    let metrics = admin.get("/metrics").await.text();
    for status in ["hit", "miss"] {
        let line = format!("authentication_token_cache_request_total{{status=\"{status}\"}} 1");
        assert!(metrics.lines().any(|found| found == line), "{metrics}");
    }
}
