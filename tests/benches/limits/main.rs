//! The server beside what the machine can do at best, measured in one run, in turns.
//!
//! `cargo bench -p orch-tests` prints a table of ratios and sizes with the wanted values beside them. With
//! `-- --check` it fails where one is missed; `-- --only=reads` (or `access`, `fairness`, `audit`,
//! `lists`, `versions`, `watches`, `creates`, `starts`, `garbage`, `namespaces`, `kinds`, `rollout`, `mixed`,
//! `instructions`, `etcd`) measures a part. Bare numbers mean little on a machine that others use too: look
//! at the ratios.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use http::Request;
use orch_apiserver::{Server, config::Config};
use orch_tests::{
    TestServer,
    client::Protocol,
    objects::{CONFIG_MAPS, NAMESPACES, config_map, namespace},
};

mod access;
mod audit;
mod bare;
mod counted;
mod daemon_set;
mod etcd;
mod fairness;
mod garbage;
mod heard;
mod inserts;
mod instructions;
mod kinds;
mod listener;
mod lists;
mod load;
#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../../../server/storage-etcd/tests/etcd/member.rs"]
mod member;
mod mixed;
mod namespaces;
mod ownership;
mod process;
mod report;
mod rollout;
mod side_by_side;
mod transactions;
mod watches;
mod writes;

use bare::BareServer;
use load::{Load, get};
use report::{Report, Wanted};

/// The bare handler has the server's allocator too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Turns of each side, and how long each is.
const TURNS: usize = 8;
const TURN: Duration = Duration::from_secs(1);

/// Objects in the list that is read, and bytes of the value of each.
const LISTED: usize = 500;
const VALUE_BYTES: usize = 1024;

/// Where new objects go: not where lists are read.
const COLLECTION: &str = "/api/v1/namespaces/bench/configmaps";

/// Connections that read, and that write.
const READERS: usize = 8;
const WRITERS: usize = 32;

/// Objects in the database that is started from.
const MANY: usize = 100_000;

/// How often a start is measured.
const STARTS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    if let Some(("bare", directory)) = arguments.first().and_then(|argument| argument.split_once('=')) {
        runtime.block_on(bare::serve(directory.as_ref()));
        return ExitCode::SUCCESS;
    }
    if let Some(("work", work)) = arguments.first().and_then(|argument| argument.split_once('=')) {
        ownership::work(work);
        return ExitCode::SUCCESS;
    }
    let mut report = Report::default();
    let only = arguments.iter().find_map(|argument| argument.strip_prefix("--only="));
    runtime.block_on(measure(&mut report, only));
    print!("{report}");
    let check = arguments.iter().any(|argument| argument == "--check");
    if check && !report.holds() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

async fn measure(report: &mut Report, only: Option<&str>) {
    let wanted = |part| only.is_none_or(|only| only == part);
    match process::server_binary_bytes() {
        // 25 MB.
        Some(bytes) => report.size("binary", bytes, Wanted::AtMost(23.84)),
        None => println!("SKIPPED: the size of the binary, which `cargo build --release` makes"),
    }
    if wanted("starts") {
        starts_empty(report).await;
        starts_in_process(report).await;
    }
    if wanted("reads") {
        reads(report).await;
    }
    if wanted("access") {
        access::measure(report).await;
    }
    if wanted("fairness") {
        fairness::measure(report).await;
    }
    if wanted("audit") {
        audit::measure(report).await;
    }
    if wanted("lists") {
        lists::memory(report).await;
        lists::selectors(report).await;
    }
    if wanted("versions") {
        lists::versions(report).await;
    }
    if wanted("watches") {
        watches::latency(report).await;
        watches::idle(report).await;
    }
    if wanted("creates") {
        creates(report).await;
    }
    if wanted("starts") {
        starts_full(report).await;
    }
    if wanted("garbage") {
        garbage::measure(report).await;
    }
    if wanted("namespaces") {
        namespaces::measure(report).await;
    }
    if wanted("kinds") {
        kinds::memory(report).await;
    }
    if wanted("rollout") {
        rollout::measure(report).await;
    }
    if wanted("mixed") {
        mixed::measure(report).await;
    }
    if wanted("instructions") {
        instructions::count(report).await;
    }
    if wanted("etcd") {
        etcd::measure(report).await;
    }
}

/// Start to ready on an empty directory, and memory when nothing has been asked of it but that.
async fn starts_empty(report: &mut Report) {
    let mut times = Vec::new();
    let mut memory = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let server = TestServer::start().await;
        assert_eq!(server.admin().get("/readyz").await.status, 200);
        times.push(began.elapsed());
        memory.push(process::resident_bytes(server.pid()));
    }
    report.time("start to ready, empty", report::median(&mut times), Wanted::AtMost(150.0));
    report.size("idle memory, empty", report::median(&mut memory), Wanted::AtMost(25.0));
}

