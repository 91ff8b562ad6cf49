//! kill -9 of a writing process at random moments, 50 times over the same database: every write that it had
//! reported is there, in order; a watch from where the last round ended shows all of them without gap or
//! repetition.
//!
//! The test starts itself as the process to kill. It has no harness, so that the child runs nothing else.

#![expect(clippy::unwrap_used, reason = "a panic of a test is its report")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use orch_storage::{Body, Change, EventKind, Key, ResourceName, Revision, Scope, Storage, StoreError};
use orch_storage_sqlite::SqliteConfig;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const ROUNDS: u32 = 50;
const WRITERS: u32 = 8;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("write") => write_until_killed(Path::new(&arguments[2]), arguments[3].parse().unwrap()).await,
        Some("--list") => println!("kill: test"),
        _ => {
            kill_and_look().await;
            println!("killed {ROUNDS} times, lost nothing");
        }
    }
    ExitCode::SUCCESS
}

fn resource() -> ResourceName {
    ResourceName::new("configmaps")
}

/// A small log limit, so that copying it into the database happens as well.
fn config(path: &Path) -> SqliteConfig {
    SqliteConfig { checkpoint_bytes: 1 << 18, ..SqliteConfig::new(path, "orch") }
}

/// Writes as fast as it can, and reports each acknowledged write with one line.
async fn write_until_killed(path: &Path, seed: u64) {
    let storage = orch_storage_sqlite::open(config(path)).await.unwrap();
    for writer in 0..WRITERS {
        let storage = storage.clone();
        tokio::spawn(async move {
            let mut random = StdRng::seed_from_u64(seed.wrapping_add(u64::from(writer)));
            loop {
                let name = format!("w{writer}-{}", random.random_range(0..20));
                write_one(&storage, &name, &mut random).await;
            }
        });
    }
    std::future::pending::<()>().await;
}

async fn write_one(storage: &Storage, name: &str, random: &mut StdRng) {
    let key = Key::new(resource(), "default", name);
    let length = random.random_range(0..3000);
    let body = Body::new(format!("{} {}", random.random::<u64>(), "x".repeat(length)).into_bytes(), 0);
    let current = storage.snapshot(&resource()).get("default", name).map(|object| object.revision());
    let write = match current {
        None => Change::Create { key, body },
        Some(expected) if random.random_bool(0.2) => Change::Remove { key, expected, body },
        Some(expected) => Change::Replace { key, expected, body },
    };
    let kind = if matches!(write, Change::Remove { .. }) { EventKind::Remove } else { EventKind::Put };
    let committed = storage.commit(write).await.unwrap();
    let sum = crc32fast::hash(committed.object.value().unwrap());
    let line = format!("{} {kind:?} {name} {sum}\n", committed.revision);
    // One call: a line is in the pipe as a whole or not at all.
    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
}

async fn kill_and_look() {
    let seed = std::env::var("ORCH_TEST_SEED").map_or_else(|_| rand::random(), |text| text.parse().unwrap());
    println!("ORCH_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut looked_at = Revision::FIRST;
    let mut state: BTreeMap<String, (Revision, u32)> = BTreeMap::new();
    let mut total = 0;
    for round in 0..ROUNDS {
        let context = format!("seed {seed}, round {round}");
        let reported = kill_after(&path, random.random_range(1..400), random.random());
        total += reported.len();
        let storage = orch_storage_sqlite::open(config(&path)).await.unwrap();
        let events = read_events(&storage, looked_at, &mut state, &context).await;
        for (revision, line) in reported {
            assert_eq!(events.get(&revision), Some(&line), "{context}: an acknowledged write is lost");
        }
        looked_at = storage.current_revision();
        let snapshot = storage.snapshot(&resource());
        let shown = snapshot.iter().map(|object| {
            let sum = crc32fast::hash(object.value().unwrap());
            (object.key().name.to_string(), (object.revision(), sum))
        });
        assert_eq!(shown.collect::<BTreeMap<_, _>>(), state, "{context}: the state is that of the events");
        let report = storage.self_check().await.unwrap();
        assert!(report.is_clean(), "{context}: {report:?}");
        storage.shutdown().await.unwrap();
    }
    assert!(total > ROUNDS as usize, "seed {seed}: the processes wrote");
}

/// Runs a writing process and kills it when it has reported `count` writes. Returns all that it reported.
fn kill_after(path: &Path, count: usize, seed: u64) -> Vec<(u64, String)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["write", path.to_str().unwrap(), &seed.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut reported: Vec<String> = lines.by_ref().take(count).map(Result::unwrap).collect();
    assert_eq!(reported.len(), count, "the process ended by itself");
    child.kill().unwrap();
    reported.extend(lines.map_while(Result::ok));
    child.wait().unwrap();
    let with_revision = |line: String| (line.split(' ').next().unwrap().parse().unwrap(), line);
    reported.into_iter().map(with_revision).collect()
}

/// Follows all events after `seen`, applies them to `state`, and returns them as the process reports them.
async fn read_events(
    storage: &Storage,
    seen: Revision,
    state: &mut BTreeMap<String, (Revision, u32)>,
    context: &str,
) -> BTreeMap<u64, String> {
    let mut watch = storage.watch(&resource(), Scope::All, seen).unwrap();
    let mut told = BTreeMap::new();
    let mut newest = seen;
    while newest < storage.current_revision() {
        let events = match watch.next().await {
            Err(StoreError::Closed) => break,
            events => events.unwrap(),
        };
        for event in events {
            assert_eq!(event.revision(), newest.next(), "{context}: no gap, no repetition");
            newest = event.revision();
            let name = event.key().name.to_string();
            let sum = crc32fast::hash(event.object().value().unwrap());
            let previous = event.previous().map(|previous| previous.revision());
            assert_eq!(previous, state.get(&name).map(|(revision, _)| *revision), "{context}: {name}");
            match event.kind() {
                EventKind::Put => drop(state.insert(name.clone(), (newest, sum))),
                EventKind::Remove => drop(state.remove(&name)),
            }
            told.insert(newest.get(), format!("{newest} {:?} {name} {sum}", event.kind()));
        }
    }
    told
}
