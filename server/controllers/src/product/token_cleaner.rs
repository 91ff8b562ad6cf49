//! Deletes bootstrap tokens whose time has come, to the second.

use orch_api::core::v1::Secret;
use orch_registry::{
    error::{ApiError, Result},
    options::DeletionOptions,
};

use super::bootstrap_tokens::{Expiration, expiration, is_token};
use crate::{
    account::Account,
    controller::{Action, Context, Controller},
    key::ObjectKey,
};

/// See the module.
pub(super) struct TokenCleaner;

impl Controller for TokenCleaner {
    type Resource = Secret;

    fn name(&self) -> &'static str {
        "token-cleaner-controller"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("token-cleaner")
    }

    fn is_on_by_default(&self) -> bool {
        false
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let core = cx.client().core();
        if &*key.namespace != core.vocabulary().namespace_system {
            return Ok(Action::Done);
        }
        let secrets = cx.api::<Secret>()?;
        let Some(secret) = secrets.lookup(&key.namespace, &key.name)? else { return Ok(Action::Done) };
        if !is_token(&secret, core.vocabulary()) || secret.metadata.deletion_timestamp.is_some() {
            return Ok(Action::Done);
        }
        match expiration(&secret, core.clock().now()) {
            Expiration::Never => Ok(Action::Done),
            Expiration::In(left) => Ok(Action::Again(left)),
            Expiration::Past => {
                let options = DeletionOptions {
                    uid: Some(secret.metadata.uid.clone()),
                    resource_version: Some(secret.metadata.resource_version.clone()),
                    ..DeletionOptions::default()
                };
                match secrets.delete(&key.namespace, &key.name, options).await {
                    // What has changed comes again.
                    Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(Action::Done),
                    Err(error) => Err(error),
                }
            }
        }
    }
}
