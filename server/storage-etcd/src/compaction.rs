//! Forgetting history in etcd. One server of all does it at a time, whichever finds that it is due.

use std::sync::Arc;
use std::time::Duration;

use orch_storage::Timestamp;
use tokio::time::sleep;

use crate::client::{COMPACT, TXN};
use crate::failure::Failure;
use crate::message::{Compaction, Compare, Compared, Done, Op, Txn, TxnDone};
use crate::shared::Shared;

/// How often history is compacted at most.
const MIN_PERIOD: Duration = Duration::from_secs(30);

/// How long a compaction may take. It goes on in etcd if it takes longer.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Compacts what is older than `retention`, from time to time.
pub(crate) async fn run(shared: Arc<Shared>, retention: Duration) {
    let period = retention.max(MIN_PERIOD);
    loop {
        sleep(period).await;
        match when_due(&shared, retention, period).await {
            Ok(None) => {}
            Ok(Some(revision)) => tracing::debug!(revision, "history in etcd is compacted"),
            Err(failure) => tracing::warn!(%failure, "history in etcd cannot be compacted"),
        }
    }
}

/// Forgets history up to `revision`.
pub(crate) async fn compact(shared: &Shared, revision: u64) -> Result<(), Failure> {
    if revision <= shared.client.versions.offset {
        return Ok(());
    }
    match shared.client.call::<Done, _>(COMPACT, &Compaction(revision), TIMEOUT).await {
        Ok(Done) => Ok(()),
        Err(failure) if failure.is_compacted() => Ok(()),
        Err(failure) => Err(failure),
    }
}

async fn when_due(shared: &Shared, retention: Duration, period: Duration) -> Result<Option<u64>, Failure> {
    let (reader, key, now) = (shared.reader(), shared.keys.compaction(), shared.clock.now());
    let last = reader.get(key.clone()).await?;
    let (at, time) = last.map_or((0, Timestamp(0)), |kv| {
        let time = str::from_utf8(&kv.value).ok().and_then(|text| text.parse().ok());
        (kv.mod_revision, Timestamp(time.unwrap_or(0)))
    });
    // A time in the future is a leftover of a clock that was wrong.
    if time > now.before(period * 3 / 4) && time <= now {
        return Ok(None);
    }
    let claim = Txn {
        compare: vec![Compare { key: key.clone(), what: Compared::ModRevision(at) }],
        success: vec![Op::Put { key, value: now.0.to_string().into_bytes() }],
        failure: Vec::new(),
    };
    let claimed: TxnDone = shared.client.call(TXN, &claim, shared.timeout).await?;
    if !claimed.succeeded {
        return Ok(None);
    }
    let newest = reader.newest().await?;
    let begins = reader.history_begins(now.before(retention), newest.etcd).await?;
    compact(shared, begins).await?;
    Ok(Some(begins))
}
