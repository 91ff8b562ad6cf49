//! The suite that every store passes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use orch_storage::conformance::{self, Fixture, RETENTION};
use orch_storage::store::BoxFuture;
use orch_storage::{ManualClock, Storage};
use orch_storage_sqlite::{FaultPoint, Faults, SqliteConfig};

use crate::support::{DataDir, create, listing};

struct OnDisk {
    /// Writes per transaction, at most.
    batch: usize,
    checkpoint_bytes: u64,
}

impl Fixture for OnDisk {
    type Location = DataDir;

    fn location(&self) -> DataDir {
        DataDir::new()
    }

    fn open<'a>(&'a self, data: &'a DataDir, clock: Arc<ManualClock>) -> BoxFuture<'a, Storage> {
        let Self { batch, checkpoint_bytes } = *self;
        let config = SqliteConfig { retention: RETENTION, clock, batch, checkpoint_bytes, ..data.config() };
        Box::pin(async move { orch_storage_sqlite::open(config).await.unwrap() })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conforms() {
    conformance::run(&OnDisk { batch: 256, checkpoint_bytes: 16 << 20 }, rand::random()).await;
}

/// The same with transactions of few writes, and a write-ahead log that is copied all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conforms_in_small_steps() {
    conformance::run(&OnDisk { batch: 2, checkpoint_bytes: 1 }, rand::random()).await;
}

/// More writes at once than one statement, one transaction, or the queue hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn takes_large_batches() {
    for (queue, batch, batch_bytes) in [(1024, 256, 8 << 20), (1, 1, 1), (500, 100, 10_000), (1024, 256, 1)] {
        let data = DataDir::new();
        let transactions = Arc::new(AtomicUsize::new(0));
        let faults = {
            let transactions = Arc::clone(&transactions);
            Faults::new(move |point| {
                transactions.fetch_add(usize::from(point == FaultPoint::BeforeCommit), Ordering::Relaxed);
                Ok(())
            })
        };
        let config = SqliteConfig { queue, batch, batch_bytes, faults, ..data.config() };
        let storage = orch_storage_sqlite::open(config).await.unwrap();
        let writes: Vec<_> = (0..500)
            .map(|index| {
                let storage = storage.clone();
                tokio::spawn(async move { create(&storage, &format!("o{index}"), &"x".repeat(index)).await })
            })
            .collect();
        for (index, write) in writes.into_iter().enumerate() {
            let committed = write.await.unwrap().unwrap();
            assert_eq!(
                committed.object.value().unwrap().len(),
                index + 1 + committed.revision.to_string().len()
            );
        }
        if batch_bytes == 1 {
            assert_eq!(transactions.load(Ordering::Relaxed), 500, "one write each, because none fits");
        }
        let before = listing(&storage);
        assert_eq!(before.len(), 500);
        storage.shutdown().await.unwrap();
        assert_eq!(listing(&data.open().await), before);
    }
}
