//! A database that is made small, and the rows of one that others write.

use std::fs;

use orch_storage::store::Record;
use orch_storage::{Revision, Scope, StoreError};
use orch_storage_sqlite::{check, compact, read};

use crate::support::{DataDir, create, listing, remove, replace, resource};

#[tokio::test]
async fn a_small_database_has_all_objects_and_no_past() {
    let data = DataDir::new();
    let storage = data.open().await;
    let large = "x".repeat(100_000);
    let mut revision = create(&storage, "a", &large).await.unwrap().revision;
    for _ in 0..50 {
        revision = replace(&storage, "a", revision, &large).await.unwrap().revision;
    }
    let gone = create(&storage, "b", &large).await.unwrap().revision;
    let last = remove(&storage, "b", gone).await.unwrap().revision;
    let objects = listing(&storage);
    assert!(compact(&data.path()).await.is_err(), "a store that is used has one user");
    storage.shutdown().await.unwrap();

    let report = compact(&data.path()).await.unwrap();
    assert!(report.is_clean() && report.objects == 1, "{report:?}");
    assert_eq!(check(&data.path()).await.unwrap(), report);
    let size = fs::metadata(data.path()).unwrap().len();
    assert!(size < 400_000, "{size}");

    let storage = data.open().await;
    assert_eq!(listing(&storage), objects);
    for old in [Revision::FIRST, revision] {
        let watched = storage.watch(&resource(), Scope::All, old).err();
        assert!(matches!(watched, Some(StoreError::Expired { .. })), "{watched:?}");
    }
    assert!(create(&storage, "c", "x").await.unwrap().revision > last);
}

#[tokio::test]
async fn rows_are_read_while_others_write() {
    let data = DataDir::new();
    let storage = data.open().await;
    for name in ["a", "b"] {
        create(&storage, name, "x").await.unwrap();
    }
    let mut rows = Vec::new();
    read(&data.path(), None, &mut |record: Record| rows.push(record.key.name.to_string())).await.unwrap();
    assert_eq!(rows, ["a", "b"]);
    assert!(read(&data.directory().join("nothing"), None, &mut |_| ()).await.is_err());
    create(&storage, "c", "x").await.unwrap();
}
