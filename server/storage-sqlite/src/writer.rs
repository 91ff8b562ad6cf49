//! The one task that writes.
//!
//! Requests wait in a queue while a transaction runs; then all of them make the next one. So the more there is to
//! do, the less each write costs. Between transactions the task does what else changes the database, a little at a
//! time: dropping rows that history no longer needs.

mod room;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use orch_storage::engine::{Batch, Garbage, MemoryWriter};
use orch_storage::{Committed, Revision, StoreError, Write};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::MissedTickBehavior;

use crate::checkpoint::Checkpointer;
use crate::config::SqliteConfig;
use crate::faults::FaultPoint;
use crate::lock::Lock;
use crate::log::Log;
use crate::reserve::Reserve;
use crate::{disk, schema};
use room::Room;

/// How often the idle writer looks what has become too old.
const TICK: Duration = Duration::from_secs(1);
/// How many rows one deletion drops at most.
const DROP_ROWS: usize = 256;
/// How many events are forgotten after a batch, at most; more than a batch brings, so that history shrinks under load.
const FORGET_AFTER_BATCH: usize = 512;
/// How many events are forgotten on a tick, at most.
const FORGET_ON_TICK: usize = 16_384;
/// How many deletions an idle tick makes, at most.
const DROPS_ON_TICK: usize = 16;
/// How many pages an idle tick gives back to the file system, at most.
const VACUUM_PAGES: u32 = 256;
/// How long the writer lets callers get ready after a batch, at most.
const PATIENCE: Duration = Duration::from_millis(1);
/// How long history is kept while there is no room: what it holds, deletions can use.
const SHORT_HISTORY: Duration = Duration::from_secs(1);
/// About how many bytes a row has beside its value.
const ROW_OVERHEAD: usize = 128;

/// A write that waits for its turn.
pub(crate) struct Request {
    pub(crate) write: Write,
    pub(crate) reply: Reply<Committed>,
}

/// What else the writer does when it is told to.
pub(crate) enum Control {
    /// Forget history up to a revision, or as configured, and give back all the room that this makes.
    Compact { before: Option<Revision>, reply: Reply<()> },
    /// Copy the rest of the write-ahead log now.
    Checkpoint,
    /// Commit what is in the queue, and end.
    Shutdown,
}

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

pub(crate) struct Writer {
    config: SqliteConfig,
    lock: Lock,
    log: Log,
    memory: MemoryWriter,
    /// Rows to drop, oldest event first.
    garbage: VecDeque<Garbage>,
    checkpointer: Checkpointer,
    reserve: Reserve,
    room: Room,
    /// Bytes written since the checkpointer was last woken.
    written: u64,
    /// Rows were dropped since it was last found that there is nothing to give back to the file system.
    shrinkable: bool,
    /// Dropping rows failed the last time.
    untidy: bool,
    /// A commit failed and what it left is not cleared up yet.
    suspect: bool,
}

impl Writer {
    pub(crate) fn new(
        config: SqliteConfig,
        lock: Lock,
        log: Log,
        memory: MemoryWriter,
        garbage: Vec<Garbage>,
        checkpointer: Checkpointer,
    ) -> Self {
        let garbage = garbage.into();
        let reserve = Reserve::beside(&config.path, config.reserve_bytes);
        let room = if reserve.is_kept() { Room::Reserved } else { Room::Unreserved };
        Self {
            config,
            lock,
            log,
            memory,
            garbage,
            checkpointer,
            reserve,
            room,
            written: 0,
            shrinkable: true,
            untidy: false,
            suspect: false,
        }
    }

