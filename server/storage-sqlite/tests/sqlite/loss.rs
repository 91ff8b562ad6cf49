//! Acknowledged writes that are gone: the start says so, and goes on without them only where it is told to,
//! in a new history.

use std::collections::BTreeMap;
use std::fs;

use orch_storage::{Revision, Scope, Storage, StoreError};
use orch_storage_sqlite::SqliteConfig;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use sqlx::Connection;

use crate::support::{DataDir, create, listing, replace, resource, seed};

const FILES: [&str; 3] = ["store.db", "store.db-wal", "store.db.mark"];

/// The files of a store at one moment, as a kill leaves them.
#[derive(Clone)]
struct Files(BTreeMap<&'static str, Vec<u8>>);

impl Files {
    fn of(data: &DataDir) -> Self {
        let read = |name| Some((name, fs::read(data.directory().join(name)).ok()?));
        Self(FILES.into_iter().filter_map(read).collect())
    }

    fn without(mut self, name: &str) -> Self {
        self.0.remove(name).unwrap();
        self
    }

    fn with(mut self, name: &'static str, change: impl FnOnce(&mut Vec<u8>)) -> Self {
        change(self.0.get_mut(name).unwrap());
        self
    }

    fn put(&self) -> DataDir {
        let data = DataDir::new();
        for (name, bytes) in &self.0 {
            fs::write(data.directory().join(name), bytes).unwrap();
        }
        data
    }
}

/// A store that is killed after 200 writes, half of which are in the database file; what it had acknowledged;
/// and its files when it had made the first 50.
struct Killed {
    files: Files,
    early: Files,
    acknowledged: Vec<(String, Revision, String)>,
    revision: Revision,
}

impl Killed {
    async fn new(checkpoint_bytes: u64) -> Self {
        let data = DataDir::new();
        let config = SqliteConfig { checkpoint_bytes, ..data.config() };
        let storage = orch_storage_sqlite::open(config).await.unwrap();
        let mut early = None;
        for index in 0..200 {
            if index == 50 {
                early = Some(Files::of(&data));
            }
            create(&storage, &format!("o{index:03}"), &"x".repeat(300)).await.unwrap();
        }
        let (acknowledged, revision) = (listing(&storage), storage.current_revision());
        Self { files: Files::of(&data), early: early.unwrap(), acknowledged, revision }
    }

    /// What a start on `files` says; that it shows everything if it starts, and that the check agrees.
    async fn start(&self, files: &Files, context: &str) -> Result<(), String> {
        let beside = files.put();
        let checked = orch_storage_sqlite::check(&beside.path()).await;
        let is_clean = checked.as_ref().is_ok_and(orch_storage::Report::is_clean);
        let data = files.put();
        match orch_storage_sqlite::open(data.config()).await {
            Ok(storage) => {
                assert_eq!(listing(&storage), self.acknowledged, "{context}: nothing is lost silently");
                assert!(is_clean, "{context}: {checked:?}");
                Ok(())
            }
            Err(error) => {
                assert!(!is_clean, "{context}: {error}");
                let is_damage = matches!(
                    error,
                    StoreError::Lost { .. }
                        | StoreError::Damaged { .. }
                        | StoreError::NotADatabase { .. }
                        | StoreError::Unavailable { .. }
                );
                assert!(is_damage, "{context}: {error:?}");
                Err(error.to_string())
            }
        }
    }

    /// Goes on without what is lost: nothing of the old history can be mistaken for the new one.
    async fn accept(&self, files: &Files, context: &str) {
        let data = files.put();
        let accepting = SqliteConfig { accept_data_loss: true, ..data.config() };
        let storage = orch_storage_sqlite::open(accepting.clone()).await.unwrap();
        let begin = storage.current_revision();
        assert!(begin > self.revision, "{context}: {begin} after {}", self.revision);
        for old in [Revision::FIRST, Revision::new(100), self.revision] {
            assert_gone(&storage, old, context);
        }
        for object in listing(&storage) {
            assert!(self.acknowledged.contains(&object), "{context}: {object:?}");
        }
        let mut watch = storage.watch(&resource(), Scope::All, begin).unwrap();
        let written = create(&storage, "new", "x").await.unwrap();
        assert_eq!(written.revision, begin.next(), "{context}");
        assert_eq!(watch.next().await.unwrap()[0].revision(), written.revision, "{context}");
        let state = listing(&storage);
        let killed = Files::of(&data);
        storage.shutdown().await.unwrap();

        // The new history is an ordinary one, whether the process was killed or not.
        for data in [data, killed.put()] {
            let report = orch_storage_sqlite::check(&data.path()).await.unwrap();
            assert!(report.is_clean(), "{context}: {report:?}");
            let storage = data.open().await;
            assert_eq!((listing(&storage), storage.current_revision()), (state.clone(), written.revision));
            assert_gone(&storage, self.revision, context);
            storage.shutdown().await.unwrap();
        }
    }
}

fn assert_gone(storage: &Storage, revision: Revision, context: &str) {
    let watched = storage.watch(&resource(), Scope::All, revision).err();
    assert!(matches!(watched, Some(StoreError::Expired { .. })), "{context}: {revision}: {watched:?}");
    let listed = storage.snapshot_at(&resource(), revision).err();
    assert!(matches!(listed, Some(StoreError::Expired { .. })), "{context}: {revision}: {listed:?}");
}

/// Where the log is long, and where most of it was copied.
async fn killed() -> [(&'static str, Killed); 2] {
    [("all in the log", Killed::new(u64::MAX).await), ("copied often", Killed::new(20_000).await)]
}

#[tokio::test]
async fn what_a_kill_leaves_is_opened() {
    for (name, killed) in killed().await {
        assert_eq!(killed.start(&killed.files, name).await, Ok(()));
        // Without the mark it cannot be known whether the log once was longer, and a whole one is no loss.
        assert_eq!(killed.start(&killed.files.clone().without("store.db.mark"), name).await, Ok(()));
    }
}

#[tokio::test]
async fn a_missing_log_is_missed() {
    let [(_, killed), _] = killed().await;
    let files = killed.files.clone().without("store.db-wal");
    let said = killed.start(&files, "").await.unwrap_err();
    let last = killed.revision;
    assert!(said.contains(&format!("revisions 2 to {last} are missing; there is no store.db-wal")), "{said}");
    assert!(said.contains("--accept-data-loss") && said.contains("store.db lacks"), "{said}");
    killed.accept(&files, "no log").await;

    let alone = files.without("store.db.mark");
    let said = killed.start(&alone, "").await.unwrap_err();
    assert!(said.contains("it was in use") && said.contains("there is no store.db-wal"), "{said}");
    killed.accept(&alone, "the database alone").await;
}

/// A copy takes the place of good ones, and what is read goes to other servers: neither is made in silence.
#[tokio::test]
async fn what_lacks_acknowledged_writes_is_not_copied() {
    let [(_, killed), _] = killed().await;
    let whole = killed.files.put();
    let copied = orch_storage_sqlite::backup(&whole.path(), &whole.directory().join("copy")).await.unwrap();
    assert_eq!(copied.revision, killed.revision);

    let data = killed.files.clone().without("store.db-wal").put();
    let copy = data.directory().join("copy");
    let named = orch_storage_sqlite::backup(&data.path(), &copy).await.unwrap_err();
    let unnamed = orch_storage_sqlite::backup_unnamed(&data.path()).await.unwrap_err();
    let mut rows = 0;
    let read = orch_storage_sqlite::read(&data.path(), None, &mut |_| rows += 1).await.unwrap_err();
    for refused in [named, unnamed, read] {
        let said = refused.to_string();
        assert!(matches!(refused, StoreError::Lost { .. }), "{said}");
        assert!(said.contains("store.db lacks") && said.contains("are missing"), "{said}");
    }
    assert!(!copy.exists());
}

/// Removing the log loses nothing if all of it was copied before.
#[tokio::test]
async fn a_closed_database_needs_no_other_file() {
    let data = DataDir::new();
    let storage = data.open().await;
    create(&storage, "a", "x").await.unwrap();
    let state = listing(&storage);
    storage.shutdown().await.unwrap();
    let mut files = Files::of(&data);
    files.0.retain(|name, _| *name == "store.db");
    let copy = files.put();
    assert!(orch_storage_sqlite::check(&copy.path()).await.unwrap().is_clean());
    assert_eq!(listing(&copy.open().await), state);
}

#[tokio::test]
async fn an_old_copy_is_recognised() {
    for (name, killed) in killed().await {
        let mut old = killed.early.clone();
        old.0.insert("store.db.mark", killed.files.0["store.db.mark"].clone());
        let said = killed.start(&old, name).await.unwrap_err();
        assert!(said.contains(&format!("revisions 52 to {} are missing", killed.revision)), "{name}: {said}");
        killed.accept(&old, name).await;
    }
}

#[tokio::test]
async fn a_missing_database_is_not_made_anew() {
    let [(_, killed), _] = killed().await;
    let without = killed.files.clone().without("store.db");
    let emptied = killed.files.clone().with("store.db", Vec::clear);
    for files in [without, emptied] {
        let data = files.put();
        let error = orch_storage_sqlite::open(data.config()).await.err().unwrap();
        assert!(matches!(&error, StoreError::Lost { detail, .. } if detail.contains("missing or empty")));
        assert!(data.wal().metadata().unwrap().len() > 0, "the log is still there");
        killed.accept(&files, "no database").await;
    }
}

#[tokio::test]
async fn another_database_is_not_taken_for_this_one() {
    let [(_, killed), (_, other)] = killed().await;
    let mut files = other.files.clone();
    files.0.insert("store.db.mark", killed.files.0["store.db.mark"].clone());
    let data = files.put();
    let error = orch_storage_sqlite::open(data.config()).await.err().unwrap().to_string();
    assert!(error.contains("another database than the one that was here"), "{error}");
}

/// Whatever byte of the log is changed, wherever it is cut: a start shows everything or says what is missing.
#[tokio::test]
async fn a_damaged_log_is_noticed() {
    let seed = seed();
    let mut random = StdRng::seed_from_u64(seed);
    for (name, killed) in killed().await {
        let length = killed.files.0["store.db-wal"].len();
        let mut refused = Vec::new();
        for round in 0..60 {
            let position = if round < 8 { round * 4 } else { random.random_range(0..length) };
            let context = format!("seed {seed}, {name}, round {round}, at {position} of {length}");
            let flip = 1 << random.random_range(0..8);
            let cut = random.random_bool(0.3);
            let files = killed
                .files
                .clone()
                .with("store.db-wal", |log| if cut { log.truncate(position) } else { log[position] ^= flip });
            if let Err(said) = killed.start(&files, &context).await {
                refused.push((files, said, context));
            }
        }
        assert!(refused.len() > 10, "seed {seed}, {name}: {} of 60", refused.len());
        for (files, _, context) in refused.iter().take(3) {
            killed.accept(files, context).await;
        }
    }
}

/// A damaged frame behind which whole transactions follow is a loss, whatever the mark says: after a power
/// cut it may be a second old.
#[tokio::test]
async fn whole_frames_after_a_damaged_one_are_reported() {
    let [(_, killed), _] = killed().await;
    let old = killed.early.0["store.db.mark"].clone();
    let damaged = killed.files.clone().with("store.db-wal", |log| {
        let middle = log.len() / 2;
        log[middle] ^= 1;
    });
    let mut with_old_mark = damaged.clone();
    with_old_mark.0.insert("store.db.mark", old);
    for files in [damaged.without("store.db.mark"), with_old_mark] {
        let said = killed.start(&files, "").await.unwrap_err();
        let data = files.put();
        assert!(orch_storage_sqlite::open(data.config()).await.is_err());
        assert!(fs::read(data.wal()).unwrap() == files.0["store.db-wal"], "a refused start keeps the log");
        assert!(said.contains("whole frames follow it"), "{said}");
        killed.accept(&files, "whole frames").await;
    }
}

/// One line of the mark may be half-written after a power cut.
#[tokio::test]
async fn a_damaged_mark_is_no_loss() {
    let seed = seed();
    let mut random = StdRng::seed_from_u64(seed);
    let [(_, killed), _] = killed().await;
    for round in 0..30 {
        let files = killed.files.clone().with("store.db.mark", |mark| {
            let position = random.random_range(0..mark.len());
            if random.random_bool(0.5) { mark.truncate(position) } else { mark[position] ^= 1 }
        });
        let context = format!("seed {seed}, round {round}");
        assert_eq!(killed.start(&files, &context).await, Ok(()), "{context}");
    }
}

/// Rows that are gone without a trace in the structure of the database are missed, also those that are older
/// than history.
#[tokio::test]
async fn rows_that_vanish_are_missed() {
    for compacted in [false, true] {
        let data = DataDir::new();
        let storage = data.open().await;
        let mut revision = create(&storage, "a", "x").await.unwrap().revision;
        for _ in 0..10 {
            revision = replace(&storage, "a", revision, "x").await.unwrap().revision;
            create(&storage, &format!("o{revision}"), "x").await.unwrap();
        }
        if compacted {
            storage.compact(storage.current_revision()).await.unwrap();
        }
        storage.shutdown().await.unwrap();
        data.open().await.shutdown().await.unwrap();
        let mut database = data.tamper().await;
        sqlx::query("DELETE FROM log WHERE name = 'o5'").execute(&mut database).await.unwrap();
        database.close().await.unwrap();
        let error = orch_storage_sqlite::open(data.config()).await.err().unwrap();
        let rows = if compacted { 11 } else { 21 };
        assert!(
            matches!(&error, StoreError::Lost { detail, .. }
                if **detail == *format!("1 of {rows} rows are gone from the middle")),
            "{error}"
        );
        assert!(!orch_storage_sqlite::check(&data.path()).await.unwrap().is_clean());
        let accepting = SqliteConfig { accept_data_loss: true, ..data.config() };
        orch_storage_sqlite::open(accepting).await.unwrap().shutdown().await.unwrap();
        data.open().await.shutdown().await.unwrap();
    }
}

/// To accept a loss where there is none changes nothing.
#[tokio::test]
async fn there_may_be_nothing_to_accept() {
    let [(_, killed), _] = killed().await;
    let data = killed.files.put();
    let accepting = SqliteConfig { accept_data_loss: true, ..data.config() };
    let storage = orch_storage_sqlite::open(accepting).await.unwrap();
    assert_eq!(
        (storage.current_revision(), listing(&storage)),
        (killed.revision, killed.acknowledged.clone())
    );
    assert!(storage.watch(&resource(), Scope::All, Revision::FIRST).is_ok(), "history goes on");
}

/// The version before this one kept no mark and counted nothing.
#[tokio::test]
async fn a_database_of_an_older_version_is_opened() {
    let data = DataDir::new();
    let storage = data.open().await;
    let first = create(&storage, "a", "x").await.unwrap().revision;
    let second = replace(&storage, "a", first, "y").await.unwrap().revision;
    storage.compact(second).await.unwrap();
    storage.shutdown().await.unwrap();
    fs::remove_file(data.mark()).unwrap();
    let mut database = data.tamper().await;
    sqlx::query("DELETE FROM meta WHERE name IN ('absent', 'state')").execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    let storage = data.open().await;
    assert_eq!(create(&storage, "b", "x").await.unwrap().revision, second.next());
    storage.shutdown().await.unwrap();
    assert!(data.mark().exists());

    // An older version drops rows, and does not count them.
    let mut database = data.tamper().await;
    sqlx::raw_sql("DELETE FROM log WHERE name = 'b'; UPDATE meta SET value = '4' WHERE name = 'compacted'")
        .execute(&mut database)
        .await
        .unwrap();
    database.close().await.unwrap();
    assert_eq!(listing(&data.open().await).len(), 1);
}

/// A log that had to grow while something read the database is short again afterwards.
#[tokio::test]
async fn the_log_shrinks_again() {
    let data = DataDir::new();
    let config = SqliteConfig { checkpoint_bytes: 100_000, ..data.config() };
    let storage = orch_storage_sqlite::open(config).await.unwrap();
    let mut reader = data.tamper().await;
    let mut reading = reader.begin().await.unwrap();
    sqlx::query("SELECT count(*) FROM log").fetch_one(&mut *reading).await.unwrap();
    let length = || data.wal().metadata().unwrap().len();
    let mut count = 0;
    while length() < 2_000_000 {
        count += 1;
        create(&storage, &format!("o{count}"), &"x".repeat(20_000)).await.unwrap();
    }
    reading.rollback().await.unwrap();
    let grown = count;
    while length() > 500_000 {
        count += 1;
        assert!(count < grown + 200, "the log still has {} bytes", length());
        create(&storage, &format!("o{count}"), &"x".repeat(20_000)).await.unwrap();
    }
}

/// What a killed process left in the log is copied by the next one. Otherwise the log grows with every kill,
/// and every start reads all of it.
#[tokio::test]
async fn the_log_of_a_killed_process_is_copied() {
    let [(_, killed), _] = killed().await;
    let data = killed.files.put();
    let length = || data.wal().metadata().unwrap().len();
    assert!(length() > 1_000_000);
    let config = SqliteConfig { checkpoint_bytes: 50_000, ..data.config() };
    let storage = orch_storage_sqlite::open(config).await.unwrap();
    for name in ["a", "b"] {
        create(&storage, name, "x").await.unwrap();
    }
    assert!(length() <= 200_000, "{}", length());
}
