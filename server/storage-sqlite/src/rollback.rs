//! What is left of a first start that was cut off.
//!
//! A new database writes its first transactions behind a rollback journal; the write-ahead log takes over
//! after them. If the process is killed in between, the journal says how to undo what is half done. Only a
//! connection that writes does that, and the first ones of a start only read.

use std::path::{Path, PathBuf};

use orch_storage::StoreError;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::{schema, wal};

/// Undoes the transaction that the rollback journal beside the database at `path` belongs to, if there is one
/// that has anything in it. The caller holds the lock.
///
/// A write-ahead log with anything in it is newer than such a journal. Then nothing is done: a connection
/// that writes could remove the log, and with it what may be salvaged.
pub(crate) async fn undo(path: &Path) -> Result<(), StoreError> {
    let is_cut_off = has_bytes(path) && has_bytes(&journal_path(path));
    if !is_cut_off || has_bytes(&wal::wal_path(path)) {
        return Ok(());
    }
    let failed = |error| schema::at_start(path, &error);
    let options = SqliteConnectOptions::new().filename(path).foreign_keys(false).disable_statement_logging();
    let mut connection = options.connect().await.map_err(failed)?;
    // The first read undoes it.
    sqlx::query("SELECT count(*) FROM sqlite_schema").execute(&mut connection).await.map_err(failed)?;
    connection.close().await.map_err(failed)?;
    tracing::info!("a first start that was cut off is undone");
    Ok(())
}

fn journal_path(path: &Path) -> PathBuf {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    journal.into()
}

fn has_bytes(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.len() > 0)
}
