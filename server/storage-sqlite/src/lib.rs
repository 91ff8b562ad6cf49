//! The store that keeps its log in SQLite.
//!
//! The log is one table, one row per write, in order of revision; the state is the newest row of each object.
//! There is no other index: memory knows where everything is, so a commit appends and touches nothing else.
//!
//! One task (`writer`) owns the connection that writes. It takes whatever requests have come in, checks
//! them against memory, inserts all accepted ones in one transaction, publishes them to memory and then
//! answers. The commit is the point of no return: with `synchronous=FULL` it is on the disk before anybody is
//! told. Copying the write-ahead log into the database file happens on another connection (`checkpoint`).
//!
//! A lock file beside the database keeps a second process away.

mod checkpoint;
mod config;
mod disk;
mod faults;
mod insert;
mod lock;
mod log;
mod request;
mod reserve;
mod row;
mod schema;
mod store;
mod writer;

use std::path::Path;
use std::sync::Arc;

use orch_storage::check::{Report, Summary};
use orch_storage::engine::{Memory, Replay};
use orch_storage::store::Record;
use orch_storage::{Storage, StoreError};
use tokio::sync::{mpsc, watch};

pub use config::SqliteConfig;
pub use faults::{FaultPoint, Faults};

use checkpoint::Checkpointer;
use lock::Lock;
use log::{Log, LogReader};
use store::Sqlite;
use writer::Writer;

/// How many damaged rows are reported one by one at the start.
const DAMAGE_REPORTS: usize = 20;

/// Opens or creates the database and starts to serve it. Everything that can be wrong with it is found here:
/// see [`StoreError`]. Damaged values are not an error: their objects answer with [`orch_storage::Corrupt`].
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

/// Checks a database that no server needs to be running on: the file itself, the checksum of every row, the
/// order of the log. Changes nothing.
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
