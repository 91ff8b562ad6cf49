//! Three servers over three members of etcd are one server to clients that ask all of them at once, while
//! members and servers are killed and stopped, connections between them cut, silent and slow, clocks set,
//! etcd filled up, and history forgotten that a server has not seen.
//!
//! `ORCH_TEST_OPERATIONS=100000 cargo test -p orch-tests --test etcd linear` asks more often between faults.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use http::Method;
use orch_tests::{
    Client, TestServer,
    linear::{Answer, Call, Operation, violations},
    objects::{CONFIG_MAPS, config_map},
    seed,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::json;
use tokio::sync::watch;

use crate::{
    clock::Clocks,
    gateway,
    member::Member,
    proxy::{Mode, Proxy},
    told::{self, Told},
};

/// How many operations there are where `ORCH_TEST_OPERATIONS` does not say.
const OPERATIONS: u64 = 1000;
/// How many clients ask at the same time.
const CLIENTS: usize = 6;
/// How many operations an object gets, until the next one takes its turn.
const PER_OBJECT: u64 = 60;
/// How many faults there are at most, one after the other: each takes seconds, whatever the number of
/// operations.
const FAULTS: u64 = 60;
/// How many kinds of faults there are.
const KINDS: u32 = 11;
/// How large the files of a member may become: then etcd takes only removals, until somebody makes room.
const QUOTA: u64 = 48 << 20;
/// How far a clock jumps, in seconds.
const JUMP: i64 = 600;
/// How long servers keep history: longer than the test takes by any of their clocks, so that none of them
/// compacts etcd by itself.
const RETENTION: &str = "--history-retention=24h";
/// What a server says that compares its memory with all keys, because history is gone.
const OVERTAKEN: &str = "etcd has compacted history that was not read yet";
/// Longer than a server waits for etcd: it says itself that an outcome is unknown.
const PATIENCE: Duration = Duration::from_secs(15);

/// What there is to break.
struct World {
    members: Vec<Member>,
    servers: Vec<TestServer>,
    /// Of each server, those to all members.
    proxies: Vec<Vec<Proxy>>,
    /// Of the servers.
    clocks: Option<Clocks>,
    /// After which version, and up to which, a server may have been told differences alone: history was
    /// compacted while it was cut off.
    merged: Vec<(u64, u64)>,
}

impl World {
    async fn start() -> Option<Self> {
        let members = Member::start_cluster(3, &[&format!("--quota-backend-bytes={QUOTA}")])?;
        let mut proxies = Vec::new();
        for _ in 0..3 {
            proxies.push(join_all(members.iter().map(|member| Proxy::start(&member.url))).await);
        }
        let clocks = Clocks::find();
        let servers = join_all(proxies.iter().enumerate().map(|(index, proxies)| {
            let urls: Vec<&str> = (0..3).map(|at| proxies[(at + index) % 3].url.as_str()).collect();
            let options = TestServer::options().flag("--storage=etcd").flag("--etcd-prefix=/linear");
            let options = options.flag(RETENTION).flag(format!("--etcd-servers={}", urls.join(",")));
            match &clocks {
                Some(clocks) => clocks.give(index, options).start(),
                None => options.start(),
            }
        }));
        let servers = servers.await;
        Some(Self { members, servers, proxies, clocks, merged: Vec::new() })
    }

    /// Breaks something, and mends it.
    async fn fault(&mut self, random: &mut StdRng) {
        let at = random.random_range(0..3);
        let pause = Duration::from_millis(random.random_range(200..2500));
        let kind = random.random_range(0..KINDS);
        println!("fault {kind} at {at} for {pause:?}");
        match kind {
            0 => {
                self.members[at].kill();
                tokio::time::sleep(pause).await;
                self.members[at].restart();
            }
            1 => {
                self.members[at].pause(true);
                tokio::time::sleep(pause).await;
                self.members[at].pause(false);
            }
            2 => {
                self.servers[at].kill().await;
                tokio::time::sleep(pause).await;
                self.servers[at].restart().await;
            }
            3 => {
                self.servers[at].pause(true).await;
                tokio::time::sleep(pause).await;
                self.servers[at].pause(false).await;
            }
            4 => self.proxies[at].iter().for_each(Proxy::cut),
            5 | 6 => {
                let mode = if kind == 5 { Mode::Mute } else { Mode::Slow };
                self.proxies[at].iter().for_each(|proxy| proxy.set(mode));
                tokio::time::sleep(pause).await;
                self.proxies[at].iter().for_each(|proxy| proxy.set(Mode::Open));
            }
            7 => self.compact().await,
            8 => self.compact_unseen(at, pause).await,
            9 => gateway::fill(&self.members[at]).await,
            // It stays wrong until it jumps again.
            _ => {
                let jump = random.random_range(-JUMP..=JUMP);
                println!("the clock of server {at} is set to {jump:+} s");
                self.clocks.iter().for_each(|clocks| clocks.set(at, jump));
            }
        }
        tokio::time::sleep(pause / 4).await;
        self.make_room().await;
    }

    /// What an operator does who finds that etcd is full.
    async fn make_room(&self) {
        let full = gateway::alarms(&self.members[0], "NOSPACE").await;
        if full.is_empty() {
            return;
        }
        println!("{} members have no room", full.len());
        gateway::remove_below(&self.members[0], gateway::FILLED).await;
        self.compact().await;
        for member in &self.members {
            gateway::defragment(member).await;
        }
        for of in full {
            gateway::alarm(&self.members[0], false, &of, "NOSPACE").await;
        }
    }

    /// Forgets all history while one server does not see it.
    async fn compact_unseen(&mut self, at: usize, pause: Duration) {
        // Another server may have lost its connection too, and connect again after the compaction.
        let path = format!("{CONFIG_MAPS}?limit=1&resourceVersion=0");
        let mut seen = u64::MAX;
        for server in &self.servers {
            seen = seen.min(told::number(&server.admin().get(&path).await.expect(200)));
        }
        self.proxies[at].iter().for_each(|proxy| proxy.set(Mode::Cut));
        tokio::time::sleep(pause).await;
        let newest = gateway::revision(&self.members[at]).await;
        gateway::compact(&self.members[at], newest).await;
        self.merged.push((seen, newest));
        self.proxies[at].iter().for_each(|proxy| proxy.set(Mode::Open));
    }

    /// Forgets history that all servers have seen.
    async fn compact(&self) {
        let mut seen = Vec::new();
        for server in &self.servers {
            match server.admin().get(&format!("{CONFIG_MAPS}?limit=1")).await {
                answer if answer.status == 200 => seen.push(told::number(&answer.json())),
                _ => return,
            }
        }
        gateway::compact(&self.members[0], seen.into_iter().min().unwrap_or(1)).await;
    }
}

/// What clients share.
struct Shared {
    began: Instant,
    count: u64,
    next: AtomicU64,
    /// The newest version of an object that anybody has seen.
    versions: Mutex<HashMap<u64, u64>>,
    operations: Mutex<Vec<Operation>>,
}

impl Shared {
    fn now(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_those_of_one_server() {
    let Some(mut world) = World::start().await else { return };
    let mut random = seed::generator("faults");
    let count = std::env::var("ORCH_TEST_OPERATIONS").map(|text| text.parse().expect("it is a number"));
    let shared = Arc::new(Shared {
        began: Instant::now(),
        count: count.unwrap_or(OPERATIONS),
        next: AtomicU64::new(0),
        versions: Mutex::default(),
        operations: Mutex::default(),
    });
    let clients: Vec<Client> = world.servers.iter().map(TestServer::admin).collect();
    let begin = clients[0].get(CONFIG_MAPS).await.expect(200);
    let (end, ended) = watch::channel(None);
    let watching: Vec<_> = (0..3)
        .map(|first| tokio::spawn(told::follow(clients.clone(), first, told::number(&begin), ended.clone())))
        .collect();
    let asking: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let random = StdRng::seed_from_u64(random.random());
            tokio::spawn(ask_all(clients.clone(), Arc::clone(&shared), random))
        })
        .collect();
    let is_over = || asking.iter().all(tokio::task::JoinHandle::is_finished);
    for fault in 0..=FAULTS {
        while shared.next.load(Ordering::Relaxed) < fault * shared.count / FAULTS && !is_over() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if is_over() {
            break;
        }
        world.fault(&mut random).await;
    }
    join_all(asking).await.into_iter().for_each(|client| client.expect("no client panics"));
    let last = loop {
        let answer = clients[0].request(Method::POST, CONFIG_MAPS).json(&config_map("last", "0"));
        match answer.try_send().await {
            Ok(answer) if answer.status == 201 => break told::number(&answer.json()),
            _ => tokio::time::sleep(Duration::from_millis(100)).await,
        }
        let removed = clients[0].request(Method::DELETE, &format!("{CONFIG_MAPS}/last")).try_send().await;
        println!("the end is tried again: {:?}", removed.map(|answer| answer.status));
        world.make_room().await;
    };
    end.send_replace(Some(last));
    let mut told: Vec<Told> = Vec::new();
    for watch in watching {
        told.push(watch.await.expect("no watch panics"));
    }

    let operations = shared.operations.lock().expect("no holder panics").clone();
    let unknown = operations.iter().filter(|operation| operation.answer == Answer::Unknown).count();
    let took = shared.began.elapsed();
    println!("{} answers, {unknown} of them unknown, in {took:?}", operations.len());
    assert!(operations.len() as u64 > shared.count / 4, "most requests are answered");
    let found = violations(&operations);
    assert!(found.is_empty(), "{found:#?}");
    let overtaken: usize = world.servers.iter().map(|server| server.log().matches(OVERTAKEN).count()).sum();
    println!("{overtaken} times a server did not see what was forgotten: {:?}", world.merged);
    assert!(overtaken <= world.servers.len() * world.merged.len(), "somebody else has forgotten history");
    told::judge(&told, &operations, last, &world.merged);
}

async fn ask_all(clients: Vec<Client>, shared: Arc<Shared>, mut random: StdRng) {
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed) + 1;
        if number > shared.count {
            return;
        }
        let key = number / PER_OBJECT;
        let known = shared.versions.lock().expect("no holder panics").get(&key).copied();
        let call = match (random.random_range(0..10), known) {
            (0..4, _) => Call::Read,
            (4..6, _) | (_, None) => Call::Create(number),
            (6..9, Some(version)) => Call::Replace(version, number),
            (_, Some(version)) => Call::Remove(version),
        };
        let client = &clients[random.random_range(0..clients.len())];
        let start = shared.now();
        let answer = ask(client, key, call).await;
        let end = shared.now();
        let Some(answer) = answer else {
            // Nobody listens just now.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        if let Answer::Found(version, _) | Answer::Made(Some(version)) = answer {
            shared.versions.lock().expect("no holder panics").insert(key, version);
        }
        let operation = Operation { key, call, answer, start, end };
        shared.operations.lock().expect("no holder panics").push(operation);
    }
}

