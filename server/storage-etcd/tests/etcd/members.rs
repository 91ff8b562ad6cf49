//! Three members of etcd, of which one is killed or falls silent, and a slow way to them.

use std::time::{Duration, Instant};

use orch_storage::{Body, Change, Key, ResourceName, Scope, Storage, StoreError};
use orch_storage_etcd::EtcdConfig;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::member::Member;
use crate::proxy::{Mode, Proxy};
use crate::support::{config, prefix};

/// A member is silent for as long before another one is asked.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How long a cluster that has a majority may take until it takes writes again.
const PATIENCE: Duration = Duration::from_secs(30);

fn resource() -> ResourceName {
    ResourceName::new("configmaps")
}

async fn create(storage: &Storage, name: &str) -> Result<u64, StoreError> {
    let body = Body::new(format!("{name}@").into_bytes(), name.len() + 1);
    let change = Change::Create { key: Key::new(resource(), "ns", name), body };
    storage.commit(change).await.map(|committed| committed.revision.get())
}

/// Writes under new names until one is taken. Returns how long that took.
async fn create_some(storage: &Storage, name: &str) -> Duration {
    let began = Instant::now();
    for attempt in 0.. {
        let outcome = create(storage, &format!("{name}-{attempt}")).await;
        match outcome {
            Ok(_) => break,
            Err(StoreError::Unreachable { .. } | StoreError::Unknown { .. }) => {}
            Err(other) => panic!("{name}: {other}"),
        }
        assert!(began.elapsed() < PATIENCE, "{name}: {outcome:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    began.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_member_of_three_may_be_lost() {
    let Some(mut members) = Member::start_cluster(3, &[]) else { return };
    let prefix = prefix();
    let mut stores = Vec::new();
    for first in 0..3 {
        let servers = (0..3).map(|index| members[(first + index) % 3].url.clone()).collect();
        let config = EtcdConfig { servers, timeout: TIMEOUT, ..config(&members[0], &prefix) };
        stores.push(orch_storage_etcd::open(config).await.unwrap());
    }
    let mut watches: Vec<_> = stores
        .iter()
        .map(|storage| storage.watch(&resource(), Scope::All, storage.current_revision()).unwrap())
        .collect();
    let took = |what: &str, index: usize, took: Duration| println!("{what} of member {index}: {took:?}");
    for (index, member) in members.iter_mut().enumerate() {
        for is_killed in [true, false] {
            let what = if is_killed { "killed" } else { "silent" };
            if is_killed {
                member.kill();
            } else {
                member.pause(true);
            }
            for (which, storage) in stores.iter().enumerate() {
                took(what, index, create_some(storage, &format!("{what}-{index}-{which}")).await);
            }
            if is_killed {
                member.restart();
            } else {
                member.pause(false);
            }
        }
    }
    let last = loop {
        if let Ok(last) = create(&stores[0], "last").await {
            break last;
        }
    };
    let mut seen = Vec::new();
    for watch in &mut watches {
        let mut events: Vec<(u64, String)> = Vec::new();
        while events.last().is_none_or(|(revision, _)| *revision < last) {
            let next = timeout(PATIENCE, watch.next()).await.unwrap().unwrap();
            events.extend(next.iter().map(|event| (event.revision().get(), event.key().name.to_string())));
        }
        assert!(events.is_sorted_by(|one, next| one.0 < next.0), "{events:?}");
        seen.push(events);
    }
    assert!(seen.iter().all(|events| *events == seen[0]), "{seen:?}");
    let names: Vec<String> =
        stores[1].snapshot(&resource()).iter().map(|object| object.key().name.to_string()).collect();
    let mut told: Vec<&String> = seen[0].iter().map(|(_, name)| name).collect();
    told.sort_unstable();
    assert_eq!(told, names.iter().collect::<Vec<_>>());
}

/// Two of three members are gone: nothing is written, and memory is still read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_memory_is_read() {
    let Some(mut members) = Member::start_cluster(3, &[]) else { return };
    let servers = members.iter().map(|member| member.url.clone()).collect();
    let config = EtcdConfig { servers, timeout: TIMEOUT, ..config(&members[0], &prefix()) };
    let storage = orch_storage_etcd::open(config).await.unwrap();
    create(&storage, "before").await.unwrap();
    members[0].kill();
    members[2].kill();
    let refused = create(&storage, "between").await.unwrap_err();
    assert!(matches!(refused, StoreError::Unreachable { .. } | StoreError::Unknown { .. }), "{refused}");
    let refused = storage.barrier().await.unwrap_err();
    assert!(matches!(refused, StoreError::Unreachable { .. }), "{refused}");
    assert!(storage.snapshot(&resource()).get("ns", "before").is_some());
    // One more is a majority.
    members[0].restart();
    create_some(&storage, "after").await;
}

/// An address at which nobody answers who connects: the queue of its listener is full.
struct Unanswered {
    url: String,
    _listener: TcpListener,
    _queue: Vec<TcpStream>,
}

impl Unanswered {
    async fn start() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        while let Ok(stream) = timeout(Duration::from_millis(300), TcpStream::connect(address)).await {
            queue.push(stream.unwrap());
        }
        Self { url: format!("http://{address}"), _listener: listener, _queue: queue }
    }
}

/// All who wait for a connection wait for one search, and none longer than its own time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_that_drop_packets_are_waited_for_once() {
    const WRITERS: usize = 20;
    let Some(mut member) = Member::start() else { return };
    let unanswered = [Unanswered::start().await, Unanswered::start().await];
    let servers = vec![unanswered[0].url.clone(), member.url.clone(), unanswered[1].url.clone()];
    let config = EtcdConfig { servers, timeout: TIMEOUT, ..config(&member, &prefix()) };
    let began = Instant::now();
    let storage = orch_storage_etcd::open(config).await.unwrap();
    assert!(began.elapsed() < TIMEOUT, "the next member is tried soon: {:?}", began.elapsed());
    create(&storage, "before").await.unwrap();
    member.kill();
    let began = Instant::now();
    let mut writers = tokio::task::JoinSet::new();
    for index in 0..WRITERS {
        let storage = storage.clone();
        writers.spawn(async move { create(&storage, &format!("o{index}")).await.unwrap_err() });
    }
    for refused in writers.join_all().await {
        let is_late = matches!(refused, StoreError::Unreachable { .. } | StoreError::Unknown { .. });
        assert!(is_late, "{refused}");
    }
    assert!(began.elapsed() < 2 * TIMEOUT, "{:?}", began.elapsed());
    member.restart();
    create_some(&storage, "after").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_way_is_only_slow() {
    let Some(member) = Member::start() else { return };
    let (proxy, prefix) = (Proxy::start(&member.url).await, prefix());
    proxy.set(Mode::Slow);
    let behind = EtcdConfig { servers: vec![proxy.url.clone()], ..config(&member, &prefix) };
    let (behind, direct) = (
        orch_storage_etcd::open(behind).await.unwrap(),
        orch_storage_etcd::open(config(&member, &prefix)).await.unwrap(),
    );
    for index in 0..5 {
        create(&direct, &format!("d{index}")).await.unwrap();
        create(&behind, &format!("b{index}")).await.unwrap();
        assert!(behind.snapshot(&resource()).get("ns", &format!("d{index}")).is_some());
        let written = create(&direct, &format!("e{index}")).await.unwrap();
        assert!(behind.barrier().await.unwrap().get() >= written);
    }
}
