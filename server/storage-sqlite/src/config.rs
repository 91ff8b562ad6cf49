//! What can be configured.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use orch_storage::engine::Retention;
use orch_storage::{Clock, Sealing, SystemClock};

use crate::faults::Faults;

/// How a SQLite store behaves.
#[derive(Debug, Clone)]
pub struct SqliteConfig {
    /// The database file. Created if missing, with its directory. Its neighbours `-wal`, `-shm`, `.mark`,
    /// `.lock` and `.reserve` belong to it.
    pub path: PathBuf,
    /// The vocabulary of the objects; recorded at creation, and no other is accepted afterwards.
    pub vocabulary: String,
    /// How long history is kept: older states for lists, events for watches.
    pub retention: Duration,
    /// How much memory may be held for history alone, in bytes; beyond it, history is shorter than
    /// `retention`.
    pub history_bytes: u64,
    /// How many writes wait in the queue at most; more callers wait until they can enter it.
    pub queue: usize,
    /// How many writes one transaction holds at most.
    pub batch: usize,
    /// How many bytes of values one transaction holds at most, unless one write is larger.
    pub batch_bytes: usize,
    /// How large the database file may become, in bytes; a write that does not fit gets
    /// [`StoreError::DiskFull`](orch_storage::StoreError::DiskFull). Dropping history makes room. With none,
    /// the disk is the limit.
    pub max_bytes: Option<u64>,
    /// How much room is reserved on the disk for deletions, in bytes. When the disk is full, the reserve is
    /// released, and only [`Change::Remove`](orch_storage::Change::Remove) and
    /// [`Change::Retire`](orch_storage::Change::Retire) are accepted until it can be taken again. `max_bytes`
    /// may be exceeded by as much.
    pub reserve_bytes: u64,
    /// How large the write-ahead log grows before it is copied into the database, in bytes.
    pub checkpoint_bytes: u64,
    /// How long a write waits for another program, such as a backup or a shell, that holds the database.
    pub busy_timeout: Duration,
    /// Whether to go on with a database that lacks writes that were acknowledged. A new history begins then:
    /// no revision is given out twice, and whoever asks for an older one is told that it is gone.
    pub accept_data_loss: bool,
    /// Seals and opens values; with none, they are kept as they are, and read as they are kept.
    pub sealing: Option<Arc<dyn Sealing>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Failures to inject, for tests.
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
            accept_data_loss: false,
            sealing: None,
            clock: Arc::new(SystemClock),
            faults: Faults::default(),
        }
    }

    /// The length that the write-ahead log keeps, in bytes: enough for what comes while it is copied, so that
    /// it need not grow again each time.
    pub(crate) fn wal_limit(&self) -> u64 {
        self.checkpoint_bytes.saturating_mul(4).min(i64::MAX as u64)
    }

    pub(crate) fn retention(&self) -> Retention {
        Retention { time: self.retention, bytes: self.history_bytes }
    }
}
