//! The namespaces that always exist: made at start, and again when somebody removes one.

use orch_api::core::v1::Namespace;
use orch_registry::{
    client::Client,
    error::{ApiError, Result},
};
use orch_runtime::{object::Kind, vocabulary::Vocabulary};
use serde_json::json;

use crate::{
    controller::{Action, Context, Controller},
    key::ObjectKey,
};

/// Makes a system namespace that is removed anew.
pub(super) struct SystemNamespaces;

impl Controller for SystemNamespaces {
    type Resource = Namespace;

    fn name(&self) -> &'static str {
        "system-namespaces"
    }

    fn also_lists(&self, vocabulary: &Vocabulary) -> Vec<ObjectKey> {
        names(vocabulary).map(|name| ObjectKey::new("", name)).into()
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let client = cx.client();
        if names(client.core().vocabulary()).contains(&&*key.name) {
            ensure_one(client, &key.name).await?;
        }
        Ok(Action::Done)
    }
}

/// Their names.
pub fn names(vocabulary: &Vocabulary) -> [&'static str; 4] {
    ["default", vocabulary.namespace_system, vocabulary.namespace_public, vocabulary.namespace_node_lease]
}

/// Creates those that are missing. To be called before anything listens.
///
/// # Errors
/// As of POST, except for a name that is taken.
pub async fn ensure(client: &Client) -> Result<()> {
    for name in names(client.core().vocabulary()) {
        ensure_one(client, name).await?;
    }
    Ok(())
}

async fn ensure_one(client: &Client, name: &str) -> Result<()> {
    // A server without the kind has no namespaces.
    let Some(namespaces) = client.core().catalog().served(Namespace::RESOURCE) else { return Ok(()) };
    if client.snapshot(namespaces).get("", name).is_some() {
        return Ok(());
    }
    let tree = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}});
    match client.create(namespaces, "", tree).await {
        Ok(_) | Err(ApiError::AlreadyExists { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
