//! The watching loop of a controller: it finds the keys that are to be worked on.
//!
//! It lists all objects of the controller's kind, then follows their events and those of the kinds that
//! trigger it, from the revision of the list on. When it has missed events, it lists again. It keeps no
//! objects.

use std::{
    future::poll_fn,
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering::Relaxed},
    task::Poll,
    time::Duration,
};

use futures_util::FutureExt;
use orch_registry::{catalog::ServedResource, client::Client};
use orch_storage::{Event, Revision, StoreError, Watch};
use tokio::{sync::mpsc::Sender, task::coop::consume_budget, time::sleep};

use crate::{controller::AnyController, key::ObjectKey, panic::message_of, stats::Record, trigger::Trigger};

/// How long after a panic the loop begins anew.
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

/// A kind that is watched.
struct Source {
    resource: Arc<ServedResource>,
    watch: Watch,
    /// Of the controller's own kind there is none: the keys are the names of the objects.
    trigger: Option<Trigger>,
}

/// Hands on keys until the store closes or nobody receives them any more.
pub(crate) async fn run(
    controller: &dyn AnyController,
    resource: &Arc<ServedResource>,
    client: &Client,
    record: &Record,
    keys: Sender<Vec<ObjectKey>>,
) {
    loop {
        let following = follow(controller, resource, client, record, &keys);
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
    resource: &Arc<ServedResource>,
    client: &Client,
    record: &Record,
    keys: &Sender<Vec<ObjectKey>>,
) -> Ended {
    let snapshot = client.snapshot(resource);
    let mut sources = match sources(controller, resource, client, snapshot.revision()) {
        Ok(sources) => sources,
        Err(error) => return ended(&error),
    };
    let listed: Vec<ObjectKey> = snapshot.iter().map(|object| ObjectKey::of(object)).collect();
    // It would keep old states in memory.
    drop(snapshot);
    record.watches.send_replace(true);
    for chunk in listed.chunks(CHUNK) {
        if keys.send(chunk.to_vec()).await.is_err() {
            return Ended::Closed;
        }
    }
    drop(listed);
    loop {
        match next(&mut sources).await {
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

/// Watches of the controller's kind and of those that trigger it, as far as they are served.
fn sources(
    controller: &dyn AnyController,
    resource: &Arc<ServedResource>,
    client: &Client,
    after: Revision,
) -> Result<Vec<Source>, StoreError> {
    let own = Source { resource: Arc::clone(resource), watch: client.watch(resource, after)?, trigger: None };
    let mut sources = vec![own];
    for trigger in controller.also_watches() {
        if let Some(resource) = client.core().catalog().served(trigger.resource()) {
            let watch = client.watch(resource, after)?;
            sources.push(Source { resource: Arc::clone(resource), watch, trigger: Some(trigger) });
        }
    }
    Ok(sources)
}

/// The keys of the next events of all sources.
async fn next(sources: &mut [Source]) -> Result<Vec<ObjectKey>, StoreError> {
    poll_fn(|context| {
        let mut keys = Vec::new();
        let mut is_pending = true;
        for source in &mut *sources {
            if let Poll::Ready(events) = source.watch.poll_next(context) {
                is_pending = false;
                keys.extend(events?.iter().flat_map(|event| source.keys(event)));
            }
        }
        if is_pending { Poll::Pending } else { Poll::Ready(Ok(keys)) }
    })
    .await
}

impl Source {
    fn keys(&self, event: &Event) -> Vec<ObjectKey> {
        match &self.trigger {
            None => vec![ObjectKey::of(event.object())],
            Some(trigger) => trigger.keys(&self.resource, event),
        }
    }
}
