//! No room, or no access: writes are refused with a reason, reads go on, nothing acknowledged is lost, and it
//! passes.

use std::ffi::CString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use orch_storage::{Change, Committed, Condition, ManualClock, Revision, Storage, StoreError, Timestamp};
use orch_storage_sqlite::{FaultPoint, Faults, SqliteConfig};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use sqlx::Connection;

use crate::support::{DataDir, body, create, key, listing, remove, replace, resource};

#[tokio::test]
async fn refuses_writes_until_there_is_room() {
    let data = DataDir::new();
    let limited = || SqliteConfig { max_bytes: Some(1 << 20), ..data.config() };
    let storage = orch_storage_sqlite::open(limited()).await.unwrap();
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
    let storage = orch_storage_sqlite::open(limited()).await.unwrap();
    assert_eq!(listing(&storage), state, "a full database can be opened and read");
    storage.shutdown().await.unwrap();
    let storage = data.open().await;
    create(&storage, "more", &value).await.unwrap();
    assert_eq!(storage.snapshot(&resource()).len(), state.len() + 1);
}

/// A disk on which this directory has so many bytes: what might not fit is not written.
fn disk_of(bytes: u64, directory: &Path) -> Faults {
    let directory = directory.to_owned();
    Faults::new(move |point| {
        let files = std::fs::read_dir(&directory).unwrap();
        let used: u64 = files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len())).sum();
        if point == FaultPoint::BeforeCommit && used + (64 << 10) > bytes {
            return Err(StoreError::DiskFull { detail: "injected".into() });
        }
        Ok(())
    })
}

/// What makes room is taken when nothing else is, also as the first that meets the full disk, until there is
/// room.
#[tokio::test]
async fn lets_deletions_through() {
    let data = DataDir::new();
    let storage = orch_storage_sqlite::open(SqliteConfig {
        reserve_bytes: 1 << 20,
        checkpoint_bytes: 256 << 10,
        faults: disk_of(6 << 20, data.directory()),
        ..data.config()
    })
    .await
    .unwrap();
    // Looks for room first, without waiting for the clock.
    storage.compact(storage.current_revision()).await.unwrap();
    let reserve = data.directory().join("store.db.reserve");
    assert_eq!(reserve.metadata().unwrap().len(), 1 << 20);
    let value = "x".repeat(10_000);
    let mut kept = Vec::new();
    while let Ok(created) = create(&storage, &format!("o{:03}", kept.len()), &value).await {
        kept.push(created.revision);
    }
    assert!(kept.len() > 100, "{}", kept.len());

    let refused = create(&storage, "more", "x").await;
    assert!(matches!(refused, Err(StoreError::DiskFull { .. })), "{refused:?}");
    assert!(matches!(create(&storage, "o000", "x").await, Err(StoreError::AlreadyExists { .. })));
    // A failed condition is reported before the lack of room too.
    let refused = Change::Create { key: key("more"), body: body("x") };
    let refused = storage.commit(refused.when(Condition::Absent { key: key("o000") })).await;
    assert!(matches!(refused, Err(StoreError::ConditionFailed { .. })), "{refused:?}");
    let refused = Change::Remove { key: key("o000"), expected: kept[0], body: body("gone") };
    let refused = storage.commit(refused.when(Condition::Absent { key: key("o001") })).await;
    assert!(matches!(refused, Err(StoreError::ConditionFailed { .. })), "{refused:?}");
    let marked = storage
        .commit(Change::Retire { key: key("o000"), expected: kept[0], body: body("on its way out") })
        .await
        .unwrap();
    kept[0] = marked.revision;
    for (index, revision) in kept.iter().enumerate() {
        let name = format!("o{index:03}");
        assert!(matches!(replace(&storage, &name, *revision, "x").await, Err(StoreError::DiskFull { .. })));
        remove(&storage, &name, *revision).await.unwrap();
    }
    assert!(listing(&storage).is_empty());

    // With history there is room again, for everything.
    storage.compact(storage.current_revision()).await.unwrap();
    create(&storage, "more", &value).await.unwrap();
    assert!(reserve.exists());
    assert!(storage.self_check().await.unwrap().is_clean());
    let state = listing(&storage);
    storage.shutdown().await.unwrap();
    assert_eq!(listing(&data.open().await), state);
}

