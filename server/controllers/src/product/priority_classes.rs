//! The priority classes that every server has: made at start, and again when they are removed. One that is
//! there stays as it is: people may describe it in other words, and its value cannot change.

use std::mem;

use futures_util::future::try_join_all;
use orch_api::{scheduling::v1::PriorityClass, seed};
use orch_registry::{
    client::Client,
    error::{ApiError, Result},
};
use orch_runtime::{Tree, object::Kind, vocabulary::Vocabulary};
use serde_json::json;

use crate::{
    controller::{Action, Context, Controller},
    key::ObjectKey,
};

/// Makes a class of the system that is removed anew.
pub(super) struct PriorityClasses;

impl Controller for PriorityClasses {
    type Resource = PriorityClass;

    fn name(&self) -> &'static str {
        "priority-classes"
    }

    fn also_lists(&self, _: &Vocabulary) -> Vec<ObjectKey> {
        let classes = wanted().unwrap_or_default();
        let names = classes.iter().filter_map(|class| class["name"].as_str());
        names.map(|name| ObjectKey::new("", name)).collect()
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let classes = cx.served::<PriorityClass>()?;
        if cx.client().snapshot(classes).get("", &key.name).is_none() {
            for class in wanted()?.iter().filter(|class| class["name"] == *key.name) {
                ensure_one(cx.client(), class).await?;
            }
        }
        Ok(Action::Done)
    }
}

/// Creates those that are missing. To be called before anything listens.
///
/// # Errors
/// As of POST, except for a name that is taken. A file of the seed that cannot be read is an internal error.
pub async fn ensure(client: &Client) -> Result<()> {
    // Together, so that they share a transaction.
    try_join_all(wanted()?.iter().map(|class| ensure_one(client, class))).await.map(drop)
}

async fn ensure_one(client: &Client, class: &Tree) -> Result<()> {
    // A server without the kind has no classes.
    let Some(classes) = client.core().catalog().served(PriorityClass::RESOURCE) else { return Ok(()) };
    let name = class["name"].as_str().unwrap_or_default();
    if client.snapshot(classes).get("", name).is_some() {
        return Ok(());
    }
    let tree = json!({
        "kind": classes.def.kind, "apiVersion": classes.api_version, "metadata": {"name": name},
        "value": class["value"], "description": class["description"],
    });
    match client.create(classes, "", tree).await {
        Ok(_) | Err(ApiError::AlreadyExists { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The classes of the seed.
fn wanted() -> Result<Vec<Tree>> {
    let unusable = |why: &dyn std::fmt::Display| ApiError::internal("the seed cannot be read", why);
    let mut seed: Tree = serde_json::from_str(seed::PRIORITY_CLASSES).map_err(|error| unusable(&error))?;
    let classes = seed["priorityClasses"].as_array_mut().map(mem::take);
    classes.ok_or_else(|| unusable(&"it has no list"))
}
