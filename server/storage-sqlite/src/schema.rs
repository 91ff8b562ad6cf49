//! The tables, how a connection is set up, and what errors of the database mean.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use orch_storage::{Revision, StoreError};
use sqlx::SqliteConnection;
use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Row};

use crate::disk;

/// The format of the tables below. A change that older versions cannot read raises it.
const FORMAT: u64 = 1;

/// `meta` is names and values; `log` has a row per write. The checksum is of all other columns.
const TABLES: &str = "
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE log (
        revision INTEGER PRIMARY KEY,
        resource TEXT NOT NULL,
        namespace TEXT NOT NULL,
        name TEXT NOT NULL,
        op INTEGER NOT NULL,
        time INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        value BLOB NOT NULL
    ) STRICT;";

/// The `state` in `meta` while the write-ahead log may hold what the file lacks, and after all of it was
/// copied.
pub(crate) const OPEN: &str = "open";
pub(crate) const COMPLETE: &str = "complete";

/// Result codes of the database (<https://sqlite.org/rescode.html>), reduced to their primary part.
mod code {
    pub(crate) const PERM: u32 = 3;
    pub(crate) const BUSY: u32 = 5;
    pub(crate) const READONLY: u32 = 8;
    pub(crate) const IOERR: u32 = 10;
    pub(crate) const CORRUPT: u32 = 11;
    pub(crate) const FULL: u32 = 13;
    pub(crate) const CANTOPEN: u32 = 14;
    pub(crate) const NOTADB: u32 = 26;
}

/// Bytes of a page.
pub(crate) const PAGE: i64 = 8192;

/// What a database says about itself.
pub(crate) struct Meta {
    pub(crate) vocabulary: Arc<str>,
    pub(crate) cluster_uid: Arc<str>,
    /// Records up to here may have been dropped.
    pub(crate) compacted: Revision,
    /// How many revisions have no row, up to the newest one. Not known of a database that an older version
    /// wrote to.
    pub(crate) absent: Option<u64>,
    /// Whether the file alone may lack what the write-ahead log has.
    pub(crate) is_open: bool,
}

impl Meta {
    /// The newest revision there ever was, where `last` is that of the last row: its row may be dropped.
    pub(crate) fn newest(&self, last: Revision) -> Revision {
        last.max(self.compacted).max(Revision::FIRST)
    }
}

/// How every connection is opened that writes. `max_bytes` bounds the database file, `wal_limit` the length
/// that the write-ahead log keeps, in bytes.
pub(crate) fn options(path: &Path, max_bytes: Option<u64>, wal_limit: u64) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(false)
        // One task makes the checkpoints, so that no commit waits for one.
        .pragma("wal_autocheckpoint", "0")
        // What is deleted is overwritten where that writes no further page. A repair reads pages without
        // their structure, and must not take a deleted row for one that is there.
        .pragma("secure_delete", "FAST")
        .pragma("max_page_count", max_pages(max_bytes).to_string())
        // What the log grew beyond this under load, it gives back when it starts over.
        .pragma("journal_size_limit", wal_limit.to_string())
        .disable_statement_logging()
}

/// How many pages a database of at most this size has.
pub(crate) fn max_pages(max_bytes: Option<u64>) -> u64 {
    max_bytes.map_or(u64::from(u32::MAX - 1), |bytes| bytes / PAGE as u64).max(1)
}

/// How the first connection to a database that does not exist yet is opened. These choices last for its life.
/// To make them again on an existing one would write to it, which a full disk does not allow.
pub(crate) fn creating(options: SqliteConnectOptions) -> SqliteConnectOptions {
    options.create_if_missing(true).page_size(PAGE as u32).auto_vacuum(SqliteAutoVacuum::Incremental)
}

/// How a connection is opened that only reads.
pub(crate) fn read_only_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).read_only(true).foreign_keys(false).disable_statement_logging()
}

/// Reads what the database at `path` is, or makes it one if it is empty. Refuses those that this store, with
/// this vocabulary, must not touch.
pub(crate) async fn prepare(
    connection: &mut SqliteConnection,
    path: &Path,
    vocabulary: &str,
) -> Result<Meta, StoreError> {
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
        .fetch_one(&mut *connection)
        .await
        .map_err(|error| at_start(path, &error))?;
    if tables == 0 {
        create(connection, vocabulary).await.map_err(|error| at_start(path, &error))?;
    }
    let meta = read(connection, path).await?;
    if *meta.vocabulary != *vocabulary {
        return Err(StoreError::WrongVocabulary {
            path: path.into(),
            found: meta.vocabulary,
            expected: vocabulary.into(),
        });
    }
    Ok(meta)
}