/// Start to the first answer of a server in this process, as tests of controllers have it.
async fn starts_in_process(report: &mut Report) {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let config = Config::from_flags(["--vocabulary=orch"], orch_api::VOCABULARIES).expect("it is right");
        let server = Server::builder(config).resources(orch_api::registry().iter().copied());
        let plane = server.in_process().await.expect("it starts");
        let client = kube::Client::new(plane.service(), "default");
        let request = Request::get("/readyz").body(Vec::new()).expect("it is a request");
        assert_eq!(client.request_text(request).await.expect("it answers"), "ok");
        times.push(began.elapsed());
        plane.stop().await.expect("it ends as it should");
    }
    report.time("start to ready, in this process", report::median(&mut times), Wanted::AtMost(100.0));
}

/// GET of one object and LIST of many, beside a handler that returns the same bytes.
async fn reads(report: &mut Report) {
    let server = TestServer::start().await;
    let admin = server.admin();
    let value = "x".repeat(VALUE_BYTES);
    for index in 0..LISTED {
        admin.post(CONFIG_MAPS, &config_map(&format!("object-{index:05}"), &value)).await.expect(201);
    }
    let item = format!("{CONFIG_MAPS}/object-00250");
    let bare = BareServer::start(&server, &[&item, CONFIG_MAPS]).await;
    for (what, path, protocol, wanted) in [
        ("GET one object", item.as_str(), Protocol::Http1, 0.85),
        ("LIST 500 x 1 KiB", CONFIG_MAPS, Protocol::Http1, 0.85),
        ("GET one object, HTTP/2", item.as_str(), Protocol::Http2, 0.70),
    ] {
        let ours = Load::open(&server, server.address(), protocol, READERS).await;
        let limit = Load::open(&server, bare.address(), protocol, READERS).await;
        let (mut measured, mut best) = (Vec::new(), Vec::new());
        let cpu = process::cpu_seconds(server.pid());
        for turn in 0..=TURNS {
            let (a, b) = (ours.run(TURN, get(path)).await, limit.run(TURN, get(path)).await);
            // The first turn warms up.
            if turn > 0 {
                measured.push(a);
                best.push(b);
            }
        }
        let cpu = (process::cpu_seconds(server.pid()) - cpu) / ours.answers() as f64;
        report.ratio(what, "bare handler", &measured, &best, cpu, Wanted::AtLeast(wanted));
    }
}

/// Durable CREATE, beside raw inserts of the same bytes in batches of as many, and beside a handler that does
/// the same inserts for as many clients and knows nothing of objects.
async fn creates(report: &mut Report) {
    let (server, writers, template) = writing().await;
    let stored = {
        let admin = server.admin();
        admin.post(CONFIG_MAPS, &config_map("sample", &"x".repeat(VALUE_BYTES))).await.expect(201);
        admin.get(&format!("{CONFIG_MAPS}/sample")).await.body
    };
    let mut raw = inserts::Inserts::open(server.scratch_dir(), WRITERS).await;
    let bare = BareServer::start(&server, &[]).await;
    let strangers = Load::open(&server, bare.address(), Protocol::Http1, WRITERS).await;
    let (ours, same) = (
        load::create(COLLECTION, &template),
        load::create(COLLECTION, &String::from_utf8_lossy(&stored).replace("sample", "NAME")),
    );
    let (mut measured, mut inserted, mut handled) = (Vec::new(), Vec::new(), Vec::new());
    let cpu = process::cpu_seconds(server.pid());
    for turn in 0..=TURNS {
        let (a, b, c) = (
            writers.run(TURN, ours.clone()).await,
            raw.run(&stored, TURN).await,
            strangers.run(TURN, same.clone()).await,
        );
        if turn > 0 {
            measured.push(a);
            inserted.push(b);
            handled.push(c);
        }
    }
    let cpu = (process::cpu_seconds(server.pid()) - cpu) / writers.answers() as f64;
    let what = "CREATE, 32 connections, durable";
    report.ratio(what, "raw inserts", &measured, &inserted, cpu, Wanted::AtLeast(0.40));
    report.ratio("the same", "a bare handler that inserts", &measured, &handled, cpu, Wanted::Unlimited);
}

/// A server to write to, open connections to it, and what they write.
async fn writing() -> (TestServer, Load, String) {
    let server = TestServer::start().await;
    server.admin().post(NAMESPACES, &namespace("bench")).await.expect(201);
    let writers = Load::open(&server, server.address(), Protocol::Http1, WRITERS).await;
    let template = config_map("NAME", &"x".repeat(VALUE_BYTES)).to_string();
    (server, writers, template)
}

/// Start to ready on a full database, and memory then.
async fn starts_full(report: &mut Report) {
    let (mut server, writers, template) = writing().await;
    writers.send(MANY, load::create(COLLECTION, &template)).await;
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
    report.time("start to ready, 100,000 objects", report::median(&mut times), Wanted::AtMost(2000.0));
    report.size("memory after it", report::median(&mut memory), Wanted::Unlimited);
}
