//! What becomes of writes and watches when etcd, or the way to it, fails.

use std::time::{Duration, Instant};

use orch_storage::{
    Body, Change, Condition, Key, ResourceName, Revision, Scope, Storage, StoreError, Term, Watch,
};
use orch_storage_etcd::EtcdConfig;

use crate::member::Member;
use crate::proxy::{Mode, Proxy};
use crate::support::{config, prefix};

const TIMEOUT: Duration = Duration::from_secs(2);

/// What takes longer than this waits for ever.
const PATIENCE: Duration = Duration::from_mins(2);

fn resource() -> ResourceName {
    ResourceName::new("configmaps")
}

fn key(name: &str) -> Key {
    Key::new(resource(), "ns", name)
}

fn body(text: &str) -> Body {
    let text = format!("{text}@");
    Body::new(text.clone().into_bytes(), text.len())
}

async fn create(storage: &Storage, name: &str) -> Result<Revision, StoreError> {
    let change = Change::Create { key: key(name), body: body(name) };
    storage.commit(change).await.map(|committed| committed.revision)
}

async fn remove(storage: &Storage, name: &str) -> Revision {
    let expected = storage.snapshot(&resource()).get("ns", name).unwrap().revision();
    let change = Change::Remove { key: key(name), expected, body: body("gone") };
    storage.commit(change).await.unwrap().revision
}

/// A store that reaches etcd directly, one behind a proxy, and the proxy.
async fn two(member: &Member) -> (Storage, Storage, Proxy) {
    let (proxy, prefix) = (Proxy::start(&member.url).await, prefix());
    let direct = orch_storage_etcd::open(config(member, &prefix)).await.unwrap();
    let behind = EtcdConfig { servers: vec![proxy.url.clone()], timeout: TIMEOUT, ..config(member, &prefix) };
    (direct, orch_storage_etcd::open(behind).await.unwrap(), proxy)
}

async fn names_to(watch: &mut Watch, last: Revision) -> Vec<(u64, String)> {
    let mut seen: Vec<(u64, String)> = Vec::new();
    while seen.last().is_none_or(|(revision, _)| *revision < last.get()) {
        let events = tokio::time::timeout(Duration::from_secs(30), watch.next()).await.unwrap().unwrap();
        seen.extend(events.iter().map(|event| (event.revision().get(), event.key().name.to_string())));
    }
    seen
}

fn names(storage: &Storage) -> Vec<String> {
    storage.snapshot(&resource()).iter().map(|object| object.key().name.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_watch_goes_on_without_a_gap() {
    let Some(member) = Member::start() else { return };
    let (direct, behind, proxy) = two(&member).await;
    let mut watch = behind.watch(&resource(), Scope::All, behind.current_revision()).unwrap();
    let mut written = Vec::new();
    for index in 0..150 {
        if index % 15 == 7 {
            proxy.cut();
        }
        let name = format!("o{index}");
        written.push((create(&direct, &name).await.unwrap().get(), name));
    }
    let last = Revision::new(written.last().unwrap().0);
    assert_eq!(names_to(&mut watch, last).await, written);
    // Whoever reads now waits for what was written.
    let after = create(&direct, "after").await.unwrap();
    proxy.cut();
    let seen = loop {
        // A question that was on its way is lost.
        if let Ok(revision) = behind.barrier().await {
            break revision;
        }
    };
    assert!(seen >= after && behind.snapshot(&resource()).get("ns", "after").is_some());
}

/// Where nothing is gone, a watch goes on; where something is, nobody knows when it went: a client that read
/// on at another server could miss it there, or be told of it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_compaction_overtook_gets_the_differences_or_ends() {
    let Some(member) = Member::start() else { return };
    let (direct, behind, proxy) = two(&member).await;
    for name in ["kept", "removed", "again", "too"] {
        create(&direct, name).await.unwrap();
    }
    behind.barrier().await.unwrap();
    let (before, others) = (behind.current_revision(), ResourceName::new("secrets"));
    let mut ends = behind.watch(&resource(), Scope::All, before).unwrap();
    let mut goes_on = behind.watch(&others, Scope::All, before).unwrap();
    proxy.cut_off().await;
    for name in ["removed", "again", "too"] {
        remove(&direct, name).await;
    }
    create(&direct, "again").await.unwrap();
    let mut written = Vec::new();
    for name in ["one", "two"] {
        let key = Key::new(others.clone(), "ns", name);
        let created = direct.commit(Change::Create { key, body: body(name) }).await.unwrap();
        written.push((created.revision.get(), name.to_owned()));
    }
    create(&direct, "passing").await.unwrap();
    remove(&direct, "passing").await;
    let last = create(&direct, "new").await.unwrap();
    direct.compact(last).await.unwrap();
    proxy.set(Mode::Open);

    let ended = tokio::time::timeout(Duration::from_secs(30), ends.next()).await.unwrap();
    assert!(matches!(ended, Err(StoreError::Expired { .. })), "{ended:?}");
    assert_eq!(names_to(&mut goes_on, Revision::new(written[1].0)).await, written);
    assert_eq!(names(&behind), names(&direct));
    assert_eq!(behind.current_revision(), last);
    assert!(matches!(behind.watch(&resource(), Scope::All, before), Err(StoreError::Expired { .. })));
    assert!(behind.self_check().await.unwrap().is_clean());
    let mut again = behind.watch(&resource(), Scope::All, last).unwrap();
    let later = create(&behind, "later").await.unwrap();
    assert_eq!(names_to(&mut again, later).await, [(later.get(), "later".to_owned())]);
    direct.barrier().await.unwrap();
    assert_eq!(names(&behind), names(&direct));
}

/// Only the part of history that is gone is told as differences.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_gets_all_that_came_after_what_is_gone() {
    let Some(member) = Member::start() else { return };
    let (direct, behind, proxy) = two(&member).await;
    let mut watch = behind.watch(&resource(), Scope::All, behind.current_revision()).unwrap();
    proxy.cut_off().await;
    let gone = create(&direct, "gone").await.unwrap();
    direct.compact(gone).await.unwrap();
    let mut written = vec![(gone.get(), "gone".to_owned())];
    for _ in 0..3 {
        written.push((create(&direct, "again").await.unwrap().get(), "again".to_owned()));
        written.push((remove(&direct, "again").await.get(), "again".to_owned()));
    }
    let last = create(&direct, "last").await.unwrap();
    written.push((last.get(), "last".to_owned()));
    proxy.set(Mode::Open);
    assert_eq!(names_to(&mut watch, last).await, written);
}

