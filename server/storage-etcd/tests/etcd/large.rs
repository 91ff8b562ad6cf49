//! What is larger than etcd tells or takes at once.

use std::time::Duration;

use orch_storage::{Body, Change, Key, ResourceName, Revision, Scope, Storage, StoreError};
use orch_storage_etcd::EtcdConfig;

use crate::member::Member;
use crate::support::{config, prefix};

fn key(name: &str) -> Key {
    Key::new(ResourceName::new("configmaps"), "ns", name)
}

/// A value of so many bytes.
fn body(bytes: usize) -> Body {
    let mut text = vec![b'x'; bytes];
    text.push(b'@');
    Body::new(text, bytes + 1)
}

async fn create(storage: &Storage, name: &str, bytes: usize) -> Result<u64, StoreError> {
    let change = Change::Create { key: key(name), body: body(bytes) };
    storage.commit(change).await.map(|committed| committed.revision.get())
}

/// etcd tells a thousand revisions at once. These are more bytes than one message may have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_catches_up_over_more_than_a_message_holds() {
    const OBJECTS: usize = 300;
    const BYTES: usize = 1_000_000;
    let Some(member) = Member::start() else { return };
    let config = EtcdConfig { timeout: Duration::from_mins(1), ..config(&member, &prefix()) };
    let first = orch_storage_etcd::open(config.clone()).await.unwrap();
    let mut last = 0;
    for index in 0..OBJECTS {
        last = create(&first, &format!("o{index:03}"), BYTES).await.unwrap();
    }
    first.shutdown().await.unwrap();
    drop(first);
    let second = orch_storage_etcd::open(config).await.unwrap();
    let snapshot = second.snapshot(&key("").resource);
    assert_eq!((snapshot.len(), second.current_revision().get()), (OBJECTS, last));
    assert!(snapshot.iter().all(|object| object.value().unwrap().len() > BYTES));
}

/// A removal carries the last state. Where that is too large for a request, watches show the state before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_created_can_be_removed() {
    let Some(member) = Member::start_with(&["--max-request-bytes=65536"]) else { return };
    let config = config(&member, &prefix());
    let storage = orch_storage_etcd::open(config.clone()).await.unwrap();
    let other = orch_storage_etcd::open(config).await.unwrap();
    // Above the limit of etcd, and above that of its gRPC library.
    for bytes in [70_000, 2_000_000] {
        let refused = create(&storage, "a", bytes).await.unwrap_err();
        assert!(matches!(refused, StoreError::TooLarge { .. }), "{refused}");
    }
    for bytes in [70_000, 2_000_000] {
        let created = create(&storage, "a", 60_000).await.unwrap();
        let mut watch = other.watch(&key("").resource, Scope::All, Revision::new(created)).unwrap();
        let expected = Revision::new(created);
        let removal = Change::Remove { key: key("a"), expected, body: body(bytes) };
        let removed = storage.commit(removal).await.unwrap().revision;
        let events = tokio::time::timeout(Duration::from_secs(30), watch.next()).await.unwrap().unwrap();
        assert_eq!(events.iter().map(|event| event.revision()).collect::<Vec<_>>(), [removed]);
        let shown = events[0].object().value().unwrap().clone();
        assert_eq!(shown, *body(60_000).with_revision(removed));
        assert!(other.barrier().await.unwrap() >= removed, "a read on another server waits for it");
    }
}
