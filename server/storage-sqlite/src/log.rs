//! The log table through one connection: append, read, drop.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use orch_storage::engine::{Accepted, Garbage};
use orch_storage::store::Visitor;
use orch_storage::{Revision, StoreError, Timestamp};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};

use crate::config::SqliteConfig;
use crate::disk;
use crate::evidence::Found;
use crate::insert::{Inserts, ROWS};
use crate::row;
use crate::salvage::LogRow;
use crate::schema::{self, Meta};
use crate::wal;

/// How many rows a scan is ahead of the code that takes them.
const READ_AHEAD: usize = 512;

/// A log that can be written.
pub(crate) struct Log {
    options: SqliteConnectOptions,
    connection: SqliteConnection,
    inserts: Inserts,
}

/// A log that can be read, beside one that is written.
pub(crate) struct LogReader {
    connection: SqliteConnection,
}

impl Log {
    /// Opens the database that `config` names, or creates it.
    pub(crate) async fn open(config: &SqliteConfig) -> Result<(Self, Meta), StoreError> {
        let path = &config.path;
        let options = schema::options(path, config.max_bytes, config.wal_limit())
            .busy_timeout(config.busy_timeout)
            .statement_cache_capacity(ROWS + 16)
            .row_buffer_size(READ_AHEAD)
            .thread_name(|id| format!("store-writer-{id}"));
        let is_new = path.metadata().map_or(true, |file| file.len() == 0);
        let opening = if is_new { schema::creating(options.clone()) } else { options.clone() };
        let mut connection = opening.connect().await.map_err(|error| schema::at_start(path, &error))?;
        let meta = schema::prepare(&mut connection, path, &config.vocabulary).await?;
        Ok((Self { options, connection, inserts: Inserts::new(config.sealing.clone()) }, meta))
    }

    /// Shows all rows, in order. Returns the revision of the last, or zero.
    pub(crate) async fn read(&mut self, visit: &mut Visitor<'_>) -> Result<Revision, sqlx::Error> {
        read(&mut self.connection, visit).await
    }

    /// Appends rows, durably, all or none.
    pub(crate) async fn append(&mut self, writes: &[Accepted]) -> Result<(), sqlx::Error> {
        self.inserts.insert(&mut self.connection, writes).await
    }

    /// Takes back what a failed append may have left: an open transaction, or rows after `last` that were not
    /// acknowledged. Opens a new connection if this one does not work any more.
    pub(crate) async fn restore(&mut self, last: Revision) -> Result<(), sqlx::Error> {
        // Fails if there is no transaction, which is the usual case.
        let _ = sqlx::query("ROLLBACK").execute(&mut self.connection).await;
        if self.drop_after(last).await.is_ok() {
            return Ok(());
        }
        let connection = self.options.connect().await?;
        // The old connection is broken, so whether it closes well does not matter.
        let _ = std::mem::replace(&mut self.connection, connection).close().await;
        self.drop_after(last).await
    }

    /// Deletes rows that history no longer needs. History then begins after the events that needed them, and
    /// after `forgotten`.
    pub(crate) async fn drop_rows(
        &mut self,
        garbage: &[Garbage],
        forgotten: Revision,
    ) -> Result<(), sqlx::Error> {
        let compacted = garbage.iter().fold(forgotten, |last, garbage| last.max(garbage.because_of));
        let rows: Vec<String> = garbage.iter().map(|garbage| garbage.revision.to_string()).collect();
        sqlx::query(
            "BEGIN IMMEDIATE;
             DELETE FROM log WHERE revision IN (SELECT value FROM json_each(?1));
             UPDATE meta SET value = (CAST(value AS INTEGER) + changes()) || '@' || max(
                    CAST(?2 AS INTEGER), (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'compacted'))
                WHERE name = 'absent';
             UPDATE meta SET value = ?2
                WHERE name = 'compacted' AND CAST(value AS INTEGER) < CAST(?2 AS INTEGER);
             COMMIT",
        )
        .bind(format!("[{}]", rows.join(",")))
        .bind(compacted.to_string())
        .execute(&mut self.connection)
        .await?;
        Ok(())
    }

    /// Returns up to `pages` unused pages to the file system. Returns whether more should follow: at least a
    /// quarter of the file is unused.
    pub(crate) async fn vacuum(&mut self, pages: u32) -> Result<bool, sqlx::Error> {
        let (unused, all) = self.pages().await?;
        if unused < u64::from(pages) || unused * 4 < all {
            return Ok(false);
        }
        let vacuum = format!("PRAGMA incremental_vacuum({pages})");
        sqlx::raw_sql(AssertSqlSafe(vacuum)).execute(&mut self.connection).await?;
        Ok(true)
    }