/// A small disk in memory. It goes away with this value.
struct Disk(DataDir);

impl Disk {
    /// None where this user may not mount one.
    fn mount(bytes: u64) -> Option<Self> {
        let data = DataDir::new();
        let options = CString::new(format!("size={bytes}")).unwrap();
        // By this process: a program that is started has the locks of all tests for a moment.
        let mounted = mount("tmpfs", data.directory(), "tmpfs", MountFlags::empty(), Some(&*options));
        let is_mounted = mounted.is_ok();
        if !is_mounted {
            println!("SKIPPED: a small disk cannot be mounted");
        }
        is_mounted.then_some(Self(data))
    }

    /// Another disk of this size with the files as they are now: what a process leaves that is killed.
    fn as_left(&self, bytes: u64) -> Self {
        let copy = Self::mount(bytes).unwrap();
        loop {
            let before = self.stamps();
            // What is in the last one is made anew. It only has to have its room.
            for name in NAMES.into_iter().chain(["store.db-shm"]) {
                std::fs::copy(self.0.directory().join(name), copy.0.directory().join(name)).unwrap();
            }
            if self.stamps() == before {
                return copy;
            }
        }
    }

    /// What changes when the store writes.
    fn stamps(&self) -> Vec<(u64, SystemTime)> {
        let files = NAMES.iter().map(|name| self.0.directory().join(name).metadata().unwrap());
        files.map(|file| (file.len(), file.modified().unwrap())).collect()
    }
}

const NAMES: [&str; 4] = ["store.db", "store.db-wal", "store.db.mark", "store.db.reserve"];

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = unmount(self.0.directory(), UnmountFlags::DETACH);
    }
}

/// On a disk that is really full, deletions go through to the last one, one by one and many at once, and
/// after a kill at any point of that: with half of the reserve, and with a write-ahead log that does not fit
/// into the file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lets_deletions_through_after_a_kill() {
    const SIZE: u64 = 24 << 20;
    let value = "x".repeat(100_000);
    for deleted_before in [0, 1, 12, 30, 60] {
        let Some(mut disk) = Disk::mount(SIZE) else { return };
        let storage = disk.0.open().await;
        storage.compact(storage.current_revision()).await.unwrap();
        let mut kept = Vec::new();
        while let Ok(created) = create(&storage, &format!("o{:03}", kept.len()), &value).await {
            kept.push((format!("o{:03}", kept.len()), created.revision));
        }
        let mut storage = storage;
        for restart in 0..3 {
            for (name, revision) in kept.drain(..deleted_before.min(kept.len())) {
                remove_with(&storage, &name, revision, &value).await.unwrap();
            }
            let left = disk.as_left(SIZE);
            storage.shutdown().await.unwrap();
            disk = left;
            if restart == 0 {
                // Whoever else writes to the disk takes the last of its room, except for the reserve.
                let _ = std::fs::write(disk.0.directory().join("rest"), vec![b'x'; 1 << 24]);
            }
            storage = disk.0.open().await;
        }
        let last = kept.pop();
        let removals: Vec<_> = kept
            .into_iter()
            .map(|(name, revision)| {
                let (storage, value) = (storage.clone(), value.clone());
                tokio::spawn(async move { remove_with(&storage, &name, revision, &value).await })
            })
            .collect();
        for removal in removals {
            removal.await.unwrap().unwrap();
        }
        if let Some((name, revision)) = last {
            remove_with(&storage, &name, revision, &value).await.unwrap();
        }
        assert!(listing(&storage).is_empty(), "{deleted_before}");
        assert!(storage.self_check().await.unwrap().is_clean());
        storage.shutdown().await.unwrap();
        drop(disk);
    }
}

