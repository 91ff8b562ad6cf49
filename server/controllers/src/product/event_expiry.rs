//! Deletes events some time after they were written last.
//!
//! Nothing is stored for it: the server's own times in an event tell when that was. A client may take away
//! the times of writes, and a clock may have been wrong when they were made; so an event is also as old as
//! this server has known its state, which is since it was written or since the server began to run this. The
//! runner's queue is ordered by time, so an event is looked at when it is written and when it may be too old.
//!
//! As nobody asks for it, an expiry is no DELETE of a client but a removal from the store, unless finalizers
//! hold the event. Events that expire at about the same time are removed at the same time, and so share a
//! transaction of the store.

use std::time::Duration;

use orch_api::core::v1::Event;
use orch_machinery::meta::Meta;
use orch_registry::{
    error::{ApiError, Result},
    options::DeletionOptions,
    stored,
};
use orch_runtime::{Tree, scalar::Time};
use tokio::time::{Instant, sleep_until};

use crate::{
    controller::{Action, Context, Controller},
    key::ObjectKey,
};

/// How many events are worked on at a time: as many as the store writes in one transaction.
const WORKERS: usize = 256;
/// The time between two moments at which events are removed.
const PERIOD: Duration = Duration::from_millis(50);

/// See the module.
pub(super) struct EventExpiry {
    age: Duration,
    begun: Instant,
}

impl EventExpiry {
    /// Events live so long.
    pub(super) fn after(age: Duration) -> Self {
        EventExpiry { age, begun: Instant::now() }
    }

    /// Waits for the next moment at which events are removed.
    async fn next_moment(&self) {
        let passed = self.begun.elapsed().as_nanos() % PERIOD.as_nanos();
        let passed = Duration::from_nanos(u64::try_from(passed).unwrap_or_default());
        sleep_until(Instant::now() + PERIOD.saturating_sub(passed)).await;
    }
}

impl Controller for EventExpiry {
    type Resource = Event;

    fn name(&self) -> &'static str {
        "event-expiry"
    }

    fn workers(&self) -> usize {
        WORKERS
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let events = cx.served::<Event>()?;
        let Some(current) = cx.lookup(events, key)? else { return Ok(Action::Done) };
        if Meta::of(&current.tree).deletion_timestamp().is_some() {
            return Ok(Action::Done);
        }
        let now = Duration::from_millis(cx.client().core().clock().now().0);
        // Looked at by every state, so that a state is seen when it is written.
        let seen = current.object.memo(|_| FirstSeen(Instant::now())).0;
        let age = age(written(&current.tree), now, seen.elapsed());
        if let Some(left) = self.age.checked_sub(age).filter(|left| !left.is_zero()) {
            return Ok(Action::Again(left));
        }
        if Meta::of(&current.tree).finalizers().next().is_none() {
            let body = stored::encode_body(events, &current.tree, None, false)?;
            let (key, expected) = (current.object.key().clone(), current.revision());
            self.next_moment().await;
            // What has changed comes again.
            return cx.client().remove_stored(key, expected, body).await.map(|()| Action::Done);
        }
        let options = DeletionOptions {
            resource_version: Some(current.revision().to_string()),
            ..DeletionOptions::default()
        };
        match cx.client().delete(events, &key.namespace, &key.name, options).await {
            Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(Action::Done),
            Err(error) => Err(error),
        }
    }
}

/// When a state was looked at first; remembered with it.
struct FirstSeen(Instant);

/// How old a state is that was written then, and is known for so long. The first is told by a clock that
/// people set.
fn age(written: Option<Duration>, now: Duration, known: Duration) -> Duration {
    written.map_or(known, |written| now.saturating_sub(written)).max(known)
}

/// When an object was written last, as a time since 1970: at its creation, or when the fields of a manager
/// were. `None` where nobody manages fields: then its writes leave no times. Times that clients send do not
/// count.
fn written(tree: &Tree) -> Option<Duration> {
    let meta = Meta::of(tree);
    let managed = meta.managed_fields();
    if managed.is_empty() {
        return None;
    }
    let times = meta.get("creationTimestamp").into_iter();
    let times = times.chain(managed.iter().filter_map(|entry| entry.get("time")));
    let seconds = times.filter_map(|time| time.as_str()?.parse::<Time>().ok()).map(Time::as_unix_seconds);
    Some(Duration::from_secs(seconds.max().unwrap_or(0).try_into().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_clock_that_was_wrong_keeps_no_event() {
        let seconds = Duration::from_secs;
        for (written, now, known, expected) in
            [(Some(70), 100, 5, 30), (None, 100, 5, 5), (Some(500), 100, 5, 5), (Some(99), 100, 5, 5)]
        {
            let age = age(written.map(seconds), seconds(now), seconds(known));
            assert_eq!(age, seconds(expected), "{written:?} {now} {known}");
        }
    }

    #[test]
    fn the_newest_of_the_servers_times_counts() {
        let managed = json!([{"time": "1970-01-01T00:00:09Z"}, {"time": "1970-01-01T00:00:07Z"}, {}]);
        let created = json!({"creationTimestamp": "1970-01-01T00:00:05Z"});
        for (metadata, seconds) in [
            (created, None),
            (json!({"creationTimestamp": "1970-01-01T00:00:05Z", "managedFields": managed}), Some(9)),
            (json!({"creationTimestamp": "1970-01-01T00:00:05Z", "managedFields": [{}]}), Some(5)),
            (json!({"creationTimestamp": "no time", "managedFields": [{}]}), Some(0)),
            (json!({"creationTimestamp": "1970-01-01T00:00:05Z", "managedFields": []}), None),
            (json!({}), None),
        ] {
            let event = json!({"metadata": metadata, "lastTimestamp": "2099-01-01T00:00:00Z"});
            assert_eq!(written(&event), seconds.map(Duration::from_secs), "{event}");
        }
    }
}
