//! Power cuts: a server that is being written to is killed at random moments, over and over.
//!
//! After every restart all acknowledged writes must be there, and a watch that is resumed from the last
//! version it saw must tell every write once, in order. A write that was under way at the power cut has
//! happened as a whole or not at all. `ORCH_TEST_SEED` repeats a run.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]
#![allow(clippy::similar_names, reason = "a list, a lost one and the last one are what tests talk about")]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::Method;
use orch_tests::{
    Client, TestServer,
    client::Next,
    objects::{CONFIG_MAPS, config_map, name, version},
    seed,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::Value;
use tokio::sync::Notify;

/// The number of power cuts.
const ROUNDS: usize = 50;

/// How many clients write at a time.
const WRITERS: usize = 6;

/// Objects that each of them owns.
const OBJECTS: usize = 3;

/// A round's server is killed after some number of acknowledged writes up to this, and a moment later.
const MAX_WRITES: usize = 60;

/// How long after that moment at most.
const MAX_MOMENT: Duration = Duration::from_millis(3);

/// How long a test waits for an event that must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a write did, as its event tells it: values are unique, so that each event has one write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// The object has this value now.
    Set(String),
    /// The object that had this value is gone.
    Removed(String),
}

/// What one client knows.
struct Writer {
    number: usize,
    random: StdRng,
    /// The value of each of its objects that exists.
    objects: BTreeMap<String, String>,
    writes: usize,
    /// Acknowledged writes, in order; with their versions where the answer tells one.
    acknowledged: Vec<(Change, Option<u64>)>,
    /// Writes whose answer was lost with the power.
    unknown: BTreeSet<Change>,
    /// The object that the last of them was about.
    in_doubt: Option<(String, Change)>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_and_watches_resume() {
    let mut random = seed::generator("crash");
    let mut server = TestServer::start().await;
    let mut seen = Seen::begin(&server.admin()).await;
    let mut writers: Vec<Writer> = (0..WRITERS).map(|number| Writer::new(number, random.random())).collect();
    for round in 0..ROUNDS {
        let limit = random.random_range(1..=MAX_WRITES);
        let moment = MAX_MOMENT.mul_f64(random.random());
        let (returned, events) = power_cut(&mut server, writers, seen, limit, moment).await;
        (writers, seen) = (returned, events);
        server.restart().await;
        let state = state(&server.admin()).await;
        for writer in &mut writers {
            writer.settle(&state, round);
        }
    }
    let admin = server.admin();
    let last = admin.post(CONFIG_MAPS, &config_map("last", "last")).await.expect(201);
    seen.read_until(&admin, version(&last).parse().unwrap()).await;
    check(&writers, &seen);
    let writes: usize = writers.iter().map(|writer| writer.acknowledged.len()).sum();
    let unknown: usize = writers.iter().map(|writer| writer.unknown.len()).sum();
    println!(
        "{ROUNDS} rounds, {writes} writes acknowledged, {unknown} in doubt, {} events",
        seen.events.len()
    );
    assert!(writes > ROUNDS, "too little was written to mean anything");
}

/// Lets all write and one watch until the power cut.
async fn power_cut(
    server: &mut TestServer,
    writers: Vec<Writer>,
    mut seen: Seen,
    limit: usize,
    moment: Duration,
) -> (Vec<Writer>, Seen) {
    let progress = Arc::new(Progress { left: AtomicUsize::new(limit), reached: Notify::new() });
    let tasks: Vec<_> = writers
        .into_iter()
        .map(|writer| tokio::spawn(writer.write(server.admin(), Arc::clone(&progress))))
        .collect();
    let watching = tokio::spawn({
        let admin = server.admin();
        async move {
            seen.read_to_the_end(&admin).await;
            seen
        }
    });
    progress.reached.notified().await;
    tokio::time::sleep(moment).await;
    server.kill().await;
    let mut writers = Vec::new();
    for task in tasks {
        writers.push(task.await.expect("the writer does not panic"));
    }
    (writers, watching.await.expect("the watcher does not panic"))
}

/// Counts acknowledged writes of a round.
struct Progress {
    left: AtomicUsize,
    reached: Notify,
}

impl Progress {
    fn acknowledged(&self) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.reached.notify_one();
        }
    }
}

impl Writer {
    fn new(number: usize, seed: u64) -> Self {
        Writer {
            number,
            random: StdRng::seed_from_u64(seed),
            objects: BTreeMap::new(),
            writes: 0,
            acknowledged: Vec::new(),
            unknown: BTreeSet::new(),
            in_doubt: None,
        }
    }