/// Reads what the database at `path` is.
pub(crate) async fn read(connection: &mut SqliteConnection, path: &Path) -> Result<Meta, StoreError> {
    let not_ours = |detail: &str| StoreError::NotADatabase { path: path.into(), detail: detail.into() };
    // Code that runs with each write, and that is in no database of this store.
    let others = "SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')";
    let others: i64 = sqlx::query_scalar(others)
        .fetch_one(&mut *connection)
        .await
        .map_err(|error| at_start(path, &error))?;
    if others > 0 {
        return Err(not_ours("it has triggers or views"));
    }
    let rows = match sqlx::query("SELECT name, value FROM meta").fetch_all(connection).await {
        Ok(rows) => rows,
        Err(error) if primary_code(&error) == Some(1) => {
            return Err(not_ours("its tables belong to something else"));
        }
        Err(error) => return Err(at_start(path, &error)),
    };
    let mut values: HashMap<String, String> = HashMap::with_capacity(rows.len());
    for row in rows {
        let (name, value) = row
            .try_get("name")
            .and_then(|name| Ok((name, row.try_get("value")?)))
            .map_err(|_| not_ours("its table meta has another shape"))?;
        values.insert(name, value);
    }
    let number = |name: &str| values.get(name).and_then(|value| value.parse::<u64>().ok());
    let format = number("format").ok_or_else(|| not_ours("it does not say its format"))?;
    if format > FORMAT {
        return Err(StoreError::NewerFormat { path: path.into(), found: format, supported: FORMAT });
    }
    let compacted = number("compacted").ok_or_else(|| not_ours("its history has no beginning"))?;
    // An older version drops rows and leaves this number as it is: then it is that of another compaction.
    let absent = values.get("absent").and_then(|value| value.split_once('@'));
    let absent =
        absent.filter(|(_, of)| of.parse() == Ok(compacted)).and_then(|(count, _)| count.parse().ok());
    let is_open = values.get("state").is_some_and(|state| state == OPEN);
    let mut text = |name: &str| values.remove(name).map(Arc::from);
    match (text("vocabulary"), text("cluster_uid")) {
        (Some(vocabulary), Some(cluster_uid)) => {
            Ok(Meta { vocabulary, cluster_uid, compacted: Revision::new(compacted), absent, is_open })
        }
        _ => Err(not_ours("it does not say its vocabulary or identity")),
    }
}

async fn create(connection: &mut SqliteConnection, vocabulary: &str) -> Result<(), sqlx::Error> {
    let mut transaction = sqlx::Connection::begin_with(connection, "BEGIN IMMEDIATE").await?;
    sqlx::raw_sql(TABLES).execute(&mut *transaction).await?;
    sqlx::query(
        "INSERT INTO meta VALUES ('format', ?), ('vocabulary', ?), ('cluster_uid', ?), ('compacted', '0'),
            ('absent', '1@0'), ('state', ?)",
    )
    .bind(FORMAT.to_string())
    .bind(vocabulary)
    .bind(uuid::Uuid::new_v4().to_string())
    .bind(COMPLETE)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

/// What an error means while the database at `path` is being opened and read.
pub(crate) fn at_start(path: &Path, error: &sqlx::Error) -> StoreError {
    let path = path.to_path_buf();
    let detail = detail(error);
    match primary_code(error) {
        Some(code::READONLY | code::CANTOPEN | code::PERM) => StoreError::NotWritable { path, detail },
        Some(code::CORRUPT) => StoreError::Damaged { path, detail },
        Some(code::NOTADB) => StoreError::NotADatabase { path, detail },
        Some(code::BUSY) => StoreError::Locked { lock: path.clone(), path },
        Some(code::IOERR) if let Some(full) = disk::no_room(&path) => {
            StoreError::DiskFull { detail: format!("{full} ({detail})").into() }
        }
        _ => at_runtime(error),
    }
}

/// What an error means once the store is running.
pub(crate) fn at_runtime(error: &sqlx::Error) -> StoreError {
    match primary_code(error) {
        Some(code::FULL) => StoreError::DiskFull { detail: detail(error) },
        Some(code::CORRUPT | code::NOTADB) => StoreError::ReadOnly { detail: detail(error) },
        // The last three where the file system was made read-only under the server.
        Some(code::IOERR | code::READONLY | code::CANTOPEN | code::PERM) => {
            StoreError::DiskFails { detail: detail(error) }
        }
        _ => StoreError::Unavailable { detail: detail(error) },
    }
}

fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code: u32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

fn detail(error: &sqlx::Error) -> Arc<str> {
    error.to_string().into()
}
