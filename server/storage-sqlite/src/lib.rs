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
//! A lock file beside the database keeps a second process away. Another file beside it, the high-water mark,
//! says what was acknowledged last, so that a start knows whether anything of it is missing (`mark`,
//! `evidence`).

mod backup;
mod check;
mod checkpoint;
mod compact;
mod config;
mod create;
mod disk;
mod evidence;
mod faults;
mod identity;
mod insert;
mod lock;
mod log;
mod mark;
mod patrol;
mod place;
mod repair;
mod request;
mod reserve;
mod rollback;
mod row;
mod salvage;
mod schema;
mod store;
mod wal;
mod writer;

use std::path::Path;
use std::sync::Arc;

use orch_storage::engine::{Garbage, Memory, MemoryWriter, Replay};
use orch_storage::store::{Record, Visitor};
use orch_storage::{Revision, Sealing, Storage, StoreError};
use tokio::sync::{mpsc, watch};

pub use backup::{backup, backup_unnamed, restore};
pub use check::check;
pub use compact::compact;
pub use config::SqliteConfig;
pub use create::create;
pub use faults::{FaultPoint, Faults};
pub use place::{files, put_in_place};
pub use repair::{Repaired, repair};

use checkpoint::Checkpointer;
use evidence::{Evidence, Found};
use identity::Identity;
use lock::Lock;
use log::{Log, LogReader};
use mark::Mark;
use patrol::{Findings, Patrol};
use reserve::Reserve;
use schema::Meta;
use store::Sqlite;
use writer::{Opened, Stop, Writer};

/// How many damaged rows are reported one by one at the start.
const DAMAGE_REPORTS: usize = 20;

/// Opens or creates the database and starts to serve it. Everything that can be wrong with it is found here:
/// see [`StoreError`]. Damaged values are not an error: their objects answer with [`orch_storage::Corrupt`].
///
/// Where the disk is so full that not even the files fit that SQLite keeps beside a database, half of the
/// reserve is released for them: what was written can be read, and deletions make room.
pub async fn open(config: SqliteConfig) -> Result<Storage, StoreError> {
    let full = match open_once(config.clone()).await {
        Err(full @ StoreError::DiskFull { .. }) => full,
        opened => return opened,
    };
    let reserve = Reserve::beside(&config.path, config.reserve_bytes);
    if !reserve.is_kept() || reserve.release(false).await.is_err() {
        return Err(full);
    }
    tracing::warn!(%full, "a part of the reserve was released, so that the database can be opened");
    open_once(config).await
}

async fn open_once(config: SqliteConfig) -> Result<Storage, StoreError> {
    let lock = Lock::acquire(&config.path)?;
    rollback::undo(&config.path).await?;
    let evidence = Evidence::gather(&config.path)?;
    let mut history = accepted_loss(&config, &evidence).await?;
    let (mut log, mut meta) = Log::open(&config).await?;
    if history.is_none() && evidence.database_is_gone() {
        let nothing = Found { newest: meta.newest(Revision::ZERO), rows: 0, time: None };
        history = Some((evidence.new_history(nothing, config.clock.now()), 0));
    }
    if let Some((revision, rows)) = history {
        let begun = log.begin_history(revision, rows).await;
        begun.map_err(|error| schema::at_start(&config.path, &error))?;
        tracing::warn!(%revision, "a new history begins");
        (meta.compacted, meta.is_open) = (revision, false);
    }
    let loaded = load(&mut log, &meta, &config).await?;
    let Loaded { memory: memory_writer, garbage, found } = loaded;
    let mut mark = Mark::of(&config.path, Arc::clone(&meta.cluster_uid));
    if let Err(error) = mark.create(found.newest) {
        // A full disk can be read. The first write tries again.
        tracing::warn!(%error, "the high-water mark cannot be written");
    }
    let memory = Memory::clone(memory_writer.memory());

    let identity = Identity::of(&config.path)?;
    let findings = Findings::default();
    let (requests, request_queue) = mpsc::channel(config.queue.max(1));
    let (control, control_queue) = mpsc::channel(8);
    let (end, finished) = watch::channel(());
    let sqlite = Sqlite {
        identity: identity.clone(),
        cluster_uid: meta.cluster_uid,
        memory: memory.clone(),
        sealing: config.sealing.clone(),
        requests,
        control: control.clone(),
        finished,
        findings: findings.clone(),
    };
    let stop = Stop::new(identity.clone(), findings.clone());
    let checkpointer = Checkpointer::start(&config, control.downgrade()).await?;
    let absent = found.newest.get().saturating_sub(found.rows);
    let patrol = Patrol::start(identity, findings);
    let was_open = meta.is_open;
    let opened = Opened { lock, log, mark, memory: memory_writer, garbage, absent, was_open, patrol, stop };
    let writer = Writer::new(config, opened, checkpointer);
    tokio::spawn(writer.run(request_queue, control_queue, end));
    Ok(Storage::new(memory, Arc::new(sqlite)))
}

