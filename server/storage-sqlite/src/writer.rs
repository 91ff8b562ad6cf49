//! The one task that writes.
//!
//! Requests wait in a queue while a transaction runs; then all of them become the next one. So the higher the
//! load, the less each write costs. Between transactions the task drops rows that history no longer needs, a
//! few at a time.

mod copying;
mod room;
mod stop;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use orch_storage::engine::{Batch, Garbage, MemoryWriter};
use orch_storage::{Revision, StoreError, Write};
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;

use crate::checkpoint::{Checkpointer, Pause};
use crate::config::SqliteConfig;
use crate::faults::FaultPoint;
use crate::lock::Lock;
use crate::log::Log;
use crate::mark::Mark;
use crate::patrol::Patrol;
use crate::request::{Control, Request, answer};
use crate::reserve::Reserve;
use crate::{disk, schema, wal};
use room::Room;
pub(crate) use stop::Stop;

/// How often the idle writer looks for events that have become too old.
const TICK: Duration = Duration::from_secs(1);
/// How many rows one deletion drops at most.
const DROP_ROWS: usize = 256;
/// How many events are forgotten after a batch, at most; more than a batch brings, so that history shrinks
/// under load.
const FORGET_AFTER_BATCH: usize = 512;
/// How many events are forgotten on a tick, at most.
const FORGET_ON_TICK: usize = 16_384;
/// How many deletions an idle tick makes, at most.
const DROPS_ON_TICK: usize = 16;
/// How many unused pages an idle tick returns to the file system, at most.
const VACUUM_PAGES: u32 = 256;
/// How long the writer waits for more writes after a batch, at most.
const WAIT_FOR_MORE: Duration = Duration::from_millis(1);
/// How long history is kept while the disk is full: deletions can use what it holds.
const SHORT_HISTORY: Duration = Duration::from_secs(1);
/// About how many bytes a row has beside its value.
const ROW_OVERHEAD: usize = 128;

#[allow(clippy::struct_excessive_bools, reason = "each is known of the file or the disk by itself")]
pub(crate) struct Writer {
    config: SqliteConfig,
    lock: Lock,
    log: Log,
    mark: Mark,
    memory: MemoryWriter,
    /// How many revisions have no row, as long as that is not written down: until the first write. From then
    /// on the database file says that it is in use.
    absent: Option<u64>,
    /// The database file said that it is in use when it was opened.
    was_open: bool,
    /// Rows to drop, oldest event first.
    garbage: VecDeque<Garbage>,
    checkpointer: Checkpointer,
    /// Held while the disk is full.
    paused: Option<Pause>,
    patrol: Patrol,
    reserve: Reserve,
    room: Room,
    /// The disk had little room the last time somebody looked.
    is_tight: bool,
    /// All was done that makes room, and nothing was written since.
    resorted: bool,
    /// Bytes written since the checkpointer was last woken.
    written: u64,
    last_write: Instant,
    last_copy: Instant,
    /// There may be unused pages to return to the file system.
    shrinkable: bool,
    /// Dropping rows failed the last time.
    dropping_fails: bool,
    /// A transaction failed, and what it left in the log was not removed yet.
    needs_repair: bool,
    stop: Stop,
    /// The name of the write-ahead log.
    log_path: PathBuf,
    /// The log lost its name, and all that it holds is in the database file.
    is_log_saved: bool,
}

/// What an opened database is to its writer.
pub(crate) struct Opened {
    pub(crate) lock: Lock,
    pub(crate) log: Log,
    pub(crate) mark: Mark,
    pub(crate) memory: MemoryWriter,
    /// Rows that are not needed any more.
    pub(crate) garbage: Vec<Garbage>,
    /// How many revisions have no row.
    pub(crate) absent: u64,
    /// Whether the database file said that it is in use.
    pub(crate) was_open: bool,
    pub(crate) patrol: Patrol,
    pub(crate) stop: Stop,
}

