//! One watch of all keys, that goes on at another member where it is cut off: without a gap, and without
//! anything twice.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::client::WATCH;
use crate::failure::Failure;
use crate::message::{Change, Watch, Watched};
use crate::shared::Shared;

/// The pauses between attempts.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// How many answers wait to be taken at most.
const QUEUE: usize = 16;

/// What the watch brings.
pub(crate) enum Update {
    /// Changes in order, all of each revision together.
    Changes(Vec<Change>),
    /// History is gone that was not brought yet. Nothing comes after this.
    Overtaken,
}

/// Watches from revision `next` on, until the receiver is dropped.
pub(crate) fn watch(shared: Arc<Shared>, next: u64) -> mpsc::Receiver<Update> {
    let (updates, receiver) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        tokio::select! {
            () = updates.closed() => {}
            () = run(&shared, next, &updates) => {}
        }
    });
    receiver
}

async fn run(shared: &Shared, mut next: u64, updates: &mpsc::Sender<Update>) {
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
async fn follow(shared: &Shared, next: &mut u64, updates: &mpsc::Sender<Update>) -> Result<(), Failure> {
    let (key, end) = shared.keys.all();
    let mut stream = shared.client.stream(WATCH, &Watch { key, end, start: *next }).await?;
    loop {
        let watched: Watched = stream.next().await?;
        if watched.compact_revision > 0 {
            let _ = updates.send(Update::Overtaken).await;
            return Ok(());
        }
        if watched.canceled {
            return Err(Failure::NoAnswer(watched.cancel_reason));
        }
        if let Some(last) = watched.events.last() {
            *next = last.kv.mod_revision + 1;
            if updates.send(Update::Changes(watched.events)).await.is_err() {
                return Ok(());
            }
        }
    }
}
