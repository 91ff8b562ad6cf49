//! A database that is made as small as it can be, while no server uses it.

use std::path::Path;

use orch_storage::StoreError;
use orch_storage::check::Report;

use crate::check::check;
use crate::config::SqliteConfig;
use crate::lock::Lock;
use crate::log::{Log, LogReader};
use crate::schema;

/// Forgets the history of the database at `path`, and gives what it needs no more back to the file system.
/// Its objects and their revisions stay; who asks for an earlier revision is told that it is gone.
pub async fn compact(path: &Path) -> Result<Report, StoreError> {
    let mut reader = LogReader::open(path).await?;
    let vocabulary = reader.meta(path).await?.vocabulary;
    reader.close().await;
    let config = SqliteConfig::new(path, &*vocabulary);
    let storage = Box::pin(crate::open(config.clone())).await?;
    let compacted = storage.compact(storage.current_revision()).await;
    storage.shutdown().await?;
    compacted?;
    let _lock = Lock::acquire(path)?;
    let failed = |error| schema::at_start(path, &error);
    let (mut log, _) = Log::open(&config).await?;
    log.shrink().await.map_err(failed)?;
    log.close().await.map_err(failed)?;
    check(path).await
}
