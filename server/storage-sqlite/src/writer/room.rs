//! What the writer does when the disk is full: it accepts deletions only, in the room that was reserved for
//! them, until there is room again.

use orch_storage::{StoreError, Write};

use super::Writer;
use crate::disk;
use crate::request::{Request, answer};

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

impl Writer {
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
    pub(super) async fn make_room(&mut self, last_resort: &mut bool) -> bool {
        if self.room != Room::Short {
            self.run_short().await;
            return true;
        }
        if std::mem::replace(last_resort, true) {
            return false;
        }
        self.release_reserve(true).await;
        let compacted = self.compact(Some(self.memory.memory().revision())).await;
        self.copy_all().await;
        compacted.is_ok()
    }

    async fn run_short(&mut self) {
        tracing::error!("the disk is full: only deletions are accepted until there is room again");
        self.room = Room::Short;
        let beyond = self.config.max_bytes.map(|bytes| bytes + self.config.reserve_bytes);
        if let Err(error) = self.log.limit(beyond).await {
            tracing::error!(%error, "the database could not be allowed to grow");
        }
        self.release_reserve(false).await;
    }

    async fn release_reserve(&mut self, all: bool) {
        if let Err(error) = self.reserve.release(all).await {
            tracing::error!(%error, "the reserve could not be released");
        }
        // Then the write-ahead log starts over at its beginning, on blocks that it has already.
        self.copy_all().await;
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
                    if let Err(error) = self.log.limit(self.config.max_bytes).await {
                        tracing::error!(%error, "the size of the database could not be bounded again");
                    }
                    tracing::warn!("there is room on the disk again");
                }
            }
        }
    }
}
