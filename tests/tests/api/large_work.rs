//! Large requests beside small ones: they run on threads of their own, so that everybody else is answered,
//! and deadlines and signals hold.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use orch_api::core::v1::POD_TYPE;
use orch_machinery::protobuf;
use orch_tests::{
    TestServer,
    client::Client,
    objects::{CONFIG_MAPS, config_map},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const PODS: &str = "/api/v1/namespaces/default/pods";

/// What a probe may take beside large requests, when the machine does nothing else.
const PROMPT: Duration = Duration::from_millis(50);

/// A pod with many containers, near the limits of what is read: it takes a while, and is refused.
fn large_pod() -> Bytes {
    let containers: Value = (0..6_000).map(|n| json!({"name": format!("c{n}"), "image": "i"})).collect();
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": containers}});
    pod.to_string().into()
}

/// Bodies that make much work, each with its media type. All but the first are small.
fn bodies() -> [(&'static str, Bytes); 4] {
    let empty: Value = (0..6_000).map(|_| json!({})).collect();
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": empty}});
    let message = protobuf::encode(&pod, &POD_TYPE, "v1", "Pod").unwrap();
    // No more aliases of an anchor than a reader of YAML takes for honest.
    let anchor = |n: usize| format!("&a{n} {{name: a, image: i}}, {}", format!("*a{n}, ").repeat(9));
    let containers: String = (0..600).map(anchor).collect();
    let yaml = format!("metadata: {{name: a}}\nspec:\n  containers: [{containers}]\n");
    [
        ("application/json", large_pod()),
        ("application/json", pod.to_string().into()),
        ("application/yaml", yaml.into()),
        ("application/vnd.kubernetes.protobuf", message.into()),
    ]
}

/// Sends large requests one after the other, until the answer is not that of a server that goes on.
fn send_large_ones(client: Client, media_type: &'static str, body: Bytes) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            let request = client.request(Method::POST, PODS).body(media_type, body.clone());
            match request.patience(Duration::from_mins(2)).try_send().await {
                Ok(answer) if matches!(answer.status, 201 | 409 | 413 | 422) => {}
                _ => return,
            }
        }
    })
}

/// Probes a server that is busy, and in turn one that is idle. Fails where one in twenty answers of the busy
/// one is late. The processors are shared: with the large requests themselves, and with other processes. What
/// that costs a probe shows at the idle server, which has the same machine; so a busy one may take 50 ms, and
/// twice what the idle one takes. Where large requests run on the threads of connections, nearly every probe
/// takes as long as one of them, which is seconds in a build without optimizations.
async fn probes_are_prompt(busy: &TestServer, idle: &TestServer, beside: &str) {
    const PROBES: usize = 60;
    let probes = [busy.admin(), idle.admin()];
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..PROBES {
        for (probe, times) in probes.iter().zip(&mut times) {
            let started = Instant::now();
            assert_eq!(probe.get("/livez").await.text(), "ok");
            times.push(started.elapsed());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let [busy, idle] = times.map(|mut times| {
        times.sort();
        times[PROBES * 19 / 20 - 1]
    });
    assert!(busy < PROMPT + 2 * idle, "{busy:?} beside {beside}, {idle:?} on an idle server");
}

#[tokio::test]
async fn probes_are_answered_beside_writes_that_make_much_work() {
    let idle = TestServer::start().await;
    for (media_type, body) in bodies() {
        let mut server = TestServer::start().await;
        let writers: Vec<_> =
            (0..4).map(|_| send_large_ones(server.admin(), media_type, body.clone())).collect();
        tokio::time::sleep(Duration::from_millis(300)).await;
        probes_are_prompt(&server, &idle, &format!("{} bytes of {media_type}", body.len())).await;
        assert!(writers.iter().all(|writer| !writer.is_finished()), "{media_type}: not all are answered");
        server.kill().await;
    }
}

/// A config map with many entries, near the limit of what is stored.
fn large_map() -> Value {
    let mut object = config_map("large", "");
    let entries = (0..20_000).map(|n| (format!("k{n}"), json!("x".repeat(50))));
    object["data"] = entries.collect::<serde_json::Map<_, _>>().into();
    object
}

/// Sends a request again and again, until the answer is not that of a server that goes on.
fn repeat(
    client: Client,
    method: Method,
    path: String,
    accept: &'static str,
    body: Option<(&'static str, Bytes)>,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            let mut request = client.request(method.clone(), &path).header("accept", accept);
            if let Some((media_type, body)) = &body {
                request = request.body(media_type, body.clone());
            }
            match request.patience(Duration::from_mins(2)).try_send().await {
                Ok(answer) if matches!(answer.status, 200 | 201 | 409) => {}
                _ => return,
            }
        }
    })
}

