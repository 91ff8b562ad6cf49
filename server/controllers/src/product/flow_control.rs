//! The priority levels and flow schemas that every server has (`schema/seed`): made at start and whenever one
//! is missing, and brought back to their specs; and the condition of flow schemas that tells whether their
//! priority level exists.

mod condition;
mod seed;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::future::try_join_all;
use orch_api::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use orch_registry::{client::Client, error::Result};
use orch_runtime::{object::Kind, vocabulary::Vocabulary};

use self::{
    condition::{Writes, tell_whether_dangling},
    seed::ensure,
};
use crate::{
    controller::{Action, Context, Controller},
    key::ObjectKey,
    trigger::{Changed, Trigger},
};

/// The controller of flow schemas, which has the condition.
const FLOW_SCHEMAS: &str = "flow-schemas";

/// Keeps the priority levels of the seed.
pub(super) struct PriorityLevels;

/// Keeps the flow schemas of the seed, and the condition of all.
#[derive(Default)]
pub(super) struct FlowSchemas {
    levels: Arc<Mutex<Levels>>,
    writes: Writes,
}

/// The priority level of each flow schema.
type Levels = BTreeMap<Arc<str>, String>;

impl Controller for PriorityLevels {
    type Resource = PriorityLevelConfiguration;

    fn name(&self) -> &'static str {
        "priority-levels"
    }

    fn also_lists(&self, vocabulary: &Vocabulary) -> Vec<ObjectKey> {
        seed::names(vocabulary, PriorityLevelConfiguration::RESOURCE)
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        ensure(cx.client(), PriorityLevelConfiguration::RESOURCE, &key.name).await?;
        Ok(Action::Done)
    }
}

impl Controller for FlowSchemas {
    type Resource = FlowSchema;

    fn name(&self) -> &'static str {
        FLOW_SCHEMAS
    }

    /// A level that comes or goes concerns the flow schemas that name it.
    fn also_watches(&self) -> Vec<Trigger> {
        let levels = Arc::clone(&self.levels);
        vec![Trigger::new(PriorityLevelConfiguration::RESOURCE, move |change| {
            concerned(&lock(&levels), change)
        })]
    }

    fn also_lists(&self, vocabulary: &Vocabulary) -> Vec<ObjectKey> {
        seed::names(vocabulary, FlowSchema::RESOURCE)
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        ensure(cx.client(), FlowSchema::RESOURCE, &key.name).await?;
        let Some(schema) = cx.api::<FlowSchema>()?.lookup("", &key.name)? else {
            lock(&self.levels).remove(&key.name);
            self.writes.forget(&key.name);
            return Ok(Action::Done);
        };
        // Before the level is looked up: one that comes from now on makes this run again.
        let level = schema.spec.priority_level_configuration.name.clone();
        lock(&self.levels).insert(Arc::clone(&key.name), level);
        tell_whether_dangling(cx.client(), &schema, &self.writes).await
    }
}

/// Makes and corrects all objects of the seed, and tells which flow schemas are without a level. To be called
/// before anything listens, so that the controllers find everything as it should be.
///
/// # Errors
/// As of POST, PUT, DELETE and apply. A file of the seed that cannot be read is an internal error.
pub async fn ensure_all(client: &Client) -> Result<()> {
    seed::ensure_all(client).await?;
    let Some(schemas) = client.api::<FlowSchema>() else { return Ok(()) };
    let own = Client::new(Arc::clone(client.core()), FLOW_SCHEMAS);
    let (schemas, writes) = (schemas.list(""), Writes::default());
    try_join_all(schemas.iter().map(|schema| tell_whether_dangling(&own, schema, &writes))).await.map(drop)
}

fn concerned(levels: &Levels, change: &Changed<'_>) -> Vec<ObjectKey> {
    if change.before.is_some() && change.after.is_some() {
        return Vec::new();
    }
    let Some(level) = change.after.or(change.before) else { return Vec::new() };
    let level = &*level.key().name;
    let of_it = levels.iter().filter(|(_, named)| *named == level);
    of_it.map(|(schema, _)| ObjectKey::new("", Arc::clone(schema))).collect()
}

fn lock(levels: &Mutex<Levels>) -> MutexGuard<'_, Levels> {
    levels.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
