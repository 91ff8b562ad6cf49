//! Data that are moved to a prefix: versions go on above the older ones, and nobody sees half of it.

use orch_storage::{Body, Change, Key, ResourceName, Revision, Scope, Storage, StoreError};
use orch_storage_etcd::{EtcdConfig, begin_move, end_move, look, open};

use crate::member::Member;
use crate::support::{config, prefix};

const BEFORE: Revision = Revision::new(7_000_000);

fn key(name: &str) -> Key {
    Key::new(ResourceName::new("configmaps"), "ns", name)
}

async fn create(storage: &Storage, name: &str) -> Revision {
    let body = Body::new(format!("{name}@").into_bytes(), name.len() + 1);
    storage.commit(Change::Create { key: key(name), body }).await.unwrap().revision
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_go_on_above_those_of_before() {
    let Some(member) = Member::start() else { return };
    let whole = config(&member, &prefix());
    let filling = EtcdConfig { is_moving: true, ..whole.clone() };
    assert_eq!(look(&whole).await.unwrap(), None);
    begin_move(&whole, "uid", BEFORE).await.unwrap();
    let storage = open(filling.clone()).await.unwrap();
    create(&storage, "cut off").await;
    storage.shutdown().await.unwrap();
    assert!(look(&whole).await.unwrap().unwrap().is_moving);
    let refused = open(whole.clone()).await.err().unwrap();
    assert!(matches!(refused, StoreError::NotADatabase { .. }), "{refused}");

    // The next one begins anew.
    let begun = begin_move(&whole, "uid", BEFORE).await.unwrap();
    let storage = open(filling).await.unwrap();
    let moved = create(&storage, "a").await;
    assert!(moved > BEFORE, "{moved}");
    storage.compact(moved).await.unwrap();
    storage.shutdown().await.unwrap();
    end_move(&whole, &begun).await.unwrap();

    let (one, two) = (open(whole.clone()).await.unwrap(), open(whole.clone()).await.unwrap());
    assert_eq!(&*one.cluster_uid(), "uid");
    let resource = key("a").resource;
    for storage in [&one, &two] {
        let names: Vec<_> = storage
            .snapshot(&resource)
            .iter()
            .map(|object| (object.key().clone(), object.revision()))
            .collect();
        assert_eq!(names, [(key("a"), moved)]);
        for after in [Revision::new(1), BEFORE] {
            let watch = storage.watch(&resource, Scope::All, after);
            assert!(matches!(watch, Err(StoreError::Expired { .. })), "{after}");
        }
    }
    // An older version fits nothing, also where etcd decides.
    let body = || Body::new(b"x@".to_vec(), 2);
    for expected in [Revision::new(1), BEFORE, Revision::new(moved.get() - BEFORE.get())] {
        let write = Change::Replace { key: key("a"), expected, body: body() };
        let refused = one.commit(write).await.unwrap_err();
        assert!(matches!(refused, StoreError::Conflict { .. }), "{refused}");
    }
    let mut watch = two.watch(&resource, Scope::All, two.current_revision()).unwrap();
    let replaced =
        one.commit(Change::Replace { key: key("a"), expected: moved, body: body() }).await.unwrap();
    assert!(replaced.revision > moved);
    let events = watch.next().await.unwrap();
    assert_eq!(events.iter().map(|event| event.revision()).collect::<Vec<_>>(), [replaced.revision]);
    assert!(one.self_check().await.unwrap().is_clean());
    one.compact(Revision::new(5)).await.unwrap();
    one.compact(replaced.revision).await.unwrap();
    let third = open(whole.clone()).await.unwrap();
    assert_eq!(third.snapshot(&resource).get("ns", "a").unwrap().revision(), replaced.revision);
    let held = look(&whole).await.unwrap().unwrap();
    assert!(held.newest >= replaced.revision && !held.is_moving);
    let refused = begin_move(&whole, "uid", BEFORE).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotADatabase { .. }), "{refused}");
}

/// Whoever begins anew removes what came before, and the one before does not say that its data are whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_moves_the_later_one_counts() {
    let Some(member) = Member::start() else { return };
    let whole = config(&member, &prefix());
    let filling = EtcdConfig { is_moving: true, ..whole.clone() };
    let refused = open(filling.clone()).await.err().unwrap();
    assert!(matches!(refused, StoreError::NotADatabase { .. }), "no move has begun: {refused}");
    let first = begin_move(&whole, "uid", BEFORE).await.unwrap();
    let storage = open(filling.clone()).await.unwrap();
    create(&storage, "a").await;
    storage.shutdown().await.unwrap();
    let second = begin_move(&whole, "uid", BEFORE).await.unwrap();
    let refused = end_move(&whole, &first).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotADatabase { .. }), "{refused}");
    assert!(look(&whole).await.unwrap().unwrap().is_moving);
    end_move(&whole, &second).await.unwrap();
    assert!(open(whole).await.unwrap().snapshot(&key("a").resource).is_empty());
}

/// Else a server that starts meanwhile would make data of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_that_begins_anew_is_never_gone() {
    const ROUNDS: usize = 60;
    let Some(member) = Member::start() else { return };
    let whole = config(&member, &prefix());
    begin_move(&whole, "uid", BEFORE).await.unwrap();
    let looking = tokio::spawn({
        let whole = whole.clone();
        async move { while look(&whole).await.unwrap().is_some_and(|held| held.is_moving) {} }
    });
    for _ in 0..ROUNDS {
        begin_move(&whole, "uid", BEFORE).await.unwrap();
    }
    assert!(!looking.is_finished(), "it was gone");
    looking.abort();
}