/// While another connection reads, SQLite appends to the write-ahead log, even if all of it is copied. The
/// log would outgrow the disk if the store did not wait for the reader.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lets_deletions_through_beside_readers() {
    let value = "x".repeat(100_000);
    let Some(disk) = Disk::mount(24 << 20) else { return };
    let storage = disk.0.open().await;
    storage.compact(storage.current_revision()).await.unwrap();
    let mut kept = Vec::new();
    while let Ok(created) = create(&storage, &format!("o{:03}", kept.len()), &value).await {
        kept.push((format!("o{:03}", kept.len()), created.revision));
    }
    let _ = std::fs::write(disk.0.directory().join("rest"), vec![b'x'; 1 << 24]);
    let mut connection = disk.0.tamper().await;
    let reading = tokio::spawn(async move {
        loop {
            let mut read = connection.begin().await.unwrap();
            let _: i64 = sqlx::query_scalar("SELECT count(*) FROM log").fetch_one(&mut *read).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
            read.commit().await.unwrap();
        }
    });
    for (name, revision) in kept {
        remove_with(&storage, &name, revision, &value).await.unwrap();
    }
    assert!(!reading.is_finished(), "somebody has read all the time");
    reading.abort();
    assert!(listing(&storage).is_empty());
    assert!(storage.self_check().await.unwrap().is_clean());
    storage.shutdown().await.unwrap();
}

/// A removal whose last state is as large as the object, as those of the server are.
async fn remove_with(
    storage: &Storage,
    name: &str,
    expected: Revision,
    text: &str,
) -> Result<Committed, StoreError> {
    storage.commit(Change::Remove { key: key(name), expected, body: body(text) }).await
}

/// A deletion that meets the full disk is tried again with its conditions, beside one without.
#[tokio::test]
async fn deletions_keep_their_conditions() {
    let data = DataDir::new();
    let full = Arc::new(AtomicBool::new(false));
    let faults = {
        let full = Arc::clone(&full);
        Faults::new(move |point| match point {
            FaultPoint::BeforeCommit if full.swap(false, Ordering::Relaxed) => {
                Err(StoreError::DiskFull { detail: "injected".into() })
            }
            _ => Ok(()),
        })
    };
    let storage = orch_storage_sqlite::open(SqliteConfig { faults, ..data.config() }).await.unwrap();
    let a = create(&storage, "a", "x").await.unwrap().revision;
    let b = create(&storage, "b", "x").await.unwrap().revision;
    full.store(true, Ordering::Relaxed);
    let conditional = Change::Remove { key: key("b"), expected: b, body: body("gone") };
    let conditional = conditional.when(Condition::Absent { key: key("b") });
    // The runtime has one thread, so both are in the queue before the writer looks.
    let (removed, refused) = tokio::join!(remove(&storage, "a", a), storage.commit(conditional));
    assert_eq!(removed.unwrap().revision, b.next());
    assert!(matches!(refused, Err(StoreError::ConditionFailed { .. })), "{refused:?}");
    assert!(!full.load(Ordering::Relaxed), "the disk was full once");
    assert_eq!(listing(&storage).len(), 1);
}

/// A transaction of many statements that stops half-way is undone as a whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refuses_whole_batches() {
    let data = DataDir::new();
    let storage =
        orch_storage_sqlite::open(SqliteConfig { max_bytes: Some(1 << 20), ..data.config() }).await.unwrap();
    let writes: Vec<_> = (0..400)
        .map(|index| {
            let storage = storage.clone();
            tokio::spawn(async move { create(&storage, &format!("o{index}"), &"x".repeat(5000)).await })
        })
        .collect();
    let mut written = Vec::new();
    for write in writes {
        match write.await.unwrap() {
            Ok(committed) => written.push((committed.object.key().name.to_string(), committed.revision)),
            Err(error) => assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}"),
        }
    }
    assert!(written.len() < 250, "not all of it fits");
    written.sort();
    let state = listing(&storage);
    let shown: Vec<_> = state.iter().map(|(name, revision, _)| (name.clone(), *revision)).collect();
    assert_eq!(shown, written);
    assert!(storage.self_check().await.unwrap().is_clean());
    storage.shutdown().await.unwrap();
    assert_eq!(listing(&data.open().await), state);
}

