//! When the writer has the write-ahead log copied into the database.

use std::time::{Duration, Instant};

use super::room::Room;
use super::{ROW_OVERHEAD, Writer};
use crate::{disk, schema, wal};

/// How often, and after which time each, the write-ahead log is copied anew where somebody else is at it.
const COPY_TRIES: u32 = 100;
const COPY_AGAIN: Duration = Duration::from_millis(10);
/// How long nothing was written when the write-ahead log is copied although it is short; and after how long
/// it is copied if there is always a little to write.
const IDLE: Duration = Duration::from_secs(2);
const LONGEST_WITHOUT_COPY: Duration = Duration::from_secs(30);
/// How much a transaction with a row to drop writes for each, at most about: pages whose entries change.
const PAGES_FOR_DROPPED: usize = 2;

impl Writer {
    /// Copies a write-ahead log that is short, so that little is left in it when nothing is written; and
    /// gives back what it grew under load.
    pub(super) async fn copy_when_idle(&mut self) {
        let is_idle = self.last_write.elapsed() > IDLE;
        if self.written > 0 && (is_idle || self.last_copy.elapsed() > LONGEST_WITHOUT_COPY) {
            self.wake_checkpointer();
        }
        let length = wal::wal_path(&self.config.path).metadata().map_or(0, |wal| wal.len());
        if is_idle
            && length > self.config.wal_limit()
            && let Err(error) = self.log.truncate(self.config.busy_timeout).await
        {
            tracing::warn!(%error, "the write-ahead log could not be shortened; trying again later");
        }
    }

    pub(super) async fn checkpoint(&mut self) {
        if let Err(error) = self.log.checkpoint().await {
            self.not_copied(&error);
        }
    }

    fn not_copied(&mut self, error: &sqlx::Error) {
        tracing::warn!(%error, "the write-ahead log could not be copied; trying again later");
        self.stop.at(&schema::at_runtime(error));
    }

    /// Counts a transaction of `bytes`. The write-ahead log grows by whole pages: those that it fills, and
    /// the last one.
    async fn count_written(&mut self, bytes: usize) {
        self.written += bytes as u64 + schema::PAGE as u64;
        if self.written < self.config.checkpoint_bytes {
            return;
        }
        self.is_tight = disk::room(&self.config.path).is_some_and(|room| room < self.config.wal_limit());
        if self.is_tight {
            self.copy_all().await;
        } else {
            self.wake_checkpointer();
        }
    }

    /// Copies all of the write-ahead log before the next commit, so that it starts over on blocks that it has
    /// already. Where there is little room it must stay shorter than the reserve: to copy it takes room, and
    /// until it is copied every deletion makes it longer. Returns whether it starts over.
    pub(super) async fn copy_all(&mut self) -> bool {
        self.written = 0;
        self.last_copy = Instant::now();
        for _ in 0..COPY_TRIES {
            match self.log.start_over(self.config.busy_timeout).await {
                Ok(true) => return true,
                // Another connection copies, or reads.
                Ok(false) => tokio::time::sleep(COPY_AGAIN).await,
                Err(error) => {
                    self.not_copied(&error);
                    return false;
                }
            }
        }
        false
    }

    fn wake_checkpointer(&mut self) {
        self.written = 0;
        self.last_copy = Instant::now();
        self.checkpointer.wake();
    }

    /// Counts a transaction of writes.
    pub(super) async fn count_commit(&mut self, bytes: usize) {
        if self.room != Room::Short {
            return self.count_written(bytes).await;
        }
        self.written += bytes as u64 + schema::PAGE as u64;
        self.copy_while_short().await;
    }

    /// Counts a transaction that dropped so many rows.
    pub(super) async fn count_dropped(&mut self, rows: usize) {
        if self.room != Room::Short {
            return self.count_written(rows * ROW_OVERHEAD).await;
        }
        self.written += (rows * PAGES_FOR_DROPPED) as u64 * schema::PAGE as u64;
        if self.written >= self.short_copy_bytes() {
            self.copy_all().await;
        }
    }
}
