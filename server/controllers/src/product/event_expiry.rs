//! Deletes events some time after they were written last.
//!
//! Nothing is stored for it: the server's own times in an event tell when that was. A client may take away
//! the times of writes; for such an event counts when this server saw the state first, which is when it was
//! written or when the server began to run this. The runner's queue is ordered by time, so an event is looked
//! at when it is written and when it may be too old.

use std::time::Duration;

use orch_api::core::v1::Event;
use orch_machinery::meta::Meta;
use orch_registry::{
    error::{ApiError, Result},
    options::DeletionOptions,
};
use orch_runtime::{Tree, scalar::Time};

use crate::{
    controller::{Action, Context, Controller},
    key::ObjectKey,
};

/// How many events are worked on at a time. Each deletion waits for the disk, and the store writes many at
/// once.
const WORKERS: usize = 32;

/// See the module.
pub(super) struct EventExpiry {
    age: Duration,
}

impl EventExpiry {
    /// Events live so long.
    pub(super) fn after(age: Duration) -> Self {
        EventExpiry { age }
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
        let seen = current.object.memo(|_| FirstSeen(now)).0;
        let written = written(&current.tree).unwrap_or(seen);
        if let Some(left) = (written + self.age).checked_sub(now).filter(|left| !left.is_zero()) {
            return Ok(Action::Again(left));
        }
        let options = DeletionOptions {
            resource_version: Some(current.revision().to_string()),
            ..DeletionOptions::default()
        };
        match cx.client().delete(events, &key.namespace, &key.name, options).await {
            // What has changed comes again.
            Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(Action::Done),
            Err(error) => Err(error),
        }
    }
}

/// When a state was looked at first, as a time since 1970; remembered with it.
struct FirstSeen(Duration);

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