    /// Returns up to `pages` unused pages, where the database is longer than a file of `bytes`. Returns
    /// whether it became shorter.
    pub(crate) async fn shorten(&mut self, bytes: u64, pages: u64) -> Result<bool, sqlx::Error> {
        let (unused, all) = self.pages().await?;
        let pages = pages.min(unused).min(all.saturating_sub(bytes / schema::PAGE as u64));
        if pages > 0 {
            let vacuum = format!("PRAGMA incremental_vacuum({pages})");
            sqlx::raw_sql(AssertSqlSafe(vacuum)).execute(&mut self.connection).await?;
        }
        Ok(self.pages().await?.1 < all)
    }

    /// How many pages are unused, and how many there are.
    async fn pages(&mut self) -> Result<(u64, u64), sqlx::Error> {
        let pages: (i64, i64) =
            sqlx::query_as("SELECT freelist_count, page_count FROM pragma_freelist_count, pragma_page_count")
                .fetch_one(&mut self.connection)
                .await?;
        Ok((pages.0 as u64, pages.1 as u64))
    }

    /// Writes the file anew: unused pages go back to the file system, and nothing is left of rows that were
    /// deleted.
    pub(crate) async fn shrink(&mut self) -> Result<(), sqlx::Error> {
        sqlx::raw_sql("VACUUM").execute(&mut self.connection).await?;
        Ok(())
    }

    /// Bounds the size of the database from now on, in bytes.
    pub(crate) async fn limit(&mut self, max_bytes: Option<u64>) -> Result<(), sqlx::Error> {
        let pages = schema::max_pages(max_bytes);
        sqlx::raw_sql(AssertSqlSafe(format!("PRAGMA max_page_count = {pages}")))
            .execute(&mut self.connection)
            .await?;
        Ok(())
    }

    /// Copies what is left of the write-ahead log into the database.
    pub(crate) async fn checkpoint(&mut self) -> Result<bool, sqlx::Error> {
        checkpoint(&mut self.connection).await
    }

    /// The same, and lets the next write begin at the start of the log. Returns whether it will: while
    /// another connection reads, SQLite appends to the log, even if all of it is copied.
    pub(crate) async fn start_over(&mut self, busy_timeout: Duration) -> Result<bool, sqlx::Error> {
        self.set_busy_timeout(Duration::ZERO).await?;
        let copied = sqlx::query_as("PRAGMA wal_checkpoint(RESTART)").fetch_one(&mut self.connection).await;
        self.set_busy_timeout(busy_timeout).await?;
        let (is_busy, _, _): (i64, i64, i64) = copied?;
        Ok(is_busy == 0)
    }

    async fn set_busy_timeout(&mut self, time: Duration) -> Result<(), sqlx::Error> {
        let pragma = format!("PRAGMA busy_timeout = {}", time.as_millis());
        sqlx::raw_sql(AssertSqlSafe(pragma)).execute(&mut self.connection).await?;
        Ok(())
    }

