//! What the start finds, and says.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use orch_storage::{Storage, StoreError};
use orch_storage_sqlite::SqliteConfig;
use sqlx::Connection;

use crate::support::{DataDir, create, listing};

/// The error of opening `config`, and its text.
async fn refusal(config: SqliteConfig) -> (StoreError, String) {
    match orch_storage_sqlite::open(config).await {
        Ok(_) => panic!("opened what it must refuse"),
        Err(error) => (error.clone(), error.to_string()),
    }
}

#[tokio::test]
async fn creates_directories() {
    let data = DataDir::new();
    let path = data.directory().join("a/b/store.db");
    let storage = orch_storage_sqlite::open(SqliteConfig::new(&path, "orch")).await.unwrap();
    create(&storage, "a", "x").await.unwrap();
    storage.shutdown().await.unwrap();
    assert!(path.exists());
}

#[tokio::test]
async fn refuses_a_second_process() {
    let data = DataDir::new();
    let storage = data.open().await;
    let (error, text) = refusal(data.config()).await;
    assert!(matches!(error, StoreError::Locked { .. }));
    let lock = data.directory().join("store.db.lock");
    assert!(text.contains(lock.to_str().unwrap()) && text.contains("another process"), "{text}");

    create(&storage, "a", "x").await.unwrap();
    storage.shutdown().await.unwrap();
    let again: Storage = data.open().await;
    assert_eq!(listing(&again).len(), 1, "the lock file stays, the lock does not");
}

/// A backup or a shell reads the database where a server was killed: the next one starts in the time that it
/// takes to read what is there, and its end waits for nobody either.
#[tokio::test]
async fn a_reader_holds_up_neither_the_start_nor_the_end() {
    const NEVER: Duration = Duration::from_mins(2);
    let (killed, data) = (DataDir::new(), DataDir::new());
    let before = killed.open().await;
    for number in 0..100 {
        create(&before, &format!("o{number}"), "x").await.unwrap();
    }
    for path in [data.path(), data.wal(), data.mark()] {
        fs::copy(killed.directory().join(path.file_name().unwrap()), path).unwrap();
    }
    let mut reader = data.tamper().await;
    sqlx::raw_sql("BEGIN; SELECT count(*) FROM log").execute(&mut reader).await.unwrap();
    let begun = Instant::now();
    let config = SqliteConfig { busy_timeout: NEVER, ..data.config() };
    let storage = orch_storage_sqlite::open(config).await.unwrap();
    assert_eq!(listing(&storage).len(), 100);
    create(&storage, "more", "x").await.unwrap();
    storage.shutdown().await.unwrap();
    assert!(begun.elapsed() < NEVER / 2, "{:?}", begun.elapsed());
    reader.close().await.unwrap();
    assert_eq!(listing(&data.open().await).len(), 101);
}

/// A store whose handles are all dropped closes by itself and lets go of the database.
#[tokio::test]
async fn ends_without_shutdown() {
    let data = DataDir::new();
    let storage = data.open().await;
    create(&storage, "a", "x").await.unwrap();
    let mut watch = storage
        .watch(&crate::support::resource(), orch_storage::Scope::All, storage.current_revision())
        .unwrap();
    drop(storage);
    assert!(matches!(watch.next().await, Err(StoreError::Closed)));
    // The watch ends a moment before the files are closed.
    let again = loop {
        match orch_storage_sqlite::open(data.config()).await {
            Err(StoreError::Locked { .. }) => tokio::task::yield_now().await,
            opened => break opened.unwrap(),
        }
    };
    assert_eq!(listing(&again).len(), 1);
}

#[tokio::test]
async fn refuses_what_it_cannot_write() {
    let data = DataDir::new();
    let file = data.directory().join("file");
    fs::write(&file, "x").unwrap();
    for path in [file.join("store.db"), Path::new("/proc/nowhere/store.db").into()] {
        let (error, text) = refusal(SqliteConfig::new(&path, "orch")).await;
        assert!(matches!(error, StoreError::NotWritable { .. }), "{error:?}");
        assert!(text.contains("cannot write"), "{text}");
    }

    let directory = data.directory().join("read-only");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(directory.join("probe"), "").is_ok() {
        // Past the capture of the output of tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: a read-only directory: this user may write everywhere");
    } else {
        let (error, _) = refusal(SqliteConfig::new(directory.join("store.db"), "orch")).await;
        assert!(matches!(error, StoreError::NotWritable { .. }), "{error:?}");
    }
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();

    fs::create_dir(data.path()).unwrap();
    let (error, _) = refusal(data.config()).await;
    assert!(matches!(error, StoreError::NotWritable { .. }), "a directory in data of the file: {error:?}");
}

#[tokio::test]
async fn refuses_another_vocabulary() {
    let data = DataDir::new();
    data.open().await.shutdown().await.unwrap();
    let config = SqliteConfig { vocabulary: "kubernetes".into(), ..data.config() };
    let (error, text) = refusal(config).await;
    assert!(matches!(error, StoreError::WrongVocabulary { .. }));
    assert!(
        text.contains("\"orch\"") && text.contains("\"kubernetes\"") && text.contains("store.db"),
        "{text}"
    );
    data.open().await.shutdown().await.unwrap();
}

