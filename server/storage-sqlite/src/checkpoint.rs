//! Copies the write-ahead log into the database file while commits go on.
//!
//! The log starts over at its beginning, on blocks that the disk has already given out, only if all of it has
//! been copied before the next commit. This matters: while the log grows, every commit costs about twice as
//! much. So after the bulk has been copied here, the writer copies the rest, which is little by then, between
//! two commits.

use std::sync::Arc;

use orch_storage::StoreError;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tokio::sync::{Mutex, OwnedMutexGuard, mpsc};
use tokio::task::JoinHandle;

use crate::config::SqliteConfig;
use crate::request::Control;
use crate::{log, schema};

/// The task, and the signal that it should look.
pub(crate) struct Checkpointer {
    wake: mpsc::Sender<()>,
    /// The task holds it during a copy.
    turn: Arc<Mutex<()>>,
    task: JoinHandle<()>,
}

/// While this is held, the task copies nothing.
pub(crate) type Pause = OwnedMutexGuard<()>;

impl Checkpointer {
    /// Starts the task for the database that `config` names.
    pub(crate) async fn start(
        config: &SqliteConfig,
        control: mpsc::WeakSender<Control>,
    ) -> Result<Self, StoreError> {
        let path = &config.path;
        let options = schema::options(path, None, config.wal_limit())
            .thread_name(|id| format!("store-checkpoint-{id}"));
        let connection = options.connect().await.map_err(|error| schema::at_start(path, &error))?;
        let (wake, woken) = mpsc::channel(1);
        let turn = Arc::default();
        let task = tokio::spawn(run(connection, woken, Arc::clone(&turn), control));
        Ok(Self { wake, turn, task })
    }

    /// Tells the task that the log has grown.
    pub(crate) fn wake(&self) {
        // If a signal is waiting already, that one will do.
        let _ = self.wake.try_send(());
    }

    /// Waits until the task has ended its copy, and keeps it from beginning another one.
    pub(crate) async fn pause(&self) -> Pause {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// Ends the task; returns when its connection is closed. Nobody may hold a pause.
    pub(crate) async fn stop(self) {
        drop(self.wake);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the checkpoint task failed");
        }
    }
}

async fn run(
    mut connection: SqliteConnection,
    mut woken: mpsc::Receiver<()>,
    turn: Arc<Mutex<()>>,
    control: mpsc::WeakSender<Control>,
) {
    while woken.recv().await.is_some() {
        let copied = {
            let _turn = turn.lock().await;
            log::checkpoint(&mut connection).await
        };
        if let Err(error) = copied {
            tracing::warn!(%error, "the write-ahead log could not be copied; trying again later");
            if let (damage @ StoreError::ReadOnly { .. }, Some(control)) =
                (schema::at_runtime(&error), control.upgrade())
            {
                // The same as below.
                let _ = control.send(Control::Damaged(damage)).await;
            }
        } else if let Some(control) = control.upgrade() {
            // A closed channel means that the writer is about to do it anyway.
            let _ = control.send(Control::Checkpoint).await;
        }
    }
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "the checkpoint connection did not close well");
    }
}
