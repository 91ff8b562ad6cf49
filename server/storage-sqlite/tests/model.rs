//! Readers against a model, on disk.

#![expect(clippy::unwrap_used, reason = "a panic of a test is its report")]

use std::sync::Arc;

use orch_storage::conformance::model::{self, Length};
use orch_storage::conformance::{Fixture, RETENTION};
use orch_storage::store::BoxFuture;
use orch_storage::{ManualClock, Storage};
use orch_storage_sqlite::SqliteConfig;
use tempfile::TempDir;

/// Few, because every write waits for the disk.
const SEEDS: u64 = 3;

struct OnDisk;

impl Fixture for OnDisk {
    type Location = TempDir;

    fn location(&self) -> TempDir {
        TempDir::new().unwrap()
    }

    fn open<'a>(&'a self, directory: &'a TempDir, clock: Arc<ManualClock>) -> BoxFuture<'a, Storage> {
        let path = directory.path().join("store.db");
        let config = SqliteConfig { retention: RETENTION, clock, ..SqliteConfig::new(path, "orch") };
        Box::pin(async move { orch_storage_sqlite::open(config).await.unwrap() })
    }
}

#[test]
fn readers_see_what_was_written() {
    model::run(&OnDisk, SEEDS, Length { rounds: 4, operations: 40 });
}