    /// Serves both queues until it is told to end, or nobody is left who could ask for anything. `finished` is dropped
    /// when the database is free.
    pub(crate) async fn run(
        mut self,
        mut requests: mpsc::Receiver<Request>,
        mut control: mpsc::Receiver<Control>,
        finished: watch::Sender<()>,
    ) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut waiting = Vec::with_capacity(self.config.batch);
        loop {
            tokio::select! {
                biased;
                Some(control) = control.recv() => match control {
                    Control::Compact { before, reply } => {
                        let compacted = self.compact(before).await;
                        self.look_for_room().await;
                        // Whoever asked may have gone; the work is done either way.
                        let _ = reply.send(compacted);
                    }
                    Control::Checkpoint => self.checkpoint().await,
                    Control::Shutdown => break,
                },
                received = requests.recv_many(&mut waiting, self.config.batch) => {
                    if received == 0 {
                        break;
                    }
                    let began = Instant::now();
                    self.commit_all(&mut waiting).await;
                    gather(&requests, received, PATIENCE.min(began.elapsed() / 4)).await;
                    self.tidy().await;
                }
                _ = tick.tick() => {
                    self.tidy_idle().await;
                    self.look_for_room().await;
                }
            }
        }
        requests.close();
        while requests.recv_many(&mut waiting, self.config.batch).await > 0 {
            self.commit_all(&mut waiting).await;
        }
        // Or the checkpointer could wait for us while we wait for it.
        drop(control);
        self.finish().await;
        drop(finished);
    }

    /// Commits `requests` in as few transactions as their size allows.
    async fn commit_all(&mut self, requests: &mut Vec<Request>) {
        while !requests.is_empty() {
            let mut bytes = 0;
            let fitting = requests.iter().take_while(|request| {
                bytes += request.write.change.body().size();
                bytes <= self.config.batch_bytes
            });
            let count = fitting.count().max(1);
            let part: Vec<Request> = requests.drain(..count).collect();
            self.commit(part).await;
        }
    }

    /// Commits `requests` in one transaction and answers them. Refused ones are answered last as well: what they met
    /// may be in the same transaction. Where there is no room, what makes room is tried again by itself.
    async fn commit(&mut self, mut requests: Vec<Request>) {
        let mut last_resort = false;
        loop {
            if self.room == Room::Short {
                self.refuse_growth(&mut requests);
            }
            let again: Vec<Option<Write>> =
                requests.iter().map(|request| room::to_try_again(&request.write)).collect();
            let mut batch = self.memory.batch(self.config.clock.now());
            let results: Vec<_> =
                requests.into_iter().map(|Request { write, reply }| (reply, batch.add(write))).collect();
            let persisted = if batch.accepted().is_empty() { Ok(()) } else { self.persist(&batch).await };
            if let Err(full @ StoreError::DiskFull { .. }) = &persisted
                && self.make_room(&mut last_resort).await
            {
                requests = Vec::new();
                for ((reply, _), write) in results.into_iter().zip(again) {
                    match write {
                        Some(write) => requests.push(Request { write, reply }),
                        None => answer(reply, Err(full.clone())),
                    }
                }
                continue;
            }
            let published = persisted.is_ok().then(|| self.memory.publish(batch));
            for (reply, result) in results {
                answer(reply, persisted.clone().and(result));
            }
            // After the answers: there may be thousands of watches to wake, and the callers need not wait for that.
            if let Some(published) = published {
                self.memory.wake(&published);
            }
            return;
        }
    }

    async fn persist(&mut self, batch: &Batch) -> Result<(), StoreError> {
        self.clear_up().await?;
        let faults = &self.config.faults;
        faults.at(FaultPoint::BeforeCommit)?;
        let appended = match self.log.append(batch.accepted()).await {
            Ok(()) => faults.at(FaultPoint::AfterCommit),
            Err(error) => Err(self.explain(&error).await),
        };
        if let Err(error) = appended {
            self.suspect = true;
            if let Err(error) = self.clear_up().await {
                tracing::error!(%error, "a failed commit could not be cleared up; trying again before the next");
            }
            return Err(error);
        }
        let bytes: usize =
            batch.accepted().iter().map(|write| write.event.object().size() + ROW_OVERHEAD).sum();
        self.grown_by(bytes);
        Ok(())
    }

    /// Makes sure that the log ends where memory does: nothing stays of a failed commit.
    async fn clear_up(&mut self) -> Result<(), StoreError> {
        if self.suspect {
            let last = self.memory.memory().revision();
            let restored = self.log.restore(last).await;
            if let Err(error) = restored {
                return Err(self.explain(&error).await);
            }
            self.suspect = false;
        }
        Ok(())
    }

    /// What a database error means for the writes that met it.
    async fn explain(&self, error: &sqlx::Error) -> StoreError {
        let explained = schema::at_runtime(error);
        if matches!(explained, StoreError::DiskFull { .. }) {
            return explained;
        }
        let path = self.config.path.clone();
        match tokio::task::spawn_blocking(move || disk::no_room(&path)).await {
            Ok(Some(full)) => StoreError::DiskFull { detail: format!("{full} ({error})").into() },
            _ => explained,
        }
    }

    /// Keeps up with what the last batch brought.
    async fn tidy(&mut self) {
        self.forget(FORGET_AFTER_BATCH);
        // A deletion costs as much as a commit: only full ones are worth it now, unless room is what is wanted.
        if self.garbage.len() >= DROP_ROWS || (self.room == Room::Short && !self.garbage.is_empty()) {
            let dropped = self.drop_some(1).await;
            self.report(&dropped);
        }
    }

    /// Does what there was no time for.
    async fn tidy_idle(&mut self) {
        self.forget(FORGET_ON_TICK);
        let mut done = self.drop_some(DROPS_ON_TICK).await;
        if self.shrinkable && done.is_ok() {
            done = match self.log.vacuum(VACUUM_PAGES).await {
                Ok(more) => {
                    self.shrinkable = more;
                    Ok(())
                }
                Err(error) => Err(self.explain(&error).await),
            };
        }
        self.report(&done);
    }

    /// Says once that tidying up fails; it is tried again all the time.
    fn report(&mut self, tidied: &Result<(), StoreError>) {
        if let Err(error) = tidied
            && !self.untidy
        {
            tracing::warn!(%error, "old rows cannot be dropped now; trying again until it succeeds");
        }
        self.untidy = tidied.is_err();
    }

    fn forget(&mut self, events: usize) {
        let now = self.config.clock.now();
        let mut retention = self.config.retention();
        if self.room == Room::Short {
            retention.time = retention.time.min(SHORT_HISTORY);
        }
        self.garbage.extend(self.memory.forget_overdue(now, &retention, events));
    }

    async fn drop_some(&mut self, deletions: usize) -> Result<(), StoreError> {
        for _ in 0..deletions {
            if self.garbage.is_empty() {
                break;
            }
            self.drop_rows().await?;
        }
        Ok(())
    }

    async fn compact(&mut self, before: Option<Revision>) -> Result<(), StoreError> {
        match before {
            Some(before) => self.garbage.extend(self.memory.forget_through(before)),
            None => self.forget(usize::MAX),
        }
        while !self.garbage.is_empty() {
            self.drop_rows().await?;
        }
        while self.log.vacuum(VACUUM_PAGES).await.map_err(|error| schema::at_runtime(&error))? {}
        Ok(())
    }

    /// Drops the next rows that are not needed, a limited number.
    async fn drop_rows(&mut self) -> Result<(), StoreError> {
        self.clear_up().await?;
        self.config.faults.at(FaultPoint::BeforeCompaction)?;
        let count = self.garbage.len().min(DROP_ROWS);
        let (rows, _) = self.garbage.make_contiguous().split_at(count);
        let dropped = self.log.drop_rows(rows).await;
        if let Err(error) = dropped {
            self.suspect = true;
            return Err(self.explain(&error).await);
        }
        self.garbage.drain(..count);
        self.shrinkable = true;
        self.grown_by(count * ROW_OVERHEAD);
        self.config.faults.at(FaultPoint::AfterCompaction)
    }

    async fn checkpoint(&mut self) {
        if let Err(error) = self.log.checkpoint().await {
            tracing::warn!(%error, "the write-ahead log could not be copied; trying again later");
        }
    }

    /// Notes a transaction of `bytes`. The log takes whole pages: those that it fills, and the last one.
    fn grown_by(&mut self, bytes: usize) {
        self.written += bytes as u64 + schema::PAGE as u64;
        if self.written >= self.config.checkpoint_bytes {
            self.written = 0;
            self.checkpointer.wake();
        }
    }

    /// Ends all that rests on the database, then gives the database free.
    async fn finish(self) {
        drop(self.memory);
        self.checkpointer.stop().await;
        if let Err(error) = self.log.close().await {
            tracing::warn!(%error, "the database did not close well; the next start will recover it");
        }
        drop(self.lock);
    }
}

/// Tells the caller how its write ended.
fn answer(reply: Reply<Committed>, result: Result<Committed, StoreError>) {
    // A caller that no longer listens is no reason to undo anything.
    let _ = reply.send(result);
}

/// Lets those who were just answered send their next write, so that it goes with the next transaction: returns when as
/// many wait as were answered, or after `patience`.
async fn gather(requests: &mpsc::Receiver<Request>, answered: usize, patience: Duration) {
    let began = Instant::now();
    while requests.len() < answered && began.elapsed() < patience {
        tokio::task::yield_now().await;
    }
}