/// The first revision of a new history and the number of rows that are there, where something is lost and the
/// operator accepts that. Keeps the write-ahead log as it was found then.
async fn accepted_loss(
    config: &SqliteConfig,
    evidence: &Evidence,
) -> Result<Option<(Revision, u64)>, StoreError> {
    if evidence.database_is_gone() {
        refuse_loss(config, "the file is missing or empty, and there was one")?;
        // The database would remove a log that does not belong to it.
        evidence.keep_wal(Revision::ZERO)?;
    }
    // By a connection that only reads: one that writes removes the write-ahead log when it is closed, and
    // with it what may be salvaged.
    let mut history = None;
    if let Some((meta, found)) = LogReader::look(&config.path).await? {
        let missing = evidence.missing(&meta, found);
        if !missing.is_empty() {
            refuse_loss(config, &missing.join("; "))?;
            history = Some((evidence.new_history(found, config.clock.now()), found.rows));
        }
    }
    if let Some((revision, _)) = history {
        evidence.keep_wal(revision)?;
    }
    Ok(history)
}

/// Shows all rows of the database at `path`, in order, as they are at one moment, with values that `sealing`
/// opens. A server may be writing meanwhile. Changes nothing. Fails at the end where writes are missing that
/// were acknowledged.
pub async fn read(
    path: &Path,
    sealing: Option<&dyn Sealing>,
    visit: &mut Visitor<'_>,
) -> Result<(), StoreError> {
    let evidence = Evidence::gather(path)?;
    let mut reader = LogReader::open(path).await?;
    let (mut rows, mut time) = (0, None);
    let mut take = |record: Record| {
        (rows, time) = (rows + 1, Some(record.time));
        visit(row::opened(record, sealing).0);
    };
    let (meta, newest) = reader.read(path, &mut take).await?;
    reader.close().await;
    evidence.require(&meta, Found { newest, rows, time })
}

/// The vocabulary of the database at `path`. Changes nothing.
pub async fn vocabulary(path: &Path) -> Result<Arc<str>, StoreError> {
    let mut reader = LogReader::open(path).await?;
    let meta = reader.meta(path).await?;
    reader.close().await;
    Ok(meta.vocabulary)
}

/// The rows of a database, in memory.
struct Loaded {
    memory: MemoryWriter,
    garbage: Vec<Garbage>,
    found: Found,
}

async fn load(log: &mut Log, meta: &Meta, config: &SqliteConfig) -> Result<Loaded, StoreError> {
    let mut replay = Replay::new(meta.compacted, config.clock.now(), config.retention());
    let (mut damaged, mut rows, mut time) = (0, 0, None);
    let mut take = |record: Record| {
        let (record, seal) = row::opened(record, config.sealing.as_deref());
        if let Err(corrupt) = &record.value {
            damaged += 1;
            if damaged <= DAMAGE_REPORTS {
                tracing::error!(key = %record.key, %corrupt, "an object cannot be read");
            }
        }
        (rows, time) = (rows + 1, Some(record.time));
        replay.push_sealed(record, seal);
    };
    let last = log.read(&mut take).await.map_err(|error| schema::at_start(&config.path, &error))?;
    if damaged > 0 {
        tracing::error!(
            damaged,
            "this many records cannot be read; a check of the database lists those that are damaged"
        );
    }
    let (memory, garbage) = replay.finish();
    Ok(Loaded { memory, garbage, found: Found { newest: meta.newest(last), rows, time } })
}

/// Refuses a database that lacks acknowledged writes, unless the operator accepts that.
fn refuse_loss(config: &SqliteConfig, missing: &str) -> Result<(), StoreError> {
    if !config.accept_data_loss {
        return Err(StoreError::Lost { path: config.path.clone(), detail: missing.into() });
    }
    tracing::warn!(missing, "going on without writes that were acknowledged, as configured");
    Ok(())
}
