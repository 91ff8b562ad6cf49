//! The store that keeps its log in SQLite.
//!
//! The log is one table, one row per write, in order of revision; the state is the newest row of each object.
//! There is no other index: memory knows where everything is, so a commit appends and touches nothing else.
//!
//! One task (`writer`) owns the connection that writes. It takes whatever requests have come in, checks their
//! conditions against memory, inserts all of them in one transaction, publishes them to memory and then answers.
//! The commit is the point of no return: `synchronous=FULL` has it on the disk before anybody hears of it.
//! Copying the write-ahead log into the database file happens on another connection (`checkpoint`).
//!
//! A lock file beside the database keeps a second process away.

mod checkpoint;
mod disk;
mod faults;
mod insert;
mod lock;
mod log;
mod reserve;
mod row;
mod schema;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use crate::check::{Report, Summary};
use crate::clock::{Clock, SystemClock};
use crate::error::StoreError;
use crate::memory::{Memory, Replay, Retention};
use crate::revision::Revision;
use crate::storage::Storage;
use crate::store::{BoxFuture, Guard, Record, Store, Visitor};
use crate::write::{Committed, Write};

pub use faults::{FaultPoint, Faults};

use checkpoint::Checkpointer;
use lock::Lock;
use log::{Log, LogReader};
use writer::{Caller, Control, Request, Writer};

/// How many damaged rows are reported one by one at the start.
const DAMAGE_REPORTS: usize = 20;

/// How a SQLite store behaves.
#[derive(Debug, Clone)]
pub struct SqliteConfig {
    /// The database file. Created if missing, with its directory. Its neighbours `-wal`, `-shm`, `.lock` and
    /// `.reserve` belong to it.
    pub path: PathBuf,
    /// The vocabulary of the objects; recorded at creation, and no other is accepted afterwards.
    pub vocabulary: String,
    /// How long history is kept: older states for lists, events for watches.
    pub retention: Duration,
    /// How much memory may be held for history alone, in bytes; beyond it, history is shorter than `retention`.
    pub history_bytes: u64,
    /// How many writes wait at most; the next callers wait for a place.
    pub queue: usize,
    /// How many writes one transaction holds at most.
    pub batch: usize,
    /// How many bytes of values one transaction holds at most, unless one write is larger.
    pub batch_bytes: usize,
    /// How large the database file may become, in bytes; a write that does not fit gets [`StoreError::DiskFull`].
    /// Dropping history makes room. None leaves it to the disk.
    pub max_bytes: Option<u64>,
    /// How much room is kept on the disk for deletions, in bytes. When the disk is full it is given back, and only
    /// [`Write::Remove`] and [`Write::Retire`] are taken until there is as much room again. `max_bytes` may be exceeded by
    /// as much.
    pub reserve_bytes: u64,
    /// How large the write-ahead log grows before it is copied into the database, in bytes.
    pub checkpoint_bytes: u64,
    /// How long a write waits for another program, such as a backup or a shell, that holds the database.
    pub busy_timeout: Duration,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Failures to play, for tests.
    pub faults: Faults,
}

impl SqliteConfig {
    /// The defaults for a database at `path`.
    pub fn new(path: impl Into<PathBuf>, vocabulary: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            vocabulary: vocabulary.into(),
            retention: Duration::from_mins(5),
            history_bytes: 256 << 20,
            queue: 1024,
            batch: 256,
            batch_bytes: 8 << 20,
            max_bytes: None,
            reserve_bytes: 8 << 20,
            checkpoint_bytes: 4 << 20,
            busy_timeout: Duration::from_secs(5),
            clock: Arc::new(SystemClock),
            faults: Faults::default(),
        }
    }

    fn retention(&self) -> Retention {
        Retention { time: self.retention, bytes: self.history_bytes }
    }
}

