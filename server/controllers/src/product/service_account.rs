//! Gives each namespace its service account `default`, and gives it again when somebody deletes it.

use orch_api::core::v1::{Namespace, ServiceAccount};
use orch_machinery::meta::Meta;
use orch_registry::error::{ApiError, Result};
use orch_runtime::object::Kind;
use serde_json::json;

use crate::{
    account::Account,
    controller::{Action, Context, Controller},
    key::ObjectKey,
    trigger::{Changed, Trigger},
};

const NAME: &str = "default";

/// See the module.
pub(super) struct DefaultAccounts;

impl Controller for DefaultAccounts {
    type Resource = Namespace;

    fn name(&self) -> &'static str {
        "serviceaccount-controller"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("service-account-controller")
    }

    fn also_watches(&self) -> Vec<Trigger> {
        let namespace = |change: &Changed<'_>| match (change.before, change.after) {
            (Some(gone), None) if &*gone.key().name == NAME => {
                vec![ObjectKey::new("", gone.key().namespace.clone())]
            }
            _ => Vec::new(),
        };
        vec![Trigger::new(ServiceAccount::RESOURCE, namespace)]
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let namespaces = cx.served::<Namespace>()?;
        // A server without the kind has no accounts.
        let Ok(accounts) = cx.served::<ServiceAccount>() else { return Ok(Action::Done) };
        let Some(namespace) = cx.lookup(namespaces, key)? else { return Ok(Action::Done) };
        let is_deleted = Meta::of(&namespace.tree).deletion_timestamp().is_some();
        if is_deleted || cx.client().snapshot(accounts).get(&key.name, NAME).is_some() {
            return Ok(Action::Done);
        }
        let account = json!({
            "kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": NAME, "namespace": &*key.name},
        });
        match cx.client().create(accounts, &key.name, account).await {
            Ok(_) | Err(ApiError::AlreadyExists { .. }) => Ok(Action::Done),
            // A namespace that has been deleted meanwhile takes no objects: the next run sees that.
            Err(error) => Err(error),
        }
    }
}
