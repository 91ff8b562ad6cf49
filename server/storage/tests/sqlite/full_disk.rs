//! No room: writes are refused with a reason, reads go on, nothing acknowledged is lost, and it passes.

use orch_storage::StoreError;
use orch_storage::sqlite::{self, SqliteConfig};

use crate::support::{Place, create, listing, replace, resource};

#[tokio::test]
async fn refuses_writes_until_there_is_room() {
    let place = Place::new();
    let limited = || SqliteConfig { max_bytes: Some(1 << 20), ..place.config() };
    let storage = sqlite::open(limited()).await.unwrap();
    let value = "x".repeat(10_000);
    let mut revision = create(&storage, "a", &value).await.unwrap().revision;
    let mut acknowledged = 1;
    let full = loop {
        match replace(&storage, "a", revision, &value).await {
            Ok(committed) => revision = committed.revision,
            Err(error) => break error,
        }
        acknowledged += 1;
    };
    assert!(matches!(full, StoreError::DiskFull { .. }), "{full:?}");
    assert!(full.to_string().starts_with("the disk is full: "), "{full}");
    assert!(acknowledged > 50);

    let before = listing(&storage);
    assert_eq!(before[0].1, revision, "reads go on, and show the last acknowledged write");
    assert!(matches!(create(&storage, "b", &value).await, Err(StoreError::DiskFull { .. })));
    assert!(matches!(create(&storage, "a", "x").await, Err(StoreError::AlreadyExists { .. })));
    assert!(storage.self_check().await.unwrap().is_clean());
    assert_eq!(listing(&storage), before);

    // History makes room.
    storage.compact(storage.current_revision()).await.unwrap();
    let last = replace(&storage, "a", revision, &value).await.unwrap();
    assert_eq!(last.revision, revision.next(), "refused writes used up no revision");

    while create(&storage, &format!("o{}", storage.current_revision()), &value).await.is_ok() {}
    let state = listing(&storage);
    storage.shutdown().await.unwrap();
    let storage = sqlite::open(limited()).await.unwrap();
    assert_eq!(listing(&storage), state, "a full database can be opened and read");
    storage.shutdown().await.unwrap();
    let storage = place.open().await;
    create(&storage, "more", &value).await.unwrap();
    assert_eq!(storage.snapshot(&resource()).len(), state.len() + 1);
}