impl Writer {
    pub(crate) fn new(config: SqliteConfig, opened: Opened, checkpointer: Checkpointer) -> Self {
        let Opened { lock, log, mark, memory, garbage, absent, was_open, patrol, stop } = opened;
        let garbage = garbage.into();
        let reserve = Reserve::beside(&config.path, config.reserve_bytes);
        let room = if reserve.is_kept() { Room::Reserved } else { Room::Unreserved };
        // What a process left that was killed is to be copied too: it would be read again at every start.
        let log_path = wal::wal_path(&config.path);
        let written = log_path.metadata().map_or(0, |wal| wal.len());
        Self {
            config,
            lock,
            log,
            mark,
            memory,
            absent: Some(absent),
            was_open,
            garbage,
            checkpointer,
            paused: None,
            patrol,
            reserve,
            room,
            is_tight: false,
            resorted: false,
            written,
            last_write: Instant::now(),
            last_copy: Instant::now(),
            shrinkable: true,
            dropping_fails: false,
            needs_repair: false,
            stop,
            log_path,
            is_log_saved: false,
        }
    }

    /// Serves both queues until the store is shut down or all handles on it are dropped. `finished` is
    /// dropped when the database is closed and unlocked.
    pub(crate) async fn run(
        mut self,
        mut requests: mpsc::Receiver<Request>,
        mut control: mpsc::Receiver<Control>,
        finished: watch::Sender<()>,
    ) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut waiting = Vec::with_capacity(self.config.batch);
        // Before the first write: a process that was killed on a full disk leaves only a part of the reserve.
        // Without this, more would be written at first than the rest of the reserve has room for.
        if self.stop.is_open() {
            self.look_for_room().await;
        }
        loop {
            tokio::select! {
                biased;
                Some(control) = control.recv() => match control {
                    Control::Compact { before, reply } => {
                        let compacted = self.compact(before).await;
                        self.look_for_room().await;
                        // The caller may be gone; the work is done either way.
                        let _ = reply.send(compacted);
                    }
                    Control::Checkpoint => self.checkpoint().await,
                    Control::Damaged(damage) => self.stop.at(&damage),
                    Control::Shutdown => break,
                },
                received = requests.recv_many(&mut waiting, self.config.batch) => {
                    if received == 0 {
                        break;
                    }
                    let began = Instant::now();
                    self.commit_all(&mut waiting).await;
                    wait_for_more(&requests, received, WAIT_FOR_MORE.min(began.elapsed() / 4)).await;
                    self.clean_after_batch().await;
                }
                _ = tick.tick() => if self.stop.is_open() {
                    self.try_the_disk().await;
                    self.keep_the_lock();
                    self.mark.sync_when_due();
                    self.copy_when_idle().await;
                    self.clean_when_idle().await;
                    self.look_for_room().await;
                } else {
                    self.save_the_log().await;
                }
            }
        }
        requests.close();
        while requests.recv_many(&mut waiting, self.config.batch).await > 0 {
            self.commit_all(&mut waiting).await;
        }
        // Otherwise the checkpointer could wait for this task while this task waits for it.
        drop(control);
        self.finish().await;
        drop(finished);
    }

    /// Commits `requests` in as few transactions as their size and the room on the disk allow.
    async fn commit_all(&mut self, requests: &mut Vec<Request>) {
        while !requests.is_empty() {
            let mut bytes = 0;
            let fitting = requests.iter().take_while(|request| {
                bytes += request.write.change.body().size();
                bytes <= self.batch_bytes()
            });
            let count = fitting.count().max(1);
            let part: Vec<Request> = requests.drain(..count).collect();
            let again = self.commit(part).await;
            requests.splice(..0, again);
        }
    }

    /// Commits `requests` in one transaction and answers them. Refused ones are answered after the commit
    /// too, because the write that they lost against may be in the same transaction. When the disk is full,
    /// the writes that free space are returned: there may be room for them now, without the others.
    async fn commit(&mut self, mut requests: Vec<Request>) -> Vec<Request> {
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
            && self.make_room().await
        {
            let again = results.into_iter().zip(again);
            return again
                .filter_map(|((reply, _), write)| room::again_or_refused(reply, write, full))
                .collect();
        }
        let published = persisted.is_ok().then(|| self.memory.publish(batch));
        for (reply, result) in results {
            answer(reply, persisted.clone().and(result));
        }
        // After the answers: there may be thousands of watches to wake, and the callers need not wait for
        // that.
        if let Some(published) = published {
            self.memory.wake(&published);
        }
        Vec::new()
    }

    async fn persist(&mut self, batch: &Batch) -> Result<(), StoreError> {
        self.stop.check()?;
        let persisted = self.try_to_persist(batch).await;
        match &persisted {
            Ok(()) => self.stop.written(&self.log_path),
            Err(error) => self.stop.at(error),
        }
        persisted
    }

    async fn try_to_persist(&mut self, batch: &Batch) -> Result<(), StoreError> {
        self.repair().await?;
        self.begin_use().await?;
        let faults = &self.config.faults;
        faults.at(FaultPoint::BeforeCommit)?;
        let appended = match self.log.append(batch.accepted()).await {
            Ok(()) => faults.at(FaultPoint::AfterCommit),
            Err(error) => Err(self.explain(&error).await),
        };
        if let Err(error) = appended {
            self.needs_repair = true;
            if let Err(error) = self.repair().await
                && !self.stop.is_failing()
            {
                tracing::error!(%error, "a failed commit is not undone yet; trying again before the next");
            }
            return Err(error);
        }
        self.resorted = false;
        // Before anybody is told; and after the sync, so that the mark is never ahead of the log.
        self.mark.raise(batch.accepted().last().map_or(Revision::ZERO, |write| write.event.revision()));
        self.last_write = Instant::now();
        let bytes: usize =
            batch.accepted().iter().map(|write| write.event.object().size() + ROW_OVERHEAD).sum();
        self.count_commit(bytes).await;
        Ok(())
    }

    /// Before the first write: the mark is there, and the database file says that it is not everything.
    async fn begin_use(&mut self) -> Result<(), StoreError> {
        let Some(absent) = self.absent else { return Ok(()) };
        if !self.mark.is_there() {
            let made = self.mark.create(self.memory.memory().revision());
            made.map_err(|error| StoreError::DiskFull { detail: error.to_string().into() })?;
        }
        if let Err(error) = self.log.begin_use(absent).await {
            return Err(self.explain(&error).await);
        }
        if let Err(error) = self.log.checkpoint().await {
            // What a process left that was killed may not fit into the file. That file says already that it
            // is in use.
            if !self.was_open {
                return Err(self.explain(&error).await);
            }
            tracing::warn!(%error, "the write-ahead log could not be copied; trying again later");
        }
        self.absent = None;
        Ok(())
    }

    /// Makes sure that the log ends where memory does: removes what a failed transaction left.
    async fn repair(&mut self) -> Result<(), StoreError> {
        if self.needs_repair {
            let last = self.memory.memory().revision();
            let restored = self.log.restore(last).await;
            if let Err(error) = restored {
                return Err(self.explain(&error).await);
            }
            self.needs_repair = false;
        }
        Ok(())
    }

    /// After a failure of the disk: whether it works again, which probes want to know when nobody writes.
    async fn try_the_disk(&mut self) {
        if self.stop.is_failing() && self.repair().await.is_ok() && self.log.touch().await.is_ok() {
            self.stop.written(&self.log_path);
        }
    }

    /// Makes a removed lock file anew. Another process may have taken the database meanwhile.
    fn keep_the_lock(&mut self) {
        if self.lock.has_its_name() {
            return;
        }
        match Lock::acquire(&self.config.path) {
            Ok(lock) => {
                tracing::warn!("the lock file of the database was removed or replaced: it is locked again");
                self.lock = lock;
            }
            Err(error) => self.stop.at(&StoreError::ReadOnly { detail: error.to_string().into() }),
        }
    }

    /// Copies the write-ahead log, which was removed or replaced under the server and is still open, into the
    /// database file: from there, a start reads it.
    async fn save_the_log(&mut self) {
        if self.is_log_saved || !self.stop.has_lost_the_log() {
            return;
        }
        match self.log.checkpoint().await {
            Ok(is_whole) => self.is_log_saved = is_whole,
            Err(error) => tracing::error!(%error, "the write-ahead log cannot be saved; trying again"),
        }
        if self.is_log_saved {
            tracing::warn!("what the write-ahead log holds is in the database file: start the server again");
        }
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

    /// Drops about as much history as the last batch added.
    async fn clean_after_batch(&mut self) {
        self.forget(FORGET_AFTER_BATCH);
        // A deletion costs as much as a commit: under load only full ones are worth it, unless the disk is
        // full.
        if self.garbage.len() >= DROP_ROWS || (self.room == Room::Short && !self.garbage.is_empty()) {
            let dropped = self.drop_some(1).await;
            self.report(&dropped);
        }
    }

    /// Drops what could not be dropped under load.
    async fn clean_when_idle(&mut self) {
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

    /// Warns once that rows cannot be dropped; it is tried again until it succeeds.
    fn report(&mut self, dropped: &Result<(), StoreError>) {
        if let Err(error) = dropped
            && !self.dropping_fails
        {
            tracing::warn!(%error, "old rows cannot be dropped now; trying again until it succeeds");
        }
        self.dropping_fails = dropped.is_err();
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
            self.drop_rows(Revision::ZERO).await?;
        }
        Ok(())
    }

    async fn compact(&mut self, before: Option<Revision>) -> Result<(), StoreError> {
        let forgotten = before.map(|before| before.min(self.memory.memory().revision()));
        match forgotten {
            Some(forgotten) => self.garbage.extend(self.memory.forget_through(forgotten)),
            None => self.forget(usize::MAX),
        }
        while !self.garbage.is_empty() {
            self.drop_rows(Revision::ZERO).await?;
        }
        if let Some(forgotten) = forgotten {
            // Creations leave nothing to drop, and are forgotten all the same.
            self.drop_rows(forgotten).await?;
        }
        while self.log.vacuum(VACUUM_PAGES).await.map_err(|error| schema::at_runtime(&error))? {}
        Ok(())
    }

    /// Drops the next rows that are not needed, a limited number. History up to `forgotten` is gone then,
    /// also after a start.
    async fn drop_rows(&mut self, forgotten: Revision) -> Result<(), StoreError> {
        self.stop.check()?;
        self.repair().await?;
        self.begin_use().await?;
        self.config.faults.at(FaultPoint::BeforeCompaction)?;
        let count = self.garbage.len().min(self.rows_to_drop());
        let (rows, _) = self.garbage.make_contiguous().split_at(count);
        let dropped = self.log.drop_rows(rows, forgotten).await;
        if let Err(error) = dropped {
            self.needs_repair = true;
            let error = self.explain(&error).await;
            self.stop.at(&error);
            return Err(error);
        }
        self.garbage.drain(..count);
        self.shrinkable = true;
        self.count_dropped(count).await;
        self.config.faults.at(FaultPoint::AfterCompaction)
    }

    /// Ends everything that uses the database, then closes and unlocks it.
    async fn finish(mut self) {
        drop(self.memory);
        self.patrol.stop().await;
        self.paused = None;
        self.checkpointer.stop().await;
        if self.absent.is_none()
            && let Err(error) = self.log.end_use().await
        {
            tracing::warn!(%error, "the database does not know that it is closed");
        }
        self.mark.close().await;
        if let Err(error) = self.log.close().await {
            tracing::warn!(%error, "the database did not close well; the next start will recover it");
        }
        drop(self.lock);
    }
}

/// Gives the callers that were just answered time to send their next writes, so that these share the next
/// transaction: returns when as many writes wait as were answered, or after `limit`.
async fn wait_for_more(requests: &mpsc::Receiver<Request>, answered: usize, limit: Duration) {
    let began = Instant::now();
    while requests.len() < answered && began.elapsed() < limit {
        tokio::task::yield_now().await;
    }
}
