//! A server over etcd, beside raw transactions on the same etcd, and beside a server over SQLite. Where etcd
//! is not installed, this says SKIPPED.

use std::time::{Duration, Instant};

use orch_tests::{
    TestServer,
    client::Protocol,
    objects::{CONFIG_MAPS, NAMESPACES, config_map, namespace},
};

use super::{
    COLLECTION, LISTED, MANY, READERS, STARTS, TURN, TURNS, VALUE_BYTES, WRITERS,
    load::{self, Load, get},
    member::Member,
    process,
    report::{Report, Wanted, median},
    transactions::Transactions,
    watches,
};

/// Watches that hear every write, and writes per second, which etcd makes beside them.
const WATCHERS: usize = 100;
const RATE: u64 = 200;
const TIME: Duration = Duration::from_secs(4);

/// How long a start with many objects may take, in milliseconds.
const START: f64 = 5000.0;

/// Each part has an etcd of its own.
pub async fn measure(report: &mut Report) {
    let Some(member) = Member::start_on_disk() else { return };
    creates(report, &member).await;
    drop(member);
    let Some(member) = Member::start_on_disk() else { return };
    reads(report, &member).await;
    watched(report, &member).await;
    drop(member);
    let Some(member) = Member::start_on_disk() else { return };
    starts(report, &member).await;
}

async fn over(member: &Member) -> TestServer {
    let options = TestServer::options().flag("--storage=etcd");
    options.flag(format!("--etcd-servers={}", member.url)).start().await
}

fn template() -> String {
    config_map("NAME", &"x".repeat(VALUE_BYTES)).to_string()
}

/// CREATE, beside raw transactions of the same bytes.
async fn creates(report: &mut Report, member: &Member) {
    let server = over(member).await;
    server.admin().post(NAMESPACES, &namespace("bench")).await.expect(201);
    server.admin().post(CONFIG_MAPS, &config_map("sample", &"x".repeat(VALUE_BYTES))).await.expect(201);
    let stored = server.admin().get(&format!("{CONFIG_MAPS}/sample")).await.body;
    let raw = Transactions::open(&member.url, WRITERS).await;
    let writers = Load::open(&server, server.address(), Protocol::Http1, WRITERS).await;
    let shape = load::create(COLLECTION, &template());
    let (mut measured, mut best) = (Vec::new(), Vec::new());
    let cpu = process::cpu_seconds(server.pid());
    for turn in 0..=TURNS {
        let (ours, limit) = (writers.run(TURN, shape.clone()).await, raw.run(&stored, TURN).await);
        // The first turn warms up.
        if turn > 0 {
            measured.push(ours);
            best.push(limit);
        }
    }
    let cpu = (process::cpu_seconds(server.pid()) - cpu) / writers.answers() as f64;
    let what = "CREATE over etcd, 32 connections";
    report.ratio(what, "raw transactions of one put", &measured, &best, cpu, Wanted::Unlimited);
}

/// GET and LIST, beside a server over SQLite: from memory, and of the newest state, for which etcd is asked.
async fn reads(report: &mut Report, member: &Member) {
    let servers = [over(member).await, TestServer::start().await];
    let value = "x".repeat(VALUE_BYTES);
    for server in &servers {
        for index in 0..LISTED {
            let object = config_map(&format!("object-{index:05}"), &value);
            server.admin().post(CONFIG_MAPS, &object).await.expect(201);
        }
    }
    let item = format!("{CONFIG_MAPS}/object-00250");
    for (what, path, query, wanted) in [
        ("GET over etcd, from memory", item.as_str(), "?resourceVersion=0", Wanted::AtLeast(0.9)),
        ("LIST over etcd, from memory", CONFIG_MAPS, "?resourceVersion=0", Wanted::AtLeast(0.9)),
        ("GET over etcd, the newest", item.as_str(), "", Wanted::Unlimited),
        ("LIST over etcd, the newest", CONFIG_MAPS, "", Wanted::Unlimited),
    ] {
        let shape = get(&format!("{path}{query}"));
        let ours = Load::open(&servers[0], servers[0].address(), Protocol::Http1, READERS).await;
        let other = Load::open(&servers[1], servers[1].address(), Protocol::Http1, READERS).await;
        let (mut measured, mut best) = (Vec::new(), Vec::new());
        let cpu = process::cpu_seconds(servers[0].pid());
        for turn in 0..=TURNS {
            let (a, b) = (ours.run(TURN, shape.clone()).await, other.run(TURN, shape.clone()).await);
            if turn > 0 {
                measured.push(a);
                best.push(b);
            }
        }
        let cpu = (process::cpu_seconds(servers[0].pid()) - cpu) / ours.answers() as f64;
        report.ratio(what, "a server over SQLite", &measured, &best, cpu, wanted);
    }
}

/// From a write to its delivery.
async fn watched(report: &mut Report, member: &Member) {
    let epoch = Instant::now();
    let server = TestServer::options().flag("--storage=etcd").flag("--etcd-prefix=/watched");
    let server = server.flag(format!("--etcd-servers={}", member.url)).start().await;
    watches::prepare(&server).await;
    let heard = watches::watch(&server, WATCHERS, epoch).await;
    let mut answers = watches::write(&server, RATE, RATE * TIME.as_secs(), epoch).await;
    assert!(heard.wait((answers.len() * WATCHERS) as u64).await, "events are missing");
    let mut latencies = heard.take_latencies();
    let detail = format!(
        "p99; p50 {:.1} ms; writes answered in p99 {:.1} ms",
        watches::quantile(&mut latencies, 0.5),
        watches::quantile(&mut answers, 0.99)
    );
    let what = format!("over etcd, write to {WATCHERS} deliveries, {RATE}/s");
    report.latency(&what, watches::quantile(&mut latencies, 0.99), Wanted::Unlimited, detail);
}

/// Start to ready with many objects, and memory then, beside a server over SQLite.
async fn starts(report: &mut Report, member: &Member) {
    let mut servers = [over(member).await, TestServer::start().await];
    let mut sizes = Vec::new();
    for (at, server) in servers.iter_mut().enumerate() {
        server.admin().post(NAMESPACES, &namespace("bench")).await.expect(201);
        let writers = Load::open(server, server.address(), Protocol::Http1, WRITERS).await;
        writers.send(MANY, load::create(COLLECTION, &template())).await;
        drop(writers);
        let (mut times, mut memory) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            assert!(server.stop().await.success());
            let began = Instant::now();
            server.restart().await;
            assert_eq!(server.admin().get("/readyz").await.status, 200);
            times.push(began.elapsed());
            memory.push(process::resident_bytes(server.pid()));
        }
        if at == 0 {
            let what = "start over etcd, 100,000 objects";
            report.time(what, median(&mut times), Wanted::AtMost(START));
        }
        sizes.push(median(&mut memory));
    }
    report.part("memory after it", sizes[0] / sizes[1], "that of a server over SQLite", Wanted::AtMost(1.2));
}