/// A client may have read further at another server. This one does not know any more what was removed after
/// that version, so the client starts over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_from_within_what_is_gone_ends() {
    let Some(member) = Member::start() else { return };
    let (direct, behind, proxy) = two(&member).await;
    for name in ["one", "two"] {
        create(&direct, name).await.unwrap();
    }
    behind.barrier().await.unwrap();
    let mut follows = behind.watch(&resource(), Scope::All, behind.current_revision()).unwrap();
    proxy.cut_off().await;
    create(&direct, "passing").await.unwrap();
    let read = remove(&direct, "passing").await;
    let mut ahead = behind.watch(&resource(), Scope::All, read).unwrap();
    remove(&direct, "two").await;
    remove(&direct, "one").await;
    let last = create(&direct, "last").await.unwrap();
    direct.compact(last).await.unwrap();
    proxy.set(Mode::Open);
    let ended = tokio::time::timeout(Duration::from_secs(30), follows.next()).await.unwrap();
    assert!(matches!(ended, Err(StoreError::Expired { .. })), "{ended:?}");
    assert!(matches!(ahead.next().await, Err(StoreError::Expired { .. })));
}

/// The answer is lost, not the write: it is told as unknown, and not repeated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_without_an_answer_is_unknown() {
    let Some(member) = Member::start() else { return };
    let (direct, behind, proxy) = two(&member).await;
    let start = direct.current_revision();
    proxy.set(Mode::Mute);
    let outcome = create(&behind, "a").await;
    assert!(matches!(outcome, Err(StoreError::Unknown { .. })), "{outcome:?}");
    direct.barrier().await.unwrap();
    assert_eq!((names(&direct), direct.current_revision()), (vec!["a".to_owned()], start.next()));
    proxy.cut_off().await;
    let outcome = create(&behind, "b").await;
    assert!(
        matches!(outcome, Err(StoreError::Unreachable { .. } | StoreError::Unknown { .. })),
        "{outcome:?}"
    );
    assert!(matches!(behind.barrier().await, Err(StoreError::Unreachable { .. })));
    assert_eq!(names(&behind), Vec::<String>::new(), "memory is still read");
    proxy.set(Mode::Open);
    create(&direct, "c").await.unwrap();
    while behind.barrier().await.is_err() {}
    assert_eq!(names(&behind), names(&direct));
}

/// It answers calls, and its connections live, but a watch that begins tells nothing, or nothing more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_waits_for_a_silent_watch() {
    let Some(member) = Member::start() else { return };
    for frames in [0, 1] {
        let (direct, behind, proxy) = two(&member).await;
        create(&direct, "a").await.unwrap();
        create(&direct, "b").await.unwrap();
        proxy.set(Mode::Silent(frames));
        let checked = tokio::time::timeout(PATIENCE, behind.self_check()).await.expect("it ends");
        assert!(matches!(checked, Err(StoreError::Unreachable { .. })), "{checked:?}");
        proxy.set(Mode::Open);
        assert!(behind.self_check().await.unwrap().is_clean());
    }
}

