//! Large requests beside small ones: they run on threads of their own, so that everybody else is answered,
//! and deadlines and signals hold.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use orch_tests::{TestServer, client::Client};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";

/// A pod with many containers, near the limits of what is read: it takes a while, and is refused.
fn large_pod() -> Bytes {
    let containers: Value = (0..6_000).map(|n| json!({"name": format!("c{n}"), "image": "i"})).collect();
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": containers}});
    pod.to_string().into()
}

/// Sends large requests one after the other, until the answer is not that of a server that goes on.
fn send_large_ones(client: Client) -> tokio::task::JoinHandle<Vec<Duration>> {
    let body = large_pod();
    tokio::spawn(async move {
        let mut times = Vec::new();
        loop {
            let started = Instant::now();
            let request = client.request(Method::POST, PODS).body("application/json", body.clone());
            match request.patience(Duration::from_mins(2)).try_send().await {
                Ok(answer) if matches!(answer.status, 201 | 409 | 413 | 422) => times.push(started.elapsed()),
                _ => return times,
            }
        }
    })
}

#[tokio::test]
async fn probes_are_answered_beside_large_writes() {
    let mut server = TestServer::start().await;
    let writers: Vec<_> = (0..4).map(|_| send_large_ones(server.admin())).collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let probe = server.admin();
    let mut slow = Vec::new();
    for _ in 0..60 {
        let started = Instant::now();
        probe.get("/livez").await;
        slow.push(started.elapsed());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    slow.sort();
    server.kill().await;
    let mut large = Vec::new();
    for writer in writers {
        large.extend(writer.await.unwrap());
    }
    let shortest = large.iter().min().copied().unwrap_or(Duration::MAX);
    // Other processes share the machine, so that single answers may be late; most are not.
    let most = slow[slow.len() * 3 / 4];
    assert!(most < Duration::from_millis(50) || most < shortest / 4, "{most:?} beside {shortest:?}");
}

#[tokio::test]
async fn a_deadline_holds_while_a_large_write_runs() {
    let server = TestServer::start().await;
    let writers: Vec<_> = (0..3).map(|_| send_large_ones(server.admin())).collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let started = Instant::now();
    let path = format!("{PODS}?timeout=1ms");
    let answer =
        server.admin().request(Method::POST, &path).body("application/json", large_pod()).send().await;
    assert_eq!(answer.status, 504, "{}", answer.text());
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    writers.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_signal_is_obeyed_while_large_writes_run() {
    let mut server = TestServer::options().flag("--shutdown-grace-period=1s").start().await;
    let writers: Vec<_> = (0..4).map(|_| send_large_ones(server.admin())).collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let started = Instant::now();
    assert!(server.stop().await.success(), "{}", server.log());
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    writers.iter().for_each(tokio::task::JoinHandle::abort);
}
