//! A mixed load on a server as it is run: access by roles, priority and fairness, audit. Memory and files are
//! to stay as they are, however long it goes on, and reads are to stay fast.
//!
//! `ORCH_MIXED_MINUTES` says how long: one minute, unless it is set. What is said about memory and files
//! counts from [`SETTLED`] on, when history is full.
//!
//! How much is written in a minute differs on a shared machine, and with it how much history there is to
//! hold. So the most that was held in the last third is held against the most of the first one, and not two
//! moments.

use std::path::Path;
use std::time::{Duration, Instant};

use orch_tests::{
    TestServer,
    client::Protocol,
    objects::{CONFIG_MAPS, NAMESPACES, config_map, namespace},
};
use serde_json::json;
use tempfile::TempDir;

use super::{
    READERS, VALUE_BYTES, audit,
    bare::BareServer,
    load::{Load, Shape, create, get, replace},
    process,
    report::{Report, Wanted},
};

/// Who asks: a user whom no exempt level takes, and who may because of a role.
const BOB: &str = "Bearer tok-bob";
/// Objects that are replaced again and again, and how many are listed.
const OBJECTS: usize = 500;
/// Connections of each kind of work.
const WRITERS: usize = 4;
const LISTERS: usize = 2;
/// The work of one round, and the reads beside the bare handler after it.
const MIXED: Duration = Duration::from_secs(8);
const READING: Duration = Duration::from_secs(1);
/// From then on neither history nor the log of audit grows any more.
const SETTLED: Duration = Duration::from_mins(5);

const ITEM: &str = "/api/v1/namespaces/default/configmaps/object-00250";
const PASSING: &str = "/api/v1/namespaces/passing/configmaps";

/// Everything of this file.
pub async fn measure(report: &mut Report) {
    let time = Duration::from_secs_f64(60.0 * minutes());
    let (server, directory) = start().await;
    fill(&server).await;
    let bare = BareServer::start(&server, &[ITEM]).await;
    let open = |address, count| Load::open(&server, address, Protocol::Http1, count);
    let (readers, writers) = (open(server.address(), READERS).await, open(server.address(), WRITERS).await);
    let (listers, makers) = (open(server.address(), LISTERS).await, open(server.address(), 1).await);
    let limit = open(bare.address(), READERS).await;
    let read = get(ITEM).by(BOB);
    let (mut measured, mut best, mut held, mut busy) = (Vec::new(), Vec::new(), Vec::new(), 0.0);
    let began = Instant::now();
    let mut turn = 0;
    while began.elapsed() < time {
        let change = rewrite(turn % OBJECTS);
        tokio::join!(
            readers.run(MIXED, read.clone()),
            writers.run(MIXED, change),
            listers.run(MIXED, get(&format!("{CONFIG_MAPS}?limit=100")).by(BOB)),
            makers.run(MIXED, create(PASSING, &config_map("NAME", "short").to_string()).by(BOB)),
        );
        server.admin().delete(PASSING).await.expect(200);
        let cpu = process::cpu_seconds(server.pid());
        let before = readers.answers();
        measured.push(readers.run(READING, read.clone()).await);
        busy = (process::cpu_seconds(server.pid()) - cpu) / (readers.answers() - before) as f64;
        best.push(limit.run(READING, read.clone()).await);
        let files = bytes_in(&server.data_dir()) + bytes_in(directory.path());
        held.push((began.elapsed(), process::resident_bytes(server.pid()), files));
        turn += 1;
    }
    let what = "GET with access, fairness and audit";
    report.ratio(what, "bare handler", &measured, &best, busy, Wanted::AtLeast(0.85));
    flat(report, &held);
}

/// Holds the last third against the first one, both of the time when history was full; without such a time
/// the end is only shown.
fn flat(report: &mut Report, held: &[(Duration, f64, f64)]) {
    let Some((_, memory, files)) = held.last().copied() else { return };
    report.size("memory under mixed load", memory, Wanted::Unlimited);
    report.size("files under mixed load", files, Wanted::Unlimited);
    let full = &held[held.partition_point(|(since, ..)| *since <= SETTLED)..];
    let third = full.len() / 3;
    if third == 0 {
        return;
    }
    let (first, last) = (&full[..third], &full[full.len() - third..]);
    let most = |part: &[(Duration, f64, f64)], of: fn(&(Duration, f64, f64)) -> f64| {
        part.iter().map(of).fold(0.0, f64::max)
    };
    let minutes = first.last().map_or(0, |(since, ..)| since.as_secs() / 60);
    let of = format!("the most of the time until minute {minutes}");
    let memory = most(last, |held| held.1) / most(first, |held| held.1);
    report.part("most memory of the last third", memory, &of, Wanted::AtMost(1.15));
    let files = most(last, |held| held.2) / most(first, |held| held.2);
    report.part("most bytes of files of the last third", files, &of, Wanted::AtMost(1.15));
}

fn minutes() -> f64 {
    let minutes = std::env::var("ORCH_MIXED_MINUTES").unwrap_or_else(|_| "1".to_owned());
    minutes.parse().expect("ORCH_MIXED_MINUTES is a number")
}

/// A server that records by the policy that ships as an example.
async fn start() -> (TestServer, TempDir) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let options = audit::recording(TestServer::options(), directory.path());
    let server = options.flag("--history-retention=1m").start().await;
    (server, directory)
}

/// Objects, and the right to work with them.
async fn fill(server: &TestServer) {
    let admin = server.admin();
    admin.post(NAMESPACES, &namespace("passing")).await.expect(201);
    for index in 0..OBJECTS {
        let map = config_map(&format!("object-{index:05}"), &"x".repeat(VALUE_BYTES));
        admin.post(CONFIG_MAPS, &map).await.expect(201);
    }
    let binding = json!({
        "metadata": {"name": "editors"}, "subjects": [{"kind": "User", "name": "bob"}],
        "roleRef": {"kind": "ClusterRole", "name": "edit"},
    });
    admin.post("/apis/rbac.authorization.orch.io/v1/clusterrolebindings", &binding).await.expect(201);
}

/// A PUT that changes an object each time.
fn rewrite(index: usize) -> Shape {
    let name = format!("object-{index:05}");
    let value = "x".repeat(VALUE_BYTES);
    let mut map = config_map(&name, &value);
    map["data"]["turn"] = "NAME".into();
    replace(&format!("{CONFIG_MAPS}/{name}"), &map.to_string()).by(BOB)
}

/// The bytes of the files in a directory and below it.
fn bytes_in(directory: &Path) -> f64 {
    let entries = std::fs::read_dir(directory).expect("the directory is there").flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_in(&entry.path()),
        Ok(metadata) => metadata.len() as f64,
        // It was a temporary one.
        Err(_) => 0.0,
    });
    sizes.sum()
}
