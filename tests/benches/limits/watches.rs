//! Watches: how long it takes from a write to its delivery to many, what each delivery costs, and what idle
//! ones cost.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use http_body_util::{BodyExt, Full};
use orch_tests::{
    TestServer,
    client::{Connection, Protocol, connect, tls_config},
    objects::{CONFIG_MAPS, config_map, version},
};
use serde_json::json;
use tokio::{sync::oneshot, task::JoinSet};

use super::{
    heard::Heard,
    listener::Listener,
    process,
    report::{Report, Wanted},
};

/// Watches on one connection.
const STREAMS: usize = 100;

/// Clients that write, each to an object of its own.
const WRITERS: usize = 8;

/// Watches that hear every write.
const WATCHERS: usize = 1000;

/// Writes per second, and how long.
const RATES: &[u64] = &[20, 50, 100, 200, 300, 400, 500, 700, 1000];
const TIME: Duration = Duration::from_secs(4);

/// Milliseconds within which 99 of 100 deliveries are wanted; at 1,000 writes a second where the machine can
/// deliver that many events at all, else at the highest rate that it can.
const PROMPT: f64 = 5.0;
const WANTED_RATE: u64 = 1000;

/// A delivery that is later than this says that the machine can do no more.
const OVERLOAD: f64 = 250.0;

/// Watches that hear nothing.
const IDLE: usize = 10_000;

/// From a write to its delivery, at growing rates, until the machine can do no more.
pub async fn latency(report: &mut Report) {
    let epoch = Instant::now();
    let server = TestServer::start().await;
    prepare(&server).await;
    let heard = watch(&server, WATCHERS, epoch).await;
    let (mut expected, mut prompt) = (0, 0);
    for &rate in RATES {
        let (cpu, stolen) = (process::cpu_seconds(server.pid()), process::stolen_seconds());
        let began = Instant::now();
        let mut answers = write(&server, rate, rate * TIME.as_secs(), epoch).await;
        let events = (answers.len() * WATCHERS) as u64;
        expected += events;
        assert!(heard.wait(expected).await, "events are missing");
        let took = began.elapsed().as_secs_f64();
        let cpu = (process::cpu_seconds(server.pid()) - cpu) * 1e6 / events as f64;
        let stolen = (process::stolen_seconds() - stolen) / took;
        let mut latencies = heard.take_latencies();
        let (high, throughput) = (quantile(&mut latencies, 0.99), events as f64 / took);
        if high <= PROMPT {
            prompt = rate;
        }
        let keeps_up = throughput >= 0.95 * (WANTED_RATE * WATCHERS as u64) as f64;
        report.latency(
            &format!("write to {WATCHERS} deliveries, {rate}/s"),
            high,
            if keeps_up { Wanted::AtMost(PROMPT) } else { Wanted::Unlimited },
            format!(
                "p99; p50 {:.1} ms; {throughput:.0} events/s; {cpu:.1} us of processor each; writes answered in p99 {:.1} ms, \
                 p50 {:.1} ms; {stolen:.2} of a processor stolen by the host",
                quantile(&mut latencies, 0.5),
                quantile(&mut answers, 0.99),
                quantile(&mut answers, 0.5),
            ),
        );
        if high > OVERLOAD {
            break;
        }
    }
    report.count("highest rate with p99 <= 5 ms, writes/s", prompt as f64, Wanted::Unlimited);
}

/// What watches cost that have nothing to do.
pub async fn idle(report: &mut Report) {
    let server = TestServer::start().await;
    prepare(&server).await;
    // The first watches also pay for what all share.
    let _first = watch(&server, STREAMS, Instant::now()).await;
    let before = process::resident_bytes(server.pid());
    let _rest = watch(&server, IDLE, Instant::now()).await;
    let extra = process::resident_bytes(server.pid()) - before;
    report.size("10,000 idle watches", extra, Wanted::AtMost(50e6 / 1024.0 / 1024.0));
}

/// Makes an object for each writer.
pub async fn prepare(server: &TestServer) {
    for writer in 0..WRITERS {
        server.admin().post(CONFIG_MAPS, &config_map(&format!("o{writer}"), "0")).await.expect(201);
    }
}

/// Opens watches, many on each connection; when it returns, all of them run.
pub async fn watch(server: &TestServer, count: usize, epoch: Instant) -> Arc<Heard> {
    let heard = Arc::new(Heard::default());
    let list = server.admin().get(&format!("{CONFIG_MAPS}?limit=1")).await.expect(200);
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&list));
    let tls = tls_config(&server.kubeconfig().certificate_authority, None, Protocol::Http2);
    let (address, shared) = (server.address(), Arc::clone(&heard));
    let (ready, running) = oneshot::channel();
    // On a thread of their own, so that they do not keep the writers from writing in time.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime can be made").block_on(async {
            let mut listening = JoinSet::new();
            for first in (0..count).step_by(STREAMS) {
                let watches = STREAMS.min(count - first);
                let listener = Listener::open(address, Arc::clone(&tls), &path, watches).await;
                listening.spawn(listener.listen(Arc::clone(&shared), epoch));
            }
            ready.send(()).expect("somebody waits");
            listening.join_all().await;
        });
    });
    running.await.expect("all watches begin");
    heard
}

/// Writes at this rate, in all, for so many writes; returns how many milliseconds each was answered after.
pub async fn write(server: &TestServer, rate: u64, count: u64, epoch: Instant) -> Vec<f64> {
    let mut writers = Vec::new();
    for writer in 0..WRITERS as u64 {
        let mut connection = connection(server, Protocol::Http1).await;
        writers.push(tokio::spawn(async move {
            let began = Instant::now();
            let path = format!("{CONFIG_MAPS}/o{writer}");
            let mut answers = Vec::new();
            for number in (writer..count).step_by(WRITERS) {
                let due = Duration::from_secs_f64(number as f64 / rate as f64);
                tokio::time::sleep_until((began + due).into()).await;
                let sent_at = Instant::now();
                let change = json!({"data": {"value": format!("@{}", epoch.elapsed().as_micros())}});
                let body = Full::new(Bytes::from(change.to_string()));
                let sent = connection.send(Method::PATCH, &path, headers(), body).await;
                let response = sent.expect("the write succeeds");
                assert_eq!(response.status(), 200);
                response.into_body().collect().await.expect("the answer is whole");
                answers.push(sent_at.elapsed().as_secs_f64() * 1e3);
            }
            answers
        }));
    }
    let mut answers = Vec::new();
    for writer in writers {
        answers.append(&mut writer.await.expect("no write fails"));
    }
    answers
}

/// What this share of the values is not above.
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share) as usize]
}

async fn connection(server: &TestServer, protocol: Protocol) -> Connection {
    let tls = tls_config(&server.kubeconfig().certificate_authority, None, protocol);
    connect(server.address(), tls, protocol).await.expect("the server listens")
}

fn headers() -> HeaderMap {
    HeaderMap::from_iter([
        (header::AUTHORIZATION, HeaderValue::from_static("Bearer tok-admin")),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/merge-patch+json")),
    ])
}
