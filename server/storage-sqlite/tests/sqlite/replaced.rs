//! A database file that is removed, replaced or damaged under a running store: what would be lost is not
//! acknowledged, and it is told.

use std::fs;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use orch_storage::{Storage, StoreError};

use crate::support::{DataDir, create, listing, replace};

/// What a write answers that is not taken, once the store has told it to probes.
async fn refused(storage: &Storage) -> String {
    let Err(StoreError::ReadOnly { detail }) = create(storage, "late", "x").await else {
        panic!("the write was taken");
    };
    let stopped = storage.patrolled().stopped;
    assert!(stopped.is_some_and(|reason| reason.contains(&*detail)));
    detail.to_string()
}

#[tokio::test]
async fn what_is_written_under_no_name_is_not_acknowledged() {
    let data = DataDir::new();
    let storage = data.open().await;
    create(&storage, "a", "x").await.unwrap();
    let aside = data.directory().join("aside");
    fs::rename(data.path(), &aside).unwrap();
    assert!(refused(&storage).await.ends_with("was removed"));
    assert_eq!(listing(&storage).len(), 1, "reads go on");
    assert!(matches!(storage.self_check().await, Err(StoreError::ReadOnly { .. })));

    fs::rename(&aside, data.path()).unwrap();
    create(&storage, "b", "x").await.unwrap();
    assert_eq!(storage.patrolled().stopped, None);
    storage.shutdown().await.unwrap();
    assert_eq!(listing(&data.open().await).len(), 2);
}

/// The log alone, which is still open: what only it has is saved, and nothing more is taken that would be
/// lost.
#[tokio::test]
async fn a_log_that_is_removed_is_saved() {
    let data = DataDir::new();
    let storage = data.open().await;
    create(&storage, "a", "x").await.unwrap();
    create(&storage, "b", "x").await.unwrap();
    fs::remove_file(data.wal()).unwrap();
    assert!(refused(&storage).await.ends_with("store.db-wal was removed"));
    // For longer than the store waits until it looks.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    // What a kill leaves now.
    let killed = DataDir::new();
    fs::copy(data.path(), killed.path()).unwrap();
    fs::copy(data.mark(), killed.mark()).unwrap();
    assert_eq!(listing(&killed.open().await).len(), 2);
    storage.shutdown().await.unwrap();
    assert_eq!(listing(&data.open().await).len(), 2);
}

/// A lock file under another name keeps nobody away.
#[tokio::test]
async fn a_lock_file_that_is_removed_is_locked_again() {
    let data = DataDir::new();
    let storage = data.open().await;
    let lock = data.directory().join("store.db.lock");
    fs::remove_file(&lock).unwrap();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    let second = orch_storage_sqlite::open(data.config()).await;
    assert!(matches!(second, Err(StoreError::Locked { .. })));
    create(&storage, "a", "x").await.unwrap();

    fs::remove_file(&lock).unwrap();
    let other = fs::File::create(&lock).unwrap();
    other.lock().unwrap();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert!(refused(&storage).await.contains("store.db.lock"));
}

/// Another file is neither written nor opened: SQLite would take the write-ahead log beside it for its own.
#[tokio::test]
async fn another_file_under_the_name_is_not_touched() {
    let data = DataDir::new();
    let storage = data.open().await;
    create(&storage, "a", "x").await.unwrap();
    let other = DataDir::new();
    other.open().await.shutdown().await.unwrap();
    fs::rename(other.path(), data.path()).unwrap();
    let before = fs::read(data.path()).unwrap();
    assert!(refused(&storage).await.ends_with("is another file than the one that was opened"));
    // For longer than the store waits before it looks through its data.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(fs::read(data.path()).unwrap(), before);
    assert_eq!(listing(&storage).len(), 1);
    storage.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_database_that_is_found_damaged_takes_no_writes() {
    let data = DataDir::new();
    let value = "x".repeat(100_000);
    let storage = data.open().await;
    let mut written = Vec::new();
    for number in 0..60 {
        let name = format!("a{number}");
        written.push((create(&storage, &name, &value).await.unwrap().revision, name));
    }
    storage.shutdown().await.unwrap();
    // More than what the database keeps in memory.
    let storage = data.open().await;
    let file = fs::File::options().write(true).open(data.path()).unwrap();
    file.write_all_at(&vec![0; 4_000_000], 8192).unwrap();
    for (revision, name) in written {
        if replace(&storage, &name, revision, "y").await.is_err() {
            break;
        }
    }
    // Rows that are no longer needed are looked for where they were.
    let compacted = storage.compact(storage.current_revision()).await;
    assert!(matches!(compacted, Err(StoreError::ReadOnly { .. })), "{compacted:?}");
    refused(&storage).await;
    assert_eq!(listing(&storage).len(), 60, "reads go on");
}
