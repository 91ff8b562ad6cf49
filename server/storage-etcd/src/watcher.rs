//! One watch of all keys, that goes on at another member where it is cut off: without a gap, and without
//! anything twice.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::changes::{Changes, Told};
use crate::failure::Failure;
use crate::shared::Shared;

/// The pauses between attempts.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// How many pieces of what is told wait to be taken at most.
pub(crate) const QUEUE: usize = 16;

/// Watches from revision `next` on, until the receiver is dropped.
pub(crate) fn watch(shared: Arc<Shared>, next: u64) -> mpsc::Receiver<Told> {
    let (updates, receiver) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        tokio::select! {
            () = updates.closed() => {}
            () = run(&shared, next, &updates) => {}
        }
    });
    receiver
}

async fn run(shared: &Shared, mut next: u64, updates: &mpsc::Sender<Told>) {
    let mut pause = PAUSES.0;
    loop {
        let before = next;
        match follow(shared, &mut next, updates).await {
            Ok(()) => return,
            Err(failure) => tracing::warn!(%failure, "the watch of etcd was cut off"),
        }
        pause = if next > before { PAUSES.0 } else { (2 * pause).min(PAUSES.1) };
        sleep(pause).await;
    }
}

/// Returns where nothing more can come.
async fn follow(shared: &Shared, next: &mut u64, updates: &mpsc::Sender<Told>) -> Result<(), Failure> {
    shared.mark.check(shared.reader()).await?;
    if shared.mark.loss().is_some() {
        return Ok(());
    }
    let mut changes = Changes::begin(&shared.client, &shared.keys, *next, shared.timeout).await?;
    loop {
        let told = changes.next().await?;
        let last = match &told {
            Told::Changes(changes) => changes.last().map(|change| change.kv.mod_revision),
            Told::Overtaken => None,
        };
        if updates.send(told).await.is_err() {
            return Ok(());
        }
        let Some(last) = last else { return Ok(()) };
        *next = last + 1;
    }
}