#[tokio::test]
async fn refuses_a_newer_format() {
    let data = DataDir::new();
    data.open().await.shutdown().await.unwrap();
    let mut database = data.tamper().await;
    sqlx::query("UPDATE meta SET value = '7' WHERE name = 'format'").execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    let (error, text) = refusal(data.config()).await;
    assert!(matches!(error, StoreError::NewerFormat { found: 7, supported: 1, .. }), "{error:?}");
    assert!(text.contains("has format 7") && text.contains("up to 1"), "{text}");
    assert!(matches!(orch_storage_sqlite::check(&data.path()).await, Err(StoreError::NewerFormat { .. })));
}

#[tokio::test]
async fn refuses_files_of_others() {
    let text = DataDir::new();
    fs::write(text.path(), "this is a text file, and long enough to be looked at ".repeat(30)).unwrap();
    let foreign = DataDir::new();
    let mut database = foreign.tamper().await;
    sqlx::raw_sql("CREATE TABLE t (a); INSERT INTO t VALUES (1)").execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    let like_ours = DataDir::new();
    let mut database = like_ours.tamper().await;
    sqlx::raw_sql("CREATE TABLE meta (name, value); INSERT INTO meta VALUES ('a', 1)")
        .execute(&mut database)
        .await
        .unwrap();
    database.close().await.unwrap();
    for data in [text, foreign, like_ours] {
        let before = fs::read(data.path()).unwrap();
        let (error, message) = refusal(data.config()).await;
        assert!(matches!(error, StoreError::NotADatabase { .. }), "{error:?}");
        assert!(message.contains("is not a database of this server"), "{message}");
        assert!(matches!(
            orch_storage_sqlite::check(&data.path()).await,
            Err(StoreError::NotADatabase { .. })
        ));
        let after = fs::read(data.path()).unwrap();
        // The header says whether a write-ahead log is in use; nothing else may change.
        assert!(before.get(100..) == after.get(100..), "its content was touched");
    }
}

/// A process that was killed while it made the database leaves an empty file, or one without tables.
#[tokio::test]
async fn completes_a_creation_that_was_cut_off() {
    let data = DataDir::new();
    fs::write(data.path(), "").unwrap();
    create(&data.open().await, "a", "x").await.unwrap();

    let data = DataDir::new();
    let mut database = data.tamper().await;
    sqlx::raw_sql("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL").execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    create(&data.open().await, "a", "x").await.unwrap();
}

/// The same in the middle of a transaction: its rollback journal is there, and half of what it writes.
#[tokio::test]
async fn undoes_a_transaction_of_a_creation_that_was_cut_off() {
    let (cut_off, data) = (DataDir::new(), DataDir::new());
    let mut database = cut_off.tamper().await;
    // With hardly any memory for pages, they are written before the end of the transaction.
    let begun =
        "PRAGMA page_size = 8192; PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE meta (value BLOB);
        INSERT INTO meta SELECT randomblob(20000) FROM json_each('[1, 2, 3, 4, 5, 6, 7, 8, 9]')";
    sqlx::raw_sql(begun).execute(&mut database).await.unwrap();
    let journal = |data: &DataDir| data.directory().join("store.db-journal");
    fs::copy(cut_off.path(), data.path()).unwrap();
    fs::copy(journal(&cut_off), journal(&data)).unwrap();
    assert!(fs::metadata(data.path()).unwrap().len() > 0, "it is half written");

    create(&data.open().await, "a", "x").await.unwrap();
    assert!(!journal(&data).exists());
}

/// A copy from elsewhere could bring one, which runs with the rights of the server.
#[tokio::test]
async fn refuses_a_database_with_triggers() {
    let data = DataDir::new();
    data.open().await.shutdown().await.unwrap();
    let mut database = data.tamper().await;
    let trigger = "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM log; END";
    sqlx::raw_sql(trigger).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    let (error, text) = refusal(data.config()).await;
    assert!(matches!(error, StoreError::NotADatabase { .. }) && text.contains("triggers"), "{text}");
    assert!(orch_storage_sqlite::check(&data.path()).await.is_err());
    let restored = DataDir::new();
    let copy = fs::File::open(data.path()).unwrap();
    let refused = orch_storage_sqlite::restore(copy, "copy".as_ref(), &restored.path()).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotADatabase { .. }), "{refused}");
}

#[tokio::test]
async fn offline_check_needs_no_server_and_changes_nothing() {
    let data = DataDir::new();
    assert!(orch_storage_sqlite::check(&data.path()).await.is_err(), "there is nothing");
    let storage = data.open().await;
    let first = create(&storage, "a", "one").await.unwrap().revision;
    crate::support::replace(&storage, "a", first, "two").await.unwrap();
    let beside = orch_storage_sqlite::check(&data.path()).await.unwrap();
    storage.shutdown().await.unwrap();
    let before = fs::read(data.path()).unwrap();
    let report = orch_storage_sqlite::check(&data.path()).await.unwrap();
    assert_eq!(report, beside);
    assert!(report.is_clean(), "{report:?}");
    assert_eq!((report.records, report.objects, report.revision), (2, 1, first.next()));
    assert!(fs::read(data.path()).unwrap() == before);
}

/// Opening writes nothing, so that a database on a full disk can be opened and read.
#[tokio::test]
async fn opening_writes_nothing() {
    let data = DataDir::new();
    let storage = data.open().await;
    create(&storage, "a", "x").await.unwrap();
    storage.shutdown().await.unwrap();
    let before = fs::read(data.path()).unwrap();
    let storage = data.open().await;
    assert_eq!(listing(&storage).len(), 1);
    assert_eq!(fs::metadata(data.wal()).map_or(0, |log| log.len()), 0);
    assert!(fs::read(data.path()).unwrap() == before);
}
