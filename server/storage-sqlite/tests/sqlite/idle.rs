//! A store without writes: what was written is in the database file alone after a few seconds, so that little
//! has to be read anew at the next start.

use std::fs;
use std::time::Duration;

use sqlx::query_scalar;
use tokio::time::{sleep, timeout};

use crate::support::{DataDir, create};

/// How many rows the database file has without its write-ahead log; none where it is being written.
async fn rows_alone(data: &DataDir) -> Option<i64> {
    let alone = DataDir::new();
    fs::copy(data.path(), alone.path()).unwrap();
    query_scalar("SELECT count(*) FROM log").fetch_one(&mut alone.tamper().await).await.ok()
}

#[tokio::test]
async fn an_idle_store_copies_its_short_log() {
    let data = DataDir::new();
    let storage = data.open().await;
    for name in ["a", "b", "c"] {
        create(&storage, name, "text").await.unwrap();
    }
    assert_ne!(rows_alone(&data).await, Some(3), "the log is too short to be copied at once");
    let copied = async {
        while rows_alone(&data).await != Some(3) {
            sleep(Duration::from_millis(200)).await;
        }
    };
    timeout(Duration::from_secs(15), copied).await.expect("an idle store copies its log");
    storage.shutdown().await.unwrap();
}