    /// Says that the write-ahead log belongs to the database from now on; it is in the file itself when it is
    /// copied. To be called before the first write. `absent` is the number of revisions up to the newest that
    /// have no row.
    pub(crate) async fn begin_use(&mut self, absent: u64) -> Result<(), sqlx::Error> {
        sqlx::query(
            "INSERT INTO meta VALUES ('state', ?1), ('absent',
                    ?2 || '@' || (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'compacted'))
                ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        )
        .bind(schema::OPEN)
        .bind(absent.to_string())
        .execute(&mut self.connection)
        .await?;
        Ok(())
    }

    /// Says that the database file alone is everything. To be called last, before it is closed.
    pub(crate) async fn end_use(&mut self) -> Result<(), sqlx::Error> {
        let end = sqlx::query("UPDATE meta SET value = ? WHERE name = 'state'").bind(schema::COMPLETE);
        end.execute(&mut self.connection).await?;
        Ok(())
    }

    /// Begins a new history at `revision`: no write that follows has a revision up to it, and nobody can ask
    /// for one. `rows` is the number of rows.
    pub(crate) async fn begin_history(&mut self, revision: Revision, rows: u64) -> Result<(), sqlx::Error> {
        let absent = revision.get().saturating_sub(rows);
        sqlx::query(
            "INSERT INTO meta VALUES ('compacted', ?1), ('absent', ?2 || '@' || ?1), ('state', ?3)
                ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        )
        .bind(revision.to_string())
        .bind(absent.to_string())
        .bind(schema::COMPLETE)
        .execute(&mut self.connection)
        .await?;
        // Frames that the database did not take must not be found again at the next start.
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut self.connection).await?;
        Ok(())
    }

    /// Inserts salvaged rows as they are. One that is whole takes the place of one that is not.
    pub(crate) async fn insert_salvaged(&mut self, rows: &[LogRow]) -> Result<(), sqlx::Error> {
        sqlx::query("BEGIN IMMEDIATE").execute(&mut self.connection).await?;
        for row in rows {
            let insert = if row.is_whole() {
                "INSERT OR REPLACE INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            } else {
                "INSERT OR IGNORE INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            };
            sqlx::query(insert)
                .bind(row.revision.get() as i64)
                .bind(row.key.resource.shared())
                .bind(Arc::clone(&row.key.namespace))
                .bind(Arc::clone(&row.key.name))
                .bind(row.op)
                .bind(row.time)
                .bind(row.checksum)
                .bind(&row.value[..])
                .execute(&mut self.connection)
                .await?;
        }
        sqlx::query("COMMIT").execute(&mut self.connection).await?;
        Ok(())
    }

    /// Makes this the database of another vocabulary and identity.
    pub(crate) async fn adopt(&mut self, vocabulary: &str, cluster_uid: &str) -> Result<(), sqlx::Error> {
        for (name, value) in [("vocabulary", vocabulary), ("cluster_uid", cluster_uid)] {
            let update = sqlx::query("UPDATE meta SET value = ? WHERE name = ?").bind(value).bind(name);
            update.execute(&mut self.connection).await?;
        }
        Ok(())
    }

    /// Writes to the disk without changing anything. SQLite writes nothing where a row becomes what it was,
    /// so one comes and goes.
    pub(crate) async fn touch(&mut self) -> Result<(), sqlx::Error> {
        let mut transaction = self.connection.begin_with("BEGIN IMMEDIATE").await?;
        let touch = "INSERT INTO meta VALUES ('touch', ''); DELETE FROM meta WHERE name = 'touch'";
        sqlx::raw_sql(touch).execute(&mut *transaction).await?;
        transaction.commit().await
    }

    /// Shortens the write-ahead log to nothing, if nobody reads from it just now.
    pub(crate) async fn truncate(&mut self, busy_timeout: Duration) -> Result<(), sqlx::Error> {
        self.set_busy_timeout(Duration::ZERO).await?;
        let truncated = sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut self.connection).await;
        self.set_busy_timeout(busy_timeout).await?;
        truncated.map(|_| ())
    }

    /// Copies the write-ahead log and closes the database. It waits for nobody who reads: what they keep from
    /// being copied, the next start reads from the log.
    pub(crate) async fn close(mut self) -> Result<(), sqlx::Error> {
        self.truncate(Duration::ZERO).await?;
        self.connection.close().await
    }

    async fn drop_after(&mut self, last: Revision) -> Result<(), sqlx::Error> {
        let delete = sqlx::query("DELETE FROM log WHERE revision > ?").bind(last.get() as i64);
        delete.execute(&mut self.connection).await?;
        Ok(())
    }
}

impl LogReader {
    /// Opens the database at `path` for reading. Nothing is created or changed.
    pub(crate) async fn open(path: &Path) -> Result<Self, StoreError> {
        let options = schema::read_only_options(path).row_buffer_size(READ_AHEAD);
        // Otherwise SQLite makes files beside it, or a write-ahead log would be left out.
        let is_alone = wal::wal_path(path).metadata().map_or(0, |log| log.len()) == 0;
        let connection = options.immutable(is_alone && disk::is_read_only(path)).connect().await;
        Ok(Self { connection: connection.map_err(|error| schema::at_start(path, &error))? })
    }

