//! A database that comes to a place where another one left something.

use std::fs;
use std::path::{Path, PathBuf};

use orch_storage::{Revision, StoreError};
use orch_storage_sqlite::{SqliteConfig, check, files, put_in_place};

use crate::support::{DataDir, VOCABULARY, create, listing};

const BEFORE: Revision = Revision::new(1000);

/// A closed database with one object.
async fn draft(data: &DataDir, name: &str, uid: &str) -> PathBuf {
    let path = data.directory().join("draft").join("draft.db");
    // What the one before left.
    let _ = fs::remove_dir_all(path.parent().unwrap());
    fs::create_dir(path.parent().unwrap()).unwrap();
    orch_storage_sqlite::create(&path, VOCABULARY, uid, BEFORE).await.unwrap();
    let storage = orch_storage_sqlite::open(SqliteConfig::new(&path, VOCABULARY)).await.unwrap();
    create(&storage, name, "x").await.unwrap();
    storage.shutdown().await.unwrap();
    path
}

/// Puts beside `data` what a server left that was killed, but for these files.
async fn left(data: &DataDir, without: &[&str]) {
    let killed = DataDir::new();
    let storage = killed.open().await;
    for index in 0..50 {
        create(&storage, &format!("old{index}"), &"o".repeat(3000)).await.unwrap();
    }
    for file in ["store.db", "store.db-wal", "store.db-shm", "store.db.mark"] {
        if !without.contains(&file) {
            fs::copy(killed.directory().join(file), data.directory().join(file)).unwrap();
        }
    }
}

fn names(paths: &[PathBuf]) -> Vec<&str> {
    paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
}

#[tokio::test]
async fn logs_of_another_database_are_not_taken() {
    for without in [&["store.db"][..], &["store.db", "store.db-shm"], &["store.db", "store.db.mark"]] {
        let data = DataDir::new();
        left(&data, without).await;
        let draft = draft(&data, "new", "uid").await;
        put_in_place(&draft, &data.path()).await.unwrap();
        assert!(!draft.exists());
        let report = check(&data.path()).await.unwrap();
        assert!(report.is_clean() && report.objects == 1, "{report:?}");
        let storage = data.open().await;
        assert_eq!(listing(&storage)[0].0, "new");
        assert_eq!(&*storage.cluster_uid(), "uid");
        let kept = data.wal().with_added_extension("before-0");
        assert!(kept.metadata().unwrap().len() > 0, "writes of the other one may be in it");
    }
}

/// The mark comes first: without the database it keeps a start from making an empty one.
#[tokio::test]
async fn what_was_cut_off_is_refused_until_it_is_begun_again() {
    let data = DataDir::new();
    left(&data, &["store.db", "store.db-wal", "store.db-shm"]).await;
    for uid in ["one", "two"] {
        let draft = draft(&data, "new", uid).await;
        put_in_place(&draft, &data.path()).await.unwrap();
        assert!(fs::read_to_string(data.mark()).unwrap().contains(uid));
        fs::remove_file(data.path()).unwrap();
        let refused = orch_storage_sqlite::open(data.config()).await.err();
        assert!(matches!(refused, Some(StoreError::Lost { .. })), "{refused:?}");
    }
    put_in_place(&draft(&data, "new", "three").await, &data.path()).await.unwrap();
    assert_eq!(&*data.open().await.cluster_uid(), "three");
}

#[tokio::test]
async fn only_a_whole_database_comes_to_a_free_place() {
    let data = DataDir::new();
    let whole = draft(&data, "new", "uid").await;
    left(&data, &[]).await;
    assert_eq!(names(&files(&data.path())), ["store.db", "store.db-wal", "store.db-shm", "store.db.mark"]);
    let refused = put_in_place(&whole, &data.path()).await;
    assert!(matches!(refused, Err(StoreError::NotADatabase { .. })), "{refused:?}");
    assert!(whole.exists());

    let free = DataDir::new();
    assert_eq!(files(&free.path()), [] as [&Path; 0]);
    let refused = put_in_place(&data.path(), &free.path()).await;
    assert!(matches!(refused, Err(StoreError::NotWritable { .. })), "its log is not copied: {refused:?}");
    assert_eq!(files(&free.path()), [] as [&Path; 0]);
}
