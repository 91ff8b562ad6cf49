//! What the writer does when the disk is full: it accepts deletions only, in the room that was reserved for
//! them, until there is room again.

use orch_storage::{Committed, Revision, StoreError, Write};

use super::{DROP_ROWS, Writer};
use crate::disk;
use crate::request::{Reply, Request, answer};

/// How many bytes of values one transaction holds at most where there is little room, unless one write is
/// larger: what it leaves when it fails must not use up the reserve.
const TIGHT_BATCH_BYTES: usize = 1 << 20;
/// The write-ahead log is copied while the disk is full whenever it has this part of the reserve, and at most
/// so many rows are dropped at once. So each step fits into what the log has used before.
const SHORT_COPY_PART: u64 = 8;
const SHORT_DROP_ROWS: usize = 32;
/// How many pages are moved at once where the database is to become shorter.
const SHORTEN_PAGES: u64 = 64;

/// How much room the disk has, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Enough, and the reserve is taken.
    Reserved,
    /// Enough, but the reserve is not taken yet.
    Unreserved,
    /// Only the reserve, which was released: changes that do not free space are refused.
    Short,
}

/// A copy of a write that is to be tried again if the disk is full.
pub(super) fn to_try_again(write: &Write) -> Option<Write> {
    write.change.frees_space().then(|| write.clone())
}

/// What becomes of a write whose transaction met the full disk: it is tried again, or refused.
pub(super) fn again_or_refused(
    reply: Reply<Committed>,
    again: Option<Write>,
    full: &StoreError,
) -> Option<Request> {
    if let Some(write) = again {
        return Some(Request { write, reply });
    }
    answer(reply, Err(full.clone()));
    None
}

impl Writer {
    /// How many bytes of values one transaction holds at most.
    pub(super) fn batch_bytes(&self) -> usize {
        let is_tight = self.is_tight || self.room == Room::Short;
        if is_tight { self.config.batch_bytes.min(TIGHT_BATCH_BYTES) } else { self.config.batch_bytes }
    }

    /// How many rows one deletion drops at most.
    pub(super) fn rows_to_drop(&self) -> usize {
        if self.room == Room::Short { SHORT_DROP_ROWS } else { DROP_ROWS }
    }

    /// How long the write-ahead log becomes while the disk is full, in bytes.
    pub(super) fn short_copy_bytes(&self) -> u64 {
        self.config.checkpoint_bytes.min(self.config.reserve_bytes / SHORT_COPY_PART)
    }

    /// Refuses the writes that do not free space. One that would fail anyhow gets the error of its own.
    pub(super) fn refuse_growth(&self, requests: &mut Vec<Request>) {
        let batch = self.memory.batch(self.config.clock.now());
        for Request { write, reply } in requests.extract_if(.., |request| !request.write.change.frees_space())
        {
            let full = StoreError::DiskFull { detail: "only deletions are accepted now".into() };
            answer(reply, Err(batch.check(&write).err().unwrap_or(full)));
        }
    }

    /// Makes room after the disk was full: releases the first half of the reserve; the next time the second
    /// half too, and drops all history. Returns whether it is worth trying again.
    pub(super) async fn make_room(&mut self) -> bool {
        if self.room != Room::Short {
            self.run_short().await;
            return true;
        }
        if std::mem::replace(&mut self.resorted, true) {
            self.resorted = false;
            return false;
        }
        self.release_reserve(true).await;
        // Before the log is copied: copying would use up the room that dropping rows needs.
        self.drop_history().await;
        true
    }

    /// Copies the write-ahead log while the disk is full, if it has become long enough.
    pub(super) async fn copy_while_short(&mut self) {
        if self.written >= self.short_copy_bytes() && !self.copy_all().await {
            self.drop_history().await;
        }
    }

    async fn run_short(&mut self) {
        tracing::error!("the disk is full: only deletions are accepted until there is room again");
        self.room = Room::Short;
        // The released room is for deletions. A copy by the task could use it up.
        self.paused = Some(self.checkpointer.pause().await);
        let beyond = self.config.max_bytes.map(|bytes| bytes + self.config.reserve_bytes);
        if let Err(error) = self.log.limit(beyond).await {
            tracing::error!(%error, "the database could not be allowed to grow");
        }
        self.release_reserve(false).await;
        // Then the write-ahead log starts over at its beginning, on blocks that it has already.
        self.copy_all().await;
    }

    async fn release_reserve(&mut self, all: bool) {
        if let Err(error) = self.reserve.release(all).await {
            tracing::error!(%error, "the reserve could not be released");
        }
    }

    /// Drops all history, and makes the database so short that the write-ahead log can be copied into the
    /// file as long as it is. That takes little room in the log, and none beside it.
    async fn drop_history(&mut self) {
        let newest = self.memory.memory().revision();
        self.garbage.extend(self.memory.forget_through(newest));
        while !self.garbage.is_empty() {
            if let Err(error) = self.drop_rows(Revision::ZERO).await {
                self.report(&Err(error));
                break;
            }
        }
        if let Err(error) = self.shorten().await {
            tracing::warn!(%error, "the database could not be shortened");
        }
        self.copy_all().await;
    }

    /// Returns unused pages for which the file has no room yet.
    async fn shorten(&mut self) -> Result<(), sqlx::Error> {
        let has = self.config.path.metadata().map_or(0, |file| file.len());
        while self.log.shorten(has, SHORTEN_PAGES).await? {}
        Ok(())
    }

    /// Takes the reserve if it is not taken. With it, all writes are accepted again.
    pub(super) async fn look_for_room(&mut self) {
        match self.room {
            Room::Reserved => return,
            Room::Unreserved => {}
            // A checkpoint lets the files shrink.
            Room::Short => self.checkpoint().await,
        }
        match self.reserve.keep().await {
            Err(error) if self.room == Room::Unreserved && disk::is_full(&error) => self.run_short().await,
            Err(_) => {}
            Ok(()) => {
                if std::mem::replace(&mut self.room, Room::Reserved) == Room::Short {
                    self.paused = None;
                    if let Err(error) = self.log.limit(self.config.max_bytes).await {
                        tracing::error!(%error, "the size of the database could not be bounded again");
                    }
                    tracing::warn!("there is room on the disk again");
                }
            }
        }
    }
}
