//! The condition `Dangling` of flow schemas: whether their priority level is missing. The server ignores a
//! flow schema without one, and the column `MISSINGPL` of tables shows the condition.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use orch_api::flowcontrol::v1::{FlowSchema, FlowSchemaCondition, PriorityLevelConfiguration};
use orch_registry::{
    client::Client,
    error::{ApiError, Result},
};
use orch_runtime::object::Kind;
use serde_json::json;

use crate::controller::Action;

const DANGLING: &str = "Dangling";

/// How often a server writes the condition of one flow schema in a minute at most. Somebody who sees it
/// otherwise, such as another server, writes it back each time.
const MOST_WRITES: usize = 6;
const MINUTE: Duration = Duration::from_mins(1);

/// When a server wrote the condition of each flow schema, within the last minute.
#[derive(Default)]
pub(super) struct Writes(Mutex<HashMap<Arc<str>, VecDeque<Instant>>>);

impl Writes {
    /// Counts a write, or returns how long it has to wait.
    fn wait(&self, schema: &str, now: Instant) -> Option<Duration> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let written = all.entry(schema.into()).or_default();
        written.retain(|time| now.duration_since(*time) < MINUTE);
        match written.front() {
            Some(first) if written.len() >= MOST_WRITES => {
                Some((*first + MINUTE).saturating_duration_since(now))
            }
            _ => {
                written.push_back(now);
                None
            }
        }
    }

    /// The flow schema is gone.
    pub(super) fn forget(&self, schema: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(schema);
    }
}

/// Writes the condition where it is not right, or comes back for that later.
pub(super) async fn tell_whether_dangling(
    client: &Client,
    schema: &FlowSchema,
    writes: &Writes,
) -> Result<Action> {
    let level = &schema.spec.priority_level_configuration.name;
    let served = |def| client.core().catalog().served(def);
    // A server without the kinds has nothing to tell.
    let (Some(levels), Some(schemas)) =
        (served(PriorityLevelConfiguration::RESOURCE), served(FlowSchema::RESOURCE))
    else {
        return Ok(Action::Done);
    };
    let is_dangling = client.snapshot(levels).get("", level).is_none();
    let (status, reason, rest) = if is_dangling {
        ("True", "NotFound", "but there is no such object")
    } else {
        ("False", "Found", "and it exists")
    };
    let message =
        format!("This FlowSchema references the PriorityLevelConfiguration object named {level:?} {rest}");
    let has_type = |condition: &&FlowSchemaCondition| condition.type_ == DANGLING;
    let present = schema.status.conditions.iter().find(has_type);
    if present.is_some_and(|present| (&*present.status, &present.message) == (status, &message)) {
        return Ok(Action::Done);
    }
    let name = &schema.metadata.name;
    if let Some(wait) = writes.wait(name, Instant::now()) {
        return Ok(Action::Again(wait));
    }
    let configuration = json!({
        "kind": schemas.def.kind, "apiVersion": schemas.api_version, "metadata": {"name": name},
        "status": {"conditions": [{
            "type": DANGLING, "status": status, "lastTransitionTime": client.core().now(),
            "reason": reason, "message": message,
        }]},
    });
    match client.apply_status(schemas, "", name, &configuration, true).await {
        // Its deletion brings the key again.
        Ok(_) | Err(ApiError::NotFound { .. }) => Ok(Action::Done),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flow_schema_is_written_more_often_than_six_times_a_minute() {
        let (writes, start) = (Writes::default(), Instant::now());
        for second in 0..6 {
            assert_eq!(writes.wait("a", start + Duration::from_secs(second)), None);
        }
        assert_eq!(writes.wait("a", start + Duration::from_secs(20)), Some(Duration::from_secs(40)));
        assert_eq!(writes.wait("b", start + Duration::from_secs(20)), None);
        assert_eq!(writes.wait("a", start + MINUTE), None);
        assert_eq!(writes.wait("a", start + MINUTE), Some(Duration::from_secs(1)));
        writes.forget("a");
        assert_eq!(writes.wait("a", start + MINUTE), None);
    }
}
