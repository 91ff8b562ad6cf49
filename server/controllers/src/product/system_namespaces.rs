//! The namespaces that always exist: made at start, and again when somebody removes one.

use std::{sync::Arc, time::Duration};

use orch_runtime::{resource_def::Verb, vocabulary::Vocabulary};
use serde_json::json;

use super::{stopped, target};
use crate::{
    app::App,
    error::{ApiError, Result},
    query::Query,
    registry::{Call, create, options::WriteOptions},
};

const PERIOD: Duration = Duration::from_mins(1);

/// Names of the namespaces that always exist.
pub fn names(vocabulary: &Vocabulary) -> [&'static str; 4] {
    ["default", vocabulary.namespace_system, vocabulary.namespace_public, vocabulary.namespace_node_lease]
}

/// Creates those that are missing.
///
/// # Errors
/// What a create may answer, but for the name being taken.
pub async fn ensure(app: &Arc<App>) -> Result<()> {
    let Some(namespaces) = app.catalog.resource("", "v1", "namespaces") else {
        return Ok(());
    };
    for name in names(app.catalog.vocabulary) {
        if app.storage.snapshot(&namespaces.storage_name).get("", name).is_some() {
            continue;
        }
        let target = target(namespaces, Verb::Create, "", "");
        let call = Call { app, target: &target, query: &Query::default(), user_agent: "", asker: None };
        let tree = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}});
        match create::store_new(call, tree, &WriteOptions::internal(), &mut Vec::new()).await {
            Ok(_) | Err(ApiError::AlreadyExists { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Looks after them until the server stops.
pub async fn run(app: Arc<App>) {
    loop {
        tokio::select! {
            () = stopped(&app) => return,
            () = tokio::time::sleep(PERIOD) => {}
        }
        if let Err(error) = ensure(&app).await {
            tracing::error!(?error, "cannot create a system namespace");
        }
    }
}