/// A store that is never idle drops old rows all the same.
#[tokio::test]
async fn drops_rows_under_load() {
    let data = DataDir::new();
    let clock = Arc::new(ManualClock::at(Timestamp(1 << 40)));
    let storage = orch_storage_sqlite::open(SqliteConfig { clock: Arc::clone(&clock) as _, ..data.config() })
        .await
        .unwrap();
    let mut revision = create(&storage, "a", "x").await.unwrap().revision;
    for _ in 0..600 {
        clock.advance(Duration::from_mins(10));
        revision = replace(&storage, "a", revision, "x").await.unwrap().revision;
    }
    let records = storage.self_check().await.unwrap().records;
    assert!(records < 300, "{records} of 601 are left");
}

/// What history held is given back to the file system.
#[tokio::test]
async fn gives_back_room() {
    let data = DataDir::new();
    let storage = data.open().await;
    let mut revision = create(&storage, "a", "x").await.unwrap().revision;
    for _ in 0..600 {
        revision = replace(&storage, "a", revision, &"x".repeat(10_000)).await.unwrap().revision;
    }
    storage.compact(revision).await.unwrap();
    assert_eq!(storage.self_check().await.unwrap().records, 1);
    storage.shutdown().await.unwrap();
    let size = std::fs::metadata(data.path()).unwrap().len();
    assert!(size < 3_000_000, "{size} bytes for one object of 10,000");
}

/// Another program that holds the database is an error for writes while it does.
#[tokio::test]
async fn outlasts_another_program() {
    let data = DataDir::new();
    let config = SqliteConfig { busy_timeout: Duration::from_millis(1), ..data.config() };
    let storage = orch_storage_sqlite::open(config).await.unwrap();
    let first = create(&storage, "a", "x").await.unwrap();
    let mut other = data.tamper().await;
    let transaction = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    for _ in 0..2 {
        let error = create(&storage, "b", "x").await.unwrap_err();
        assert!(
            matches!(&error, StoreError::Unavailable { detail } if detail.contains("locked")),
            "{error:?}"
        );
        assert_eq!(storage.current_revision(), first.revision);
    }
    assert_eq!(listing(&storage).len(), 1);
    transaction.rollback().await.unwrap();
    assert_eq!(create(&storage, "b", "x").await.unwrap().revision, first.revision.next());
    assert!(storage.self_check().await.unwrap().is_clean());
}

/// A disk that was filled to the last byte while the store was closed, so that what a database needs beside
/// it does not fit: with the reserve it opens and takes deletions, without it the error says why.
#[tokio::test]
async fn opens_on_a_disk_that_filled_up_meanwhile() {
    for reserve_bytes in [0, 1 << 20] {
        let Some(disk) = Disk::mount(6 << 20) else { return };
        let data = &disk.0;
        let config = || SqliteConfig { reserve_bytes, ..data.config() };
        let storage = orch_storage_sqlite::open(config()).await.unwrap();
        let first = create(&storage, "a", &"x".repeat(10_000)).await.unwrap();
        create(&storage, "b", "x").await.unwrap();
        // The reserve is taken by the first tick.
        let reserve = data.directory().join("store.db.reserve");
        while reserve.metadata().map_or(0, |file| file.len()) < reserve_bytes {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        storage.shutdown().await.unwrap();
        let filler = data.directory().join("filler");
        let mut filling = std::fs::File::create(&filler).unwrap();
        while std::io::Write::write(&mut filling, &[0; 4096]).is_ok_and(|written| written > 0) {}

        let checked = orch_storage_sqlite::check(&data.path()).await;
        assert!(matches!(checked, Err(StoreError::DiskFull { .. })), "{checked:?}");
        match orch_storage_sqlite::open(config()).await {
            Err(error) => {
                assert!(matches!(error, StoreError::DiskFull { .. }) && reserve_bytes == 0, "{error:?}");
            }
            Ok(storage) => {
                assert!(reserve_bytes > 0);
                assert_eq!(listing(&storage).len(), 2, "reads go on");
                remove(&storage, "a", first.revision).await.unwrap();
                storage.shutdown().await.unwrap();
            }
        }
        drop(filling);
        std::fs::remove_file(filler).unwrap();
        let storage = orch_storage_sqlite::open(config()).await.unwrap();
        assert_eq!(listing(&storage).len(), if reserve_bytes > 0 { 1 } else { 2 });
        storage.shutdown().await.unwrap();
    }
}