    /// Writes until the server is gone.
    async fn write(mut self, admin: Client, progress: Arc<Progress>) -> Self {
        loop {
            self.writes += 1;
            let object = format!("w{}-{}", self.number, self.random.random_range(0..OBJECTS));
            let path = format!("{CONFIG_MAPS}/{object}");
            let value = format!("{object}.{}", self.writes);
            let existing = self.objects.get(&object);
            let (request, change) = match existing {
                None => {
                    let body = config_map(&object, &value);
                    (admin.request(Method::POST, CONFIG_MAPS).json(&body), Change::Set(value.clone()))
                }
                Some(_) if self.random.random_bool(0.7) => {
                    let body = config_map(&object, &value);
                    (admin.request(Method::PUT, &path).json(&body), Change::Set(value.clone()))
                }
                Some(old) => (admin.request(Method::DELETE, &path), Change::Removed(old.clone())),
            };
            let Ok(answer) = request.try_send().await else {
                self.unknown.insert(change.clone());
                self.in_doubt = Some((object, change));
                return self;
            };
            assert!([200, 201].contains(&answer.status), "{object}: {answer:?}");
            let version =
                answer.json()["metadata"]["resourceVersion"].as_str().map(|text| text.parse().unwrap());
            match &change {
                Change::Set(value) => self.objects.insert(object, value.clone()),
                Change::Removed(_) => self.objects.remove(&object),
            };
            self.acknowledged.push((change, version));
            progress.acknowledged();
        }
    }

    /// Compares what is there after a restart with what was acknowledged, and learns how the write in doubt
    /// ended.
    fn settle(&mut self, state: &BTreeMap<String, String>, round: usize) {
        let mine = format!("w{}-", self.number);
        let found: BTreeMap<String, String> = state
            .iter()
            .filter(|(name, _)| name.starts_with(&mine))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let mut other = self.objects.clone();
        if let Some((object, change)) = self.in_doubt.take() {
            match change {
                Change::Set(value) => other.insert(object, value),
                Change::Removed(_) => other.remove(&object),
            };
        }
        assert!(
            found == self.objects || found == other,
            "round {round}: writer {} finds {found:?}, expected {:?} or {other:?}",
            self.number,
            self.objects
        );
        self.objects = found;
    }
}

/// The name and the value of all that exists.
async fn state(admin: &Client) -> BTreeMap<String, String> {
    let list = admin.get(CONFIG_MAPS).await.expect(200);
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| (name(item).to_owned(), value(item))).collect()
}

fn value(object: &Value) -> String {
    object["data"]["value"].as_str().unwrap().to_owned()
}

/// What the one watch has seen, over all restarts.
struct Seen {
    version: u64,
    events: Vec<(u64, Change)>,
}

impl Seen {
    async fn begin(admin: &Client) -> Self {
        let list = admin.get(CONFIG_MAPS).await.expect(200);
        Seen { version: version(&list).parse().unwrap(), events: Vec::new() }
    }

    /// Reads events until the connection breaks.
    async fn read_to_the_end(&mut self, admin: &Client) {
        let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", self.version);
        let Ok(opened) = admin.request(Method::GET, &path).try_watch().await else {
            return;
        };
        let mut watch = opened.unwrap_or_else(|answer| panic!("the watch is refused: {answer:?}"));
        while let Next::Event(event) = watch.next(PATIENCE).await {
            self.take(&event);
        }
    }

    /// Reads events up to a version that exists.
    async fn read_until(&mut self, admin: &Client, last: u64) {
        let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", self.version)).await;
        while self.version < last {
            self.take(&watch.event().await);
        }
    }

    fn take(&mut self, event: &Value) {
        let object = &event["object"];
        let change = match event["type"].as_str().unwrap() {
            "ADDED" | "MODIFIED" => Change::Set(value(object)),
            "DELETED" => Change::Removed(value(object)),
            other => panic!("{other}: {event}"),
        };
        let version: u64 = version(object).parse().unwrap();
        assert!(version > self.version, "version {version} after {}", self.version);
        self.version = version;
        self.events.push((version, change));
    }
}

/// Every acknowledged write is an event, once and in its writer's order; every event is a write.
fn check(writers: &[Writer], seen: &Seen) {
    let mut places: BTreeMap<&Change, usize> = BTreeMap::new();
    for (place, (_, change)) in seen.events.iter().enumerate() {
        assert!(places.insert(change, place).is_none(), "{change:?} came twice");
    }
    let end = Change::Set("last".to_owned());
    let mut explained = BTreeSet::from([&end]);
    for writer in writers {
        let mut before = None;
        for (change, version) in &writer.acknowledged {
            let place =
                places.get(change).unwrap_or_else(|| panic!("{change:?} was acknowledged and never told"));
            assert!(before < Some(place), "{change:?} is told before what its writer did first");
            before = Some(place);
            if let Some(version) = version {
                assert_eq!(seen.events[*place].0, *version, "{change:?}");
            }
            explained.insert(change);
        }
        explained.extend(&writer.unknown);
    }
    let invented: Vec<_> = places.keys().filter(|change| !explained.contains(**change)).collect();
    assert!(invented.is_empty(), "events without a write: {invented:?}");
}