    /// What the database at `path` says about itself, and what its rows show; nothing if there is no database
    /// yet. Changes nothing.
    pub(crate) async fn look(path: &Path) -> Result<Option<(Meta, Found)>, StoreError> {
        if path.metadata().map_or(true, |file| !file.is_file() || file.len() == 0) {
            return Ok(None);
        }
        let mut reader = Self::open(path).await?;
        let tables =
            sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut reader.connection);
        let tables: i64 = tables.await.map_err(|error| schema::at_start(path, &error))?;
        if tables == 0 {
            reader.close().await;
            return Ok(None);
        }
        let meta = reader.meta(path).await?;
        let seen: (i64, Option<i64>, Option<i64>) =
            sqlx::query_as("SELECT count(*), max(revision), max(time) FROM log WHERE revision > 0")
                .fetch_one(&mut reader.connection)
                .await
                .map_err(|error| schema::at_start(path, &error))?;
        reader.close().await;
        let (rows, last, time) = seen;
        let newest = meta.newest(Revision::new(last.unwrap_or_default() as u64));
        let time = time.map(|time| Timestamp(time as u64));
        Ok(Some((meta, Found { newest, rows: rows as u64, time })))
    }

    /// What the database says about itself.
    pub(crate) async fn meta(&mut self, path: &Path) -> Result<Meta, StoreError> {
        schema::read(&mut self.connection, path).await
    }

    /// Copies the database, as it is at one moment, into the file `copy`, which is empty. The copy needs no
    /// other file.
    pub(crate) async fn copy_into(mut self, path: &Path, copy: &Path) -> Result<(), StoreError> {
        let name = copy.to_str().ok_or_else(|| StoreError::NotWritable {
            path: copy.into(),
            detail: "the path is no text".into(),
        })?;
        let vacuum = sqlx::query("VACUUM INTO ?").bind(name);
        vacuum.execute(&mut self.connection).await.map_err(|error| schema::at_start(path, &error))?;
        let failed = |error| schema::at_start(copy, &error);
        let mut copied = SqliteConnectOptions::new().filename(copy).connect().await.map_err(failed)?;
        let complete = sqlx::query("UPDATE meta SET value = ? WHERE name = 'state'").bind(schema::COMPLETE);
        complete.execute(&mut copied).await.map_err(failed)?;
        copied.close().await.map_err(failed)
    }

    /// What the database finds wrong with its own structure; nothing if it is sound.
    pub(crate) async fn integrity(&mut self, path: &Path) -> Result<Vec<String>, StoreError> {
        let check = sqlx::query_scalar("PRAGMA quick_check(20)").fetch_all(&mut self.connection).await;
        let findings: Vec<String> = check.map_err(|error| schema::at_start(path, &error))?;
        Ok(findings.into_iter().filter(|finding| finding != "ok").collect())
    }

    /// Shows at most `limit` rows after a revision, in order.
    pub(crate) async fn read_some(
        &mut self,
        path: &Path,
        after: Revision,
        limit: u32,
        visit: &mut Visitor<'_>,
    ) -> Result<(), StoreError> {
        let mut rows =
            sqlx::query(row::SELECT_SOME).bind(after.get() as i64).bind(limit).fetch(&mut self.connection);
        while let Some(row) = rows.try_next().await.map_err(|error| schema::at_start(path, &error))? {
            visit(row::read(&row));
        }
        Ok(())
    }

    /// Closes the connection.
    pub(crate) async fn close(self) {
        // It read only, so there is nothing that could be lost.
        let _ = self.connection.close().await;
    }

    /// Shows all rows, in order, as they are at one moment. Returns what the database says about itself, and
    /// the newest revision there ever was.
    pub(crate) async fn read(
        &mut self,
        path: &Path,
        visit: &mut Visitor<'_>,
    ) -> Result<(Meta, Revision), StoreError> {
        let failed = |error| schema::at_start(path, &error);
        let mut transaction = self.connection.begin().await.map_err(failed)?;
        let meta = schema::read(&mut transaction, path).await?;
        let newest = read(&mut transaction, visit).await.map_err(failed)?;
        transaction.rollback().await.map_err(failed)?;
        let newest = meta.newest(newest);
        Ok((meta, newest))
    }
}

/// Copies the write-ahead log into the database, as far as possible without waiting for anybody. Returns
/// whether all of it is copied.
pub(crate) async fn checkpoint(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let copied = sqlx::query_as("PRAGMA wal_checkpoint(PASSIVE)").fetch_one(connection).await?;
    let (is_busy, pages, copied): (i64, i64, i64) = copied;
    Ok(is_busy == 0 && copied >= pages)
}

async fn read(connection: &mut SqliteConnection, visit: &mut Visitor<'_>) -> Result<Revision, sqlx::Error> {
    let mut newest = Revision::ZERO;
    let mut rows = sqlx::query(row::SELECT).fetch(connection);
    while let Some(row) = rows.try_next().await? {
        let record = row::read(&row);
        newest = record.revision;
        visit(record);
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use sqlx::Row;

    use super::*;

    /// What durability and speed rest on. A connection that forgets one of these works, until the power
    /// fails.
    #[tokio::test]
    async fn connections_are_set_up_for_durability() {
        let directory = tempfile::tempdir().unwrap();
        let config = SqliteConfig::new(directory.path().join("store.db"), "orch");
        for opened in ["created", "opened again"] {
            let (mut log, _) = Log::open(&config).await.unwrap();
            for (pragma, want) in [
                ("synchronous", "2"),
                ("journal_mode", "wal"),
                ("wal_autocheckpoint", "0"),
                ("journal_size_limit", "16777216"),
                ("secure_delete", "2"),
                ("auto_vacuum", "2"),
                ("page_size", "8192"),
            ] {
                let query = AssertSqlSafe(format!("PRAGMA {pragma}"));
                let row = sqlx::query(query).fetch_one(&mut log.connection).await.unwrap();
                let got: String = row.try_get_unchecked(0).unwrap();
                assert_eq!(got, want, "{pragma}, {opened}");
            }
            log.close().await.unwrap();
        }
    }
}