/// The watch that a store follows is begun again where it says nothing from the beginning.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_does_not_begin_is_begun_again() {
    let Some(member) = Member::start() else { return };
    let (proxy, prefix) = (Proxy::start(&member.url).await, prefix());
    let direct = orch_storage_etcd::open(config(&member, &prefix)).await.unwrap();
    proxy.set(Mode::Silent(0));
    let behind =
        EtcdConfig { servers: vec![proxy.url.clone()], timeout: TIMEOUT, ..config(&member, &prefix) };
    let behind = orch_storage_etcd::open(behind).await.unwrap();
    let created = create(&direct, "a").await.unwrap();
    assert!(matches!(behind.barrier().await, Err(StoreError::Unreachable { .. })));
    proxy.set(Mode::Open);
    let follows = async { while behind.barrier().await.is_err() {} };
    tokio::time::timeout(PATIENCE, follows).await.expect("another watch brings it");
    assert!(behind.current_revision() >= created);
}

/// Writes that claim a term come one after the other. Each waits no longer than its own time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_wait_no_longer_than_their_time() {
    let Some(member) = Member::start() else { return };
    let (_direct, behind, proxy) = two(&member).await;
    proxy.set(Mode::Mute);
    let began = Instant::now();
    let mut writers = tokio::task::JoinSet::new();
    for index in 0..5 {
        let storage = behind.clone();
        writers.spawn(async move {
            let key = key(&format!("o{index}"));
            let term = Term { index: 0, value: format!("term{index}").into() };
            let write = Change::Create { key, body: body("x") }.when(Condition::Unclaimed { term });
            storage.commit(write).await.unwrap_err()
        });
    }
    for refused in writers.join_all().await {
        let is_late = matches!(refused, StoreError::Unreachable { .. } | StoreError::Unknown { .. });
        assert!(is_late, "{refused}");
    }
    assert!(began.elapsed() < 2 * TIMEOUT, "{:?}", began.elapsed());
}

/// The connection is lost after the write was sent: the watch brings it, so the answer is good.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_is_found_by_the_watch() {
    let Some(member) = Member::start() else { return };
    let (direct, behind, proxy) = two(&member).await;
    let mut answered = 0;
    for index in 0..12 {
        let name = format!("o{index}");
        let writing = tokio::spawn({
            let (behind, name) = (behind.clone(), name.clone());
            async move { create(&behind, &name).await }
        });
        for _ in 0..index {
            tokio::task::yield_now().await;
        }
        proxy.cut();
        let outcome = writing.await.unwrap();
        direct.barrier().await.unwrap();
        let is_there = direct.snapshot(&resource()).get("ns", &name).is_some();
        match outcome {
            Ok(_) => {
                answered += 1;
                assert!(is_there, "{name}");
            }
            Err(StoreError::Unreachable { .. }) => assert!(!is_there, "{name}"),
            Err(StoreError::Unknown { .. }) => {}
            Err(other) => panic!("{name}: {other}"),
        }
    }
    println!("{answered} of 12 were answered");
}

/// etcd without room takes removals only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_etcd_takes_removals() {
    let Some(member) = Member::start_with(&["--quota-backend-bytes=4194304"]) else { return };
    let prefix = prefix();
    let storage = orch_storage_etcd::open(config(&member, &prefix)).await.unwrap();
    create(&storage, "small").await.unwrap();
    let large = "x".repeat(500_000);
    let mut outcome = Ok(());
    // It notices a moment later that there is no room.
    for index in 0..200 {
        let change = Change::Create { key: key(&format!("large{index}")), body: body(&large) };
        outcome = storage.commit(change).await.map(drop);
        if outcome.is_err() {
            break;
        }
    }
    assert!(matches!(outcome, Err(StoreError::DiskFull { .. })), "{outcome:?}");
    let before = storage.current_revision();
    let removed = remove(&storage, "small").await;
    assert!(storage.current_revision() >= removed && !names(&storage).contains(&"small".to_owned()));
    // One that starts when nobody needs this history any more still tells it to who asks.
    let retention = Duration::from_secs(1);
    tokio::time::sleep(retention).await;
    let later = EtcdConfig { retention, ..config(&member, &prefix) };
    let later = orch_storage_etcd::open(later).await.unwrap();
    let mut watch = later.watch(&resource(), Scope::All, before).unwrap();
    assert_eq!(names_to(&mut watch, removed).await, [(removed.get(), "small".to_owned())]);
    let findings = storage.self_check().await.unwrap();
    assert!(findings.problems.iter().any(|finding| finding.contains("NOSPACE")), "{findings:?}");
}

/// The watch is often faster than the answer to a write. Answers that nobody waits for must not add up to
/// what ends the connection, with all calls on it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_writes_at_once_all_succeed() {
    const WRITERS: usize = 32;
    const EACH: usize = 500;
    let Some(member) = Member::start() else { return };
    let storage = orch_storage_etcd::open(config(&member, &prefix())).await.unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let storage = storage.clone();
        writers.spawn(async move {
            for index in 0..EACH {
                create(&storage, &format!("{writer}-{index}")).await.unwrap();
            }
        });
    }
    writers.join_all().await;
    assert_eq!(names(&storage).len(), WRITERS * EACH);
}
