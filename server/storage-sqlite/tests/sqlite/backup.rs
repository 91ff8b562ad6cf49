//! Copies that are made while the store is written to, and what is made of them.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use orch_storage::{Report, Revision, Scope, StoreError};
use orch_storage_sqlite::{backup, backup_unnamed, check, restore};

use crate::support::{DataDir, create, listing, resource};

/// A database made of a copy that is a file.
async fn restored(copy: &Path, path: &Path) -> Result<Report, StoreError> {
    restore(fs::File::open(copy).unwrap(), copy, path).await
}

#[tokio::test]
async fn a_copy_is_whole_while_writes_go_on() {
    let data = DataDir::new();
    let storage = data.open().await;
    for index in 0..50 {
        create(&storage, &format!("o{index:03}"), "x").await.unwrap();
    }
    let before = listing(&storage);
    let writing = {
        let storage = storage.clone();
        tokio::spawn(async move {
            for index in 50..150 {
                create(&storage, &format!("o{index:03}"), "x").await.unwrap();
            }
        })
    };
    let copy = data.directory().join("copy");
    let report = backup(&data.path(), &copy).await.unwrap();
    writing.await.unwrap();
    assert!(report.is_clean() && report.objects >= before.len(), "{report:?}");
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(backup(&data.path(), &copy).await.is_err(), "a file that is there is kept");
    assert_eq!(check(&copy).await.unwrap(), report);

    let all = listing(&storage);
    let other = DataDir::new();
    let restored = restored(&copy, &other.path()).await.unwrap();
    assert_eq!(restored.objects, report.objects);
    let again = other.open().await;
    assert_eq!(listing(&again), all[..report.objects], "one moment of the one who wrote in order");
}

/// What is written after a copy was made is lost by restoring it; its revisions are not given out again.
#[tokio::test]
async fn a_restored_copy_begins_a_new_history() {
    let data = DataDir::new();
    let storage = data.open().await;
    create(&storage, "a", "x").await.unwrap();
    let elsewhere = DataDir::new();
    let copy = elsewhere.directory().join("copy");
    backup(&data.path(), &copy).await.unwrap();
    let mut last = Revision::ZERO;
    for index in 0..20 {
        last = create(&storage, &format!("late{index}"), "x").await.unwrap().revision;
    }
    storage.shutdown().await.unwrap();

    // Beside the mark of the old database, and on another machine.
    fs::remove_file(data.path()).unwrap();
    for target in [data, DataDir::new()] {
        restored(&copy, &target.path()).await.unwrap();
        let storage = target.open().await;
        assert_eq!(listing(&storage).len(), 1);
        for old in [Revision::FIRST, last] {
            let watched = storage.watch(&resource(), Scope::All, old).err();
            assert!(matches!(watched, Some(StoreError::Expired { .. })), "{watched:?}");
        }
        assert!(create(&storage, "b", "x").await.unwrap().revision > last);
        storage.shutdown().await.unwrap();
        assert!(check(&target.path()).await.unwrap().is_clean());
    }
}

/// What a process leaves that is killed while it copies or restores: files that the next one does not trip
/// over.
#[tokio::test]
async fn what_was_cut_off_is_begun_again() {
    let data = DataDir::new();
    let storage = data.open().await;
    create(&storage, "a", "x").await.unwrap();
    let copy = data.directory().join("copy");
    fs::write(data.directory().join("copy.partial"), "half a copy").unwrap();
    backup(&data.path(), &copy).await.unwrap();
    assert!(!data.directory().join("copy.partial").exists());

    // A restored database that has a log with another object, and was not closed.
    let (target, other) = (DataDir::new(), DataDir::new());
    let another = other.open().await;
    create(&another, "other", "x").await.unwrap();
    let draft = target.path().with_added_extension("restored");
    fs::copy(other.path(), &draft).unwrap();
    for end in ["-wal", "-shm"] {
        let (from, to) = (other.path(), &draft);
        let named = |path: &Path| format!("{}{end}", path.display());
        fs::copy(named(&from), named(to)).unwrap();
    }
    restored(&copy, &target.path()).await.unwrap();
    let names = |(name, ..): (String, Revision, String)| name;
    let restored = listing(&target.open().await).into_iter().map(names);
    assert!(restored.eq(listing(&storage).into_iter().map(names)));
}

/// Two processes do not write to one file.
#[tokio::test]
async fn a_copy_has_one_writer() {
    let data = DataDir::new();
    let storage = data.open().await;
    create(&storage, "a", "x").await.unwrap();
    let copy = data.directory().join("copy");
    let other = fs::File::create(data.directory().join("copy.partial")).unwrap();
    other.lock().unwrap();
    assert!(backup(&data.path(), &copy).await.is_err());
    assert!(data.directory().join("copy.partial").exists());
    drop(other);
    backup(&data.path(), &copy).await.unwrap();
}

#[tokio::test]
async fn half_a_copy_is_not_restored() {
    let data = DataDir::new();
    let storage = data.open().await;
    for index in 0..100 {
        create(&storage, &format!("o{index}"), &"x".repeat(1000)).await.unwrap();
    }
    let copy = data.directory().join("copy");
    backup(&data.path(), &copy).await.unwrap();
    let bytes = fs::read(&copy).unwrap();
    for length in [0, 100, bytes.len() / 2, bytes.len() - 8192] {
        fs::write(&copy, &bytes[..length]).unwrap();
        let target = DataDir::new();
        assert!(restored(&copy, &target.path()).await.is_err(), "{length} of {}", bytes.len());
        assert!(!target.path().exists());
    }
}

/// Copies without a name do not disturb each other, and what was left by processes that were killed goes with
/// the next one.
#[tokio::test]
async fn copies_without_a_name_leave_nothing() {
    let data = DataDir::new();
    let storage = data.open().await;
    create(&storage, "a", "x").await.unwrap();
    let [dead, living, other] =
        ["1", "2", "kept"].map(|end| data.path().with_added_extension(format!("copy-{end}")));
    for file in [&dead, &living, &other] {
        fs::write(file, "half a copy").unwrap();
    }
    let lock = fs::File::open(&living).unwrap();
    lock.lock().unwrap();
    let path = data.path();
    let (one, two) = tokio::join!(backup_unnamed(&path), backup_unnamed(&path));
    for (report, copy) in [one.unwrap(), two.unwrap()] {
        assert!(report.is_clean() && report.objects == 1, "{report:?}");
        let target = DataDir::new();
        restore(copy, Path::new("copy"), &target.path()).await.unwrap();
        let mut left = names(target.directory());
        left.sort();
        assert_eq!(left, ["store.db", "store.db.lock", "store.db.mark"], "the draft leaves nothing");
        assert_eq!(listing(&target.open().await).len(), 1);
    }
    assert_eq!([dead, living, other].map(|file| file.exists()), [false, true, true]);
    let mut copies = names(data.directory());
    copies.retain(|name| name.contains("copy"));
    assert_eq!(copies.len(), 2, "{copies:?}");
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// A copy that cannot be read is no fault of the new database, and leaves none.
#[tokio::test]
async fn a_copy_that_cannot_be_read_is_named() {
    struct Broken;
    impl io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("no luck"))
        }
    }
    let target = DataDir::new();
    let error = restore(Broken, Path::new("the copy"), &target.path()).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot read the copy: no luck");
    assert!(!target.path().exists() && !target.path().with_added_extension("restored").exists());
    let error = restore(io::empty(), Path::new("the copy"), &target.path()).await.unwrap_err().to_string();
    assert!(error.starts_with("the copy is not a database"), "{error}");
}