/// A pod that runs, and a large disruption budget in its namespace, which covers others.
async fn running_pod_beside_a_large_budget(client: &Client) {
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let mut pod = client.post(PODS, &pod).await.expect(201);
    pod["status"]["phase"] = "Running".into();
    client.put(&format!("{PODS}/p/status"), &pod).await.expect(200);
    let entries = (0..5_000).map(|n| (format!("k{n}"), json!("x".repeat(30))));
    let budget = json!({
        "metadata": {"name": "b", "annotations": entries.collect::<serde_json::Map<_, _>>()},
        "spec": {"selector": {"matchLabels": {"app": "other"}}, "maxUnavailable": 1},
    });
    client.post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", &budget).await.expect(201);
}

/// What clients ask for beside writes that create: of objects that are large already, and of the server
/// itself.
#[tokio::test]
async fn probes_are_answered_beside_updates_and_reviews() {
    const JSON: &str = "application/json";
    let item = format!("{CONFIG_MAPS}/large");
    let many: Value = (0..60_000).map(|n| json!(format!("group{n}"))).collect();
    let access = json!({"spec": {"user": "u", "groups": many,
        "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}});
    let token = json!({"spec": {"token": "x".repeat(100_000), "audiences": many}});
    let labels = json!({"metadata": {"labels": {"a": "b"}}, "data": {"k7": "y"}});
    let (all, evictions) = (format!("{CONFIG_MAPS}?dryRun=All"), format!("{PODS}/p/eviction?dryRun=All"));
    let idle = TestServer::start().await;
    for (method, path, media_type, body) in [
        (Method::PUT, &*item, JSON, large_map()),
        (Method::PATCH, &item, "application/strategic-merge-patch+json", labels.clone()),
        (Method::PATCH, &item, "application/merge-patch+json", labels),
        (Method::POST, "/apis/authorization.orch.io/v1/subjectaccessreviews", JSON, access),
        (Method::POST, "/apis/authentication.orch.io/v1/tokenreviews", JSON, token),
        (Method::DELETE, &all, JSON, json!({})),
        (Method::POST, &evictions, JSON, json!({"metadata": {"name": "p"}})),
    ] {
        let mut server = TestServer::start().await;
        server.admin().post(CONFIG_MAPS, &large_map()).await.expect(201);
        running_pod_beside_a_large_budget(&server.admin()).await;
        let body = Bytes::from(body.to_string());
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let body = Some((media_type, body.clone()));
                repeat(server.admin(), method.clone(), path.to_owned(), JSON, body)
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(300)).await;
        probes_are_prompt(&server, &idle, &format!("{method} {path}")).await;
        assert!(writers.iter().all(|writer| !writer.is_finished()), "{method} {path}: not all are answered");
        server.kill().await;
    }
}

/// An object that is asked for as it is stored costs nothing; in every other form it is written anew: alone,
/// in a list, and in each watch that begins with it.
#[tokio::test]
async fn probes_are_answered_beside_reads_of_a_large_object_in_other_forms() {
    const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
    const WATCH: &str = "?watch=true&timeoutSeconds=1";
    let idle = TestServer::start().await;
    for (query, accept) in [
        ("/large", "application/yaml"),
        ("/large?pretty=true", "application/json"),
        ("/large", PROTOBUF),
        ("", "application/yaml"),
        ("?pretty=true", "application/json"),
        ("", PROTOBUF),
        (WATCH, "application/json"),
        (WATCH, PROTOBUF),
        (WATCH, "application/json;as=Table;v=v1;g=meta.k8s.io"),
        (WATCH, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"),
    ] {
        let mut server = TestServer::start().await;
        let admin = server.admin();
        admin.post(CONFIG_MAPS, &large_map()).await.expect(201);
        let (clients, is_watch) = (if query == WATCH { 12 } else { 50 }, query == WATCH);
        let readers: Vec<_> = (0..clients)
            .map(|_| repeat(server.admin(), Method::GET, format!("{CONFIG_MAPS}{query}"), accept, None))
            .collect();
        // Watches are told of changes too.
        let change = Bytes::from_static(br#"{"data":{"k7":"y","k8":null}}"#);
        let writer = is_watch.then(|| {
            let body = Some(("application/merge-patch+json", change));
            repeat(server.admin(), Method::PATCH, format!("{CONFIG_MAPS}/large"), "application/json", body)
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        probes_are_prompt(&server, &idle, &format!("reads as {accept}{query}")).await;
        let all = readers.iter().chain(&writer);
        assert!(all.into_iter().all(|client| !client.is_finished()), "{accept}: not all are answered");
        server.kill().await;
    }
}

#[tokio::test]
async fn a_deadline_holds_while_a_large_write_runs() {
    let server = TestServer::start().await;
    let writers: Vec<_> =
        (0..3).map(|_| send_large_ones(server.admin(), "application/json", large_pod())).collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let started = Instant::now();
    let path = format!("{PODS}?timeout=1ms");
    let answer =
        server.admin().request(Method::POST, &path).body("application/json", large_pod()).send().await;
    assert_eq!(answer.status, 504, "{}", answer.text());
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    writers.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn a_signal_is_obeyed_while_large_writes_run() {
    let mut server = TestServer::options().flag("--shutdown-grace-period=1s").start().await;
    let writers: Vec<_> =
        (0..4).map(|_| send_large_ones(server.admin(), "application/json", large_pod())).collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let started = Instant::now();
    assert!(server.stop().await.success(), "{}", server.log());
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    writers.iter().for_each(JoinHandle::abort);
}

/// Small requests that read something large: a pod gets what its account has for it.
#[tokio::test]
async fn probes_are_answered_beside_pods_of_a_large_account() {
    let idle = TestServer::start().await;
    let flag = "--enable-admission-plugins=ServiceAccount";
    let mut server = TestServer::options().publish_authority().flag(flag).start().await;
    let secrets: Value = (0..20_000).map(|n| json!({"name": format!("s{n}")})).collect();
    let account = json!({"metadata": {"name": "large"}, "imagePullSecrets": secrets});
    server.admin().post("/api/v1/namespaces/default/serviceaccounts", &account).await.expect(201);
    let spec = json!({"serviceAccountName": "large", "containers": [{"name": "c", "image": "i"}]});
    let pod = Bytes::from(json!({"metadata": {"name": "p"}, "spec": spec}).to_string());
    let path = format!("{PODS}?dryRun=All");
    let body = Some(("application/json", pod));
    let writers: Vec<_> = (0..4)
        .map(|_| repeat(server.admin(), Method::POST, path.clone(), "application/json", body.clone()))
        .collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    probes_are_prompt(&server, &idle, "pods of a large account").await;
    assert!(writers.iter().all(|writer| !writer.is_finished()), "not all are answered");
    server.kill().await;
}

/// A large write loses each race against small ones of the same object. It ends with a conflict, and others
/// have turns meanwhile.
#[tokio::test]
async fn a_write_that_loses_races_keeps_nobody_from_large_requests() {
    let server = TestServer::options().flag("--authorization-mode=AlwaysAllow").start().await;
    let (bob, carol) = (server.user("bob"), server.user("carol"));
    let item = format!("{CONFIG_MAPS}/a");
    bob.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let patch = |body: Value| Some(("application/merge-patch+json", Bytes::from(body.to_string())));
    // Each of these changes what the other one has written.
    let racers = ["x", "y"].map(|value| {
        let small = patch(json!({"data": {"k": value}}));
        repeat(server.user("bob"), Method::PATCH, item.clone(), "application/json", small)
    });
    let large = patch(large_map());
    let loser = repeat(server.user("bob"), Method::PATCH, item.clone(), "application/json", large);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let started = Instant::now();
    carol.post(CONFIG_MAPS, &large_map()).await.expect(201);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    racers.iter().chain([&loser]).for_each(JoinHandle::abort);
}
