//! Copies the write-ahead log into the database file, beside the commits.
//!
//! The log can start over at its beginning only when all of it has been copied and nothing was appended meanwhile.
//! Under steady writes that moment never comes by itself: when the log has grown well beyond its size, the writer is
//! asked to copy the rest between two commits, which is little by then.

use std::path::Path;

use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::schema;
use super::writer::Control;
use crate::error::StoreError;

/// How many times its usual size the log may have before the writer is asked to help.
const PATIENCE: i64 = 4;

/// The task, and the signal that it should look.
pub(super) struct Checkpointer {
    wake: mpsc::Sender<()>,
    task: JoinHandle<()>,
}

impl Checkpointer {
    /// Starts the task for the database at `path`; the log is to be about `bytes` large.
    pub(super) async fn start(
        path: &Path,
        bytes: u64,
        control: mpsc::WeakSender<Control>,
    ) -> Result<Self, StoreError> {
        let options = schema::options(path, None).thread_name(|id| format!("store-checkpoint-{id}"));
        let connection = options.connect().await.map_err(|error| schema::at_start(path, &error))?;
        let (wake, woken) = mpsc::channel(1);
        let task = tokio::spawn(run(connection, bytes, woken, control));
        Ok(Self { wake, task })
    }

    /// Tells the task that the log has grown.
    pub(super) fn wake(&self) {
        // If a signal is waiting already, that one will do.
        let _ = self.wake.try_send(());
    }

    /// Ends the task; returns when its connection is closed.
    pub(super) async fn stop(self) {
        drop(self.wake);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the checkpoint task failed");
        }
    }
}

async fn run(
    mut connection: SqliteConnection,
    bytes: u64,
    mut woken: mpsc::Receiver<()>,
    control: mpsc::WeakSender<Control>,
) {
    while woken.recv().await.is_some() {
        match checkpoint(&mut connection).await {
            Ok(left) if left * schema::PAGE > PATIENCE * bytes as i64 => {
                if let Some(control) = control.upgrade() {
                    // A closed channel means that the writer is about to do it anyway.
                    let _ = control.send(Control::Checkpoint).await;
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log could not be copied; trying again later");
            }
        }
    }
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "the checkpoint connection did not close well");
    }
}

/// Copies what can be copied without waiting. Returns how many pages the log has if some were left, else 0.
async fn checkpoint(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let row = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").fetch_one(connection).await?;
    let (in_log, copied): (i64, i64) = (row.try_get(1)?, row.try_get(2)?);
    Ok(if copied < in_log { in_log } else { 0 })
}
