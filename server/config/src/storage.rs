//! Where the data is, and how much of the past is kept.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;

use crate::{
    duration,
    encryption::{EncryptionConfig, EncryptionFlags},
    etcd::{EtcdFlags, EtcdSettings},
    size,
    start_error::StartError,
};

/// Less would not hold a few versions of the largest objects, and watches would fail all the time.
const MIN_HISTORY_SIZE: u64 = 16 << 20;

/// Flags about storage.
#[derive(Debug, Args)]
pub struct StorageFlags {
    /// Directory of the database, the generated certificates and the admin kubeconfig. It is created when it
    /// is missing, and used by one server at a time.
    #[arg(long, value_name = "DIR", default_value = "orch-data")]
    data_dir: PathBuf,
    /// How long past versions are kept: a watch or a paged list that is older has to start again.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration::positive)]
    history_retention: Duration,
    /// How much memory past versions and the encoded events of watches may take. Where that is less than
    /// --history-retention needs, history is shorter, and the log and the metrics say so.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = history_size)]
    history_size: u64,
    /// How long events are kept after they were written last.
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = duration::positive)]
    event_ttl: Duration,
    /// Start although writes that were acknowledged are missing from the database, for example because its
    /// write-ahead log is lost or an old copy was put back. The server then begins a new history: versions go
    /// on above the old ones, and clients that know older ones have to list again. Without a loss the flag
    /// changes nothing.
    #[arg(long)]
    accept_data_loss: bool,
    /// Instead of serving, check the database in the data directory: the file, the checksum of every row, the
    /// order of the log, and whether everything is there that was acknowledged. Nothing is changed. The exit
    /// code is 0 where all is well and 1 where it is not.
    #[arg(long)]
    self_check: bool,
    #[command(flatten)]
    encryption: EncryptionFlags,
    #[command(flatten)]
    etcd: EtcdFlags,
}

impl StorageFlags {
    /// The vocabulary of an existing database. `None` if there is none, or it cannot be read: to open it then
    /// fails with the reason.
    pub fn vocabulary(&self) -> Option<String> {
        let database = database_in(&self.data_dir);
        if self.etcd.is_used() || !database.exists() {
            return None;
        }
        let read = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(Box::pin(orch_storage_sqlite::vocabulary(&database))).ok()
        };
        // On a thread of its own: who reads flags may be in a runtime, which cannot wait for another one.
        let read = std::thread::scope(|scope| scope.spawn(read).join());
        read.ok().flatten().map(|name| name.to_string())
    }
}

/// Where the data is, and how much of the past is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageConfig {
    /// The directory that holds everything this server writes.
    pub data_dir: PathBuf,
    /// How long watches can be resumed and lists continued.
    pub history_retention: Duration,
    /// How much memory they may take, in bytes.
    pub history_size: u64,
    /// How long events are kept.
    pub event_ttl: Duration,
    /// Whether to start although acknowledged writes are missing.
    pub accept_data_loss: bool,
    /// Whether the database is only to be checked.
    pub self_check: bool,
    /// Which resources are kept sealed.
    pub encryption: EncryptionConfig,
    /// The etcd that keeps the data; without it, a database in the directory does.
    pub etcd: Option<EtcdSettings>,
}

impl StorageConfig {
    /// The database file.
    pub fn database(&self) -> PathBuf {
        database_in(&self.data_dir)
    }
}

/// The name of the database file; those of the files that belong to it begin with it.
pub const DATABASE: &str = "orch.db";

/// The database file of a data directory.
pub fn database_in(data_dir: &Path) -> PathBuf {
    data_dir.join(DATABASE)
}

impl StorageFlags {
    /// The flags of encryption have to fit each other, and so do those of etcd.
    pub fn check(self) -> Result<StorageConfig, StartError> {
        let etcd = self.etcd.check()?;
        if etcd.is_some() && self.self_check {
            return Err(StartError::configuration("--self-check", "is for --storage=sqlite"));
        }
        Ok(StorageConfig {
            data_dir: self.data_dir,
            history_retention: self.history_retention,
            history_size: self.history_size,
            event_ttl: self.event_ttl,
            accept_data_loss: self.accept_data_loss,
            self_check: self.self_check,
            encryption: self.encryption.check()?,
            etcd,
        })
    }
}

fn history_size(text: &str) -> Result<u64, &'static str> {
    match size::bytes(text)? {
        bytes if bytes >= MIN_HISTORY_SIZE => Ok(bytes),
        _ => Err("must be at least 16MiB"),
    }
}
