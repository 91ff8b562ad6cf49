//! The watching loop of a controller: it finds the keys that are to be worked on.
//!
//! It hands on what the controller's [source](crate::source) lists, then what the source finds in events.
//! When events were missed, it begins anew.

use std::{panic::AssertUnwindSafe, sync::atomic::Ordering::Relaxed, time::Duration};

use futures_util::FutureExt;
use orch_registry::client::Client;
use orch_storage::{Key, StoreError};
use tokio::{sync::mpsc::Sender, task::coop::consume_budget, time::sleep};

use crate::{controller::AnyController, panic::message_of, stats::Record};

/// How long after a panic, or where it could not begin, the loop begins anew.
const RESTART_AFTER: Duration = Duration::from_secs(1);
/// So many keys of a list are handed on at a time.
const CHUNK: usize = 1024;

/// Why the loop ended.
enum Ended {
    /// It has missed events.
    Expired,
    /// There will be no events, or nothing receives them any more.
    Closed,
}

/// Hands on keys until the store closes or nobody receives them any more.
pub(crate) async fn run(
    controller: &dyn AnyController,
    client: &Client,
    record: &Record,
    keys: Sender<Vec<Key>>,
) {
    loop {
        let following = follow(controller, client, record, &keys);
        let ended = AssertUnwindSafe(following).catch_unwind().await;
        match ended {
            Ok(Ended::Closed) => return,
            Ok(Ended::Expired) => {
                tracing::info!(controller = record.name, "missed events: lists all objects again");
            }
            Err(panic) => {
                record.watches.send_replace(false);
                record.restarts.fetch_add(1, Relaxed);
                let message = message_of(&*panic);
                tracing::error!(controller = record.name, message, "the watching loop panicked");
                sleep(RESTART_AFTER).await;
            }
        }
    }
}

async fn follow(
    controller: &dyn AnyController,
    client: &Client,
    record: &Record,
    keys: &Sender<Vec<Key>>,
) -> Ended {
    let mut source = match controller.begin(client) {
        Ok(source) => source,
        Err(error) => {
            sleep(RESTART_AFTER).await;
            return ended(&error);
        }
    };
    record.watches.send_replace(true);
    let listed = source.list().await;
    for chunk in listed.chunks(CHUNK) {
        if keys.send(chunk.to_vec()).await.is_err() {
            return Ended::Closed;
        }
    }
    drop(listed);
    loop {
        match source.next().await {
            Ok(changed) if changed.is_empty() => consume_budget().await,
            Ok(changed) => {
                if keys.send(changed).await.is_err() {
                    return Ended::Closed;
                }
            }
            Err(error) => return ended(&error),
        }
    }
}

fn ended(error: &StoreError) -> Ended {
    if matches!(error, StoreError::Closed) { Ended::Closed } else { Ended::Expired }
}
