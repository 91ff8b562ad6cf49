//! What can be configured.

use std::sync::Arc;
use std::time::Duration;

use orch_storage::engine::Retention;
use orch_storage::{Clock, Sealing, SystemClock};

use crate::other_forms::OtherForms;
use crate::tls::TlsFiles;

/// How a store in etcd behaves.
#[derive(Debug, Clone)]
pub struct EtcdConfig {
    /// The addresses of the members: `http://host:port` or `https://host:port`.
    pub servers: Vec<String>,
    /// For addresses with `https`.
    pub tls: TlsFiles,
    /// What all keys begin with.
    pub prefix: String,
    /// The vocabulary of the objects; recorded at creation, and no other is accepted afterwards.
    pub vocabulary: String,
    /// Whether data are being moved to the prefix just now: nobody else is to use them yet. See
    /// [`begin_move`](crate::begin_move).
    pub is_moving: bool,
    /// Where the revision is in a value, or goes in one that is stored without it. `None` for bytes that are
    /// not in the form of this server: they are told as damaged. etcd learns the revision of a write when the
    /// value is stored already, so it is not stored.
    pub revision_at: fn(&[u8]) -> Option<usize>,
    /// Reads values that are not in the form of this server; none: such values are damaged.
    pub other_forms: Option<Arc<dyn OtherForms>>,
    /// How values are sealed before they are stored; none: not at all.
    pub sealing: Option<Arc<dyn Sealing>>,
    /// How long history is kept, here and in etcd: older states for lists, events for watches.
    pub retention: Duration,
    /// How much memory may be held for history alone, in bytes.
    pub history_bytes: u64,
    /// How long a call of etcd may take. After that, a write is answered with
    /// [`StoreError::Unknown`](orch_storage::StoreError::Unknown).
    pub timeout: Duration,
    /// How many writes are on their way at most; more callers wait.
    pub writes: u32,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl EtcdConfig {
    /// The defaults for a cluster at `servers`.
    pub fn new(
        servers: Vec<String>,
        vocabulary: impl Into<String>,
        revision_at: fn(&[u8]) -> Option<usize>,
    ) -> Self {
        Self {
            servers,
            tls: TlsFiles::default(),
            prefix: "/registry".to_owned(),
            vocabulary: vocabulary.into(),
            is_moving: false,
            revision_at,
            other_forms: None,
            sealing: None,
            retention: Duration::from_mins(5),
            history_bytes: 256 << 20,
            timeout: Duration::from_secs(10),
            writes: 1024,
            clock: Arc::new(SystemClock),
        }
    }

    pub(crate) fn retention(&self) -> Retention {
        Retention { time: self.retention, bytes: self.history_bytes }
    }
}