/// Asks once; none where it is certain that nothing was done, or where a read has no answer.
async fn ask(client: &Client, key: u64, call: Call) -> Option<Answer> {
    let (name, one) = (format!("k{key}"), format!("{CONFIG_MAPS}/k{key}"));
    let request = match call {
        Call::Read => client.request(Method::GET, &one),
        Call::Create(value) => {
            client.request(Method::POST, CONFIG_MAPS).json(&config_map(&name, &value.to_string()))
        }
        Call::Replace(expected, value) => {
            let mut object = config_map(&name, &value.to_string());
            object["metadata"]["resourceVersion"] = json!(expected.to_string());
            client.request(Method::PUT, &one).json(&object)
        }
        Call::Remove(expected) => {
            let options = json!({"preconditions": {"resourceVersion": expected.to_string()}});
            client.request(Method::DELETE, &one).json(&options)
        }
    };
    let is_read = call == Call::Read;
    let answer = match request.patience(PATIENCE).try_send().await {
        Ok(answer) => answer,
        Err(orch_tests::client::ClientError::Connect(_)) => return None,
        Err(_) => return (!is_read).then_some(Answer::Unknown),
    };
    match answer.status {
        200 if is_read => {
            let found = answer.json();
            let value = found["data"]["value"].as_str().and_then(|value| value.parse().ok());
            Some(Answer::Found(told::number(&found), value.expect("it is a number")))
        }
        200 | 201 if matches!(call, Call::Remove(_)) => Some(Answer::Made(None)),
        200 | 201 => Some(Answer::Made(Some(told::number(&answer.json())))),
        404 => Some(Answer::Missing),
        409 => Some(Answer::Conflict),
        // The way to etcd is cut, etcd has no room, or the server is about to end.
        429 | 503 | 507 => None,
        500 | 504 => (!is_read).then_some(Answer::Unknown),
        _ => panic!("{call:?}: {answer:?}"),
    }
}
