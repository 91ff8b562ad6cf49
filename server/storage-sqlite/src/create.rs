//! A database that goes on where another store ended.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use orch_storage::{Revision, StoreError};

use crate::config::SqliteConfig;
use crate::log::Log;
use crate::schema;

/// Makes an empty database at `path`, where there must be no file, with this vocabulary and identity. Its
/// history begins after `after`: every write gets a higher revision, and nobody can ask for a lower one.
pub async fn create(
    path: &Path,
    vocabulary: &str,
    cluster_uid: &str,
    after: Revision,
) -> Result<(), StoreError> {
    // Made here, so that only this user can read it from the beginning.
    let made = File::options().write(true).create_new(true).mode(0o600).open(path);
    made.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            StoreError::NotADatabase { path: path.into(), detail: "there is a file already".into() }
        }
        _ => StoreError::NotWritable { path: path.into(), detail: error.to_string().into() },
    })?;
    let failed = |error| schema::at_start(path, &error);
    let (mut log, _) = Log::open(&SqliteConfig::new(path, vocabulary)).await?;
    log.adopt(vocabulary, cluster_uid).await.map_err(failed)?;
    log.begin_history(after, 0).await.map_err(failed)?;
    log.close().await.map_err(failed)
}