/// Opens or creates the database and starts to serve it. Everything that can be wrong with it is found here: see
/// [`StoreError`]. Damaged values are not an error: their objects answer with [`crate::Corrupt`].
pub async fn open(config: SqliteConfig) -> Result<Storage, StoreError> {
    let lock = Lock::acquire(&config.path)?;
    let (mut log, meta) = Log::open(&config).await?;
    let mut replay = Replay::new(meta.compacted, config.clock.now(), config.retention());
    let mut damaged = 0;
    let mut take = |record: Record| {
        if let Err(corrupt) = &record.value {
            damaged += 1;
            if damaged <= DAMAGE_REPORTS {
                tracing::error!(key = %record.key, %corrupt, "an object cannot be read");
            }
        }
        replay.push(record);
    };
    log.read(&mut take).await.map_err(|error| schema::at_start(&config.path, &error))?;
    if damaged > 0 {
        tracing::error!(damaged, "this many records cannot be read; a check of the database lists them");
    }
    let (memory_writer, garbage) = replay.finish();
    let memory = Memory::clone(memory_writer.memory());

    let (requests, request_queue) = mpsc::channel(config.queue.max(1));
    let (control, control_queue) = mpsc::channel(8);
    let (end, finished) = watch::channel(());
    let sqlite = Sqlite {
        path: config.path.clone(),
        cluster_uid: meta.cluster_uid,
        memory: memory.clone(),
        requests,
        control: control.clone(),
        finished,
    };
    let checkpointer = Checkpointer::start(&config.path, control.downgrade()).await?;
    let writer = Writer::new(config, lock, log, memory_writer, garbage, checkpointer);
    tokio::spawn(writer.run(request_queue, control_queue, end));
    Ok(Storage::new(memory, Arc::new(sqlite)))
}

/// Checks a database that no server needs to be running on: the file itself, the checksum of every row, the order
/// of the log. Changes nothing.
pub async fn check(path: &Path) -> Result<Report, StoreError> {
    let mut reader = LogReader::open(path).await?;
    let integrity = reader.integrity(path).await?;
    let mut summary = Summary::default();
    let newest = reader.read(path, &mut |record| summary.add(&record)).await?;
    let mut report = summary.finish(newest);
    for finding in integrity {
        report.problem(|| finding);
    }
    Ok(report)
}

/// The callers' side of the writer.
struct Sqlite {
    path: PathBuf,
    cluster_uid: Arc<str>,
    memory: Memory,
    requests: mpsc::Sender<Request>,
    control: mpsc::Sender<Control>,
    /// Closed when the writer has ended.
    finished: watch::Receiver<()>,
}

impl Sqlite {
    async fn ask(
        &self,
        control: impl FnOnce(oneshot::Sender<Result<(), StoreError>>) -> Control + Send,
    ) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.control.send(control(reply)).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

impl Store for Sqlite {
    fn commit(&self, write: Write, guard: Option<Guard>) -> BoxFuture<'_, Result<Committed, StoreError>> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            self.requests
                .send(Request { write, caller: Caller { guard, reply } })
                .await
                .map_err(|_| StoreError::Closed)?;
            answer.await.map_err(|_| StoreError::Closed)?
        })
    }

    fn records<'a>(&'a self, visit: &'a mut Visitor<'_>) -> BoxFuture<'a, Result<Revision, StoreError>> {
        Box::pin(async move { LogReader::open(&self.path).await?.read(&self.path, visit).await })
    }

    fn barrier(&self) -> BoxFuture<'_, Result<Revision, StoreError>> {
        // This process is the only one that commits, and it publishes before it acknowledges.
        let revision =
            if self.requests.is_closed() { Err(StoreError::Closed) } else { Ok(self.memory.revision()) };
        Box::pin(async move { revision })
    }

    fn compact(&self, before: Revision) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.ask(move |reply| Control::Compact { before: Some(before), reply }))
    }

    fn expire(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.ask(|reply| Control::Compact { before: None, reply }))
    }

    fn integrity(&self) -> BoxFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(async move { LogReader::open(&self.path).await?.integrity(&self.path).await })
    }

    fn shutdown(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            // Both fail only if the writer has ended already, or just then.
            let _ = self.control.send(Control::Shutdown).await;
            let _ = self.finished.clone().changed().await;
            Ok(())
        })
    }

    fn cluster_uid(&self) -> Arc<str> {
        Arc::clone(&self.cluster_uid)
    }
}
