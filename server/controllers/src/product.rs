//! The controllers of the product's kinds.

pub mod bootstrap_policy;
mod bootstrap_tokens;
mod cluster_info;
mod daemon_set;
mod event_expiry;
pub mod flow_control;
mod garbage;
mod namespace;
pub mod own_service;
mod present;
pub mod priority_classes;
mod role_aggregation;
mod root_ca;
mod service_account;
mod storage_migration;
pub mod system_namespaces;
mod token_cleaner;
pub mod token_secrets;
pub mod trust;
mod volume_binding;
mod volume_protection;

use std::{sync::Arc, time::Duration};

use orch_registry::{
    catalog::ServedResource,
    error::{ApiError, Result},
};
use orch_runtime::{Tree, vocabulary::Vocabulary};

use self::{own_service::OwnService, token_secrets::Signer, trust::Trust};
use crate::controller::{AnyController, Context};

/// What controllers are told about the server.
pub struct Settings {
    /// The service that leads to it.
    pub own_service: OwnService,
    /// The authorities that its clients trust.
    pub trust: Trust,
    /// Signs tokens that are kept in secrets.
    pub signer: Signer,
    /// How long events are kept after they were written last.
    pub event_ttl: Duration,
    /// The product words in force.
    pub vocabulary: &'static Vocabulary,
}

/// All of them.
pub fn controllers(settings: Settings) -> Vec<Box<dyn AnyController>> {
    let Settings { own_service, trust, signer, event_ttl, vocabulary } = settings;
    let (claim_binder, volume_keeper) = volume_binding::binders();
    vec![
        Box::new(cluster_info::BootstrapSigner::new(vocabulary)),
        Box::new(daemon_set::DaemonSets::default()),
        Box::new(event_expiry::EventExpiry::after(event_ttl)),
        Box::new(garbage::GarbageCollector::default()),
        Box::new(namespace::NamespaceContent::default()),
        Box::new(own_service),
        Box::new(flow_control::FlowSchemas::default()),
        Box::new(flow_control::PriorityLevels),
        Box::new(priority_classes::PriorityClasses),
        Box::new(role_aggregation::RoleAggregation::default()),
        Box::new(root_ca::RootCaPublisher::new(trust.clone())),
        Box::new(service_account::DefaultAccounts),
        Box::new(token_secrets::TokenSecrets::new(signer, trust)),
        Box::new(storage_migration::StorageMigration),
        Box::new(system_namespaces::SystemNamespaces),
        Box::new(token_cleaner::TokenCleaner),
        Box::new(volume_keeper),
        Box::new(claim_binder),
        Box::new(volume_protection::VolumeProtection),
        Box::new(volume_protection::ClaimProtection),
    ]
}

/// Stores an object without the finalizer that kept it. Where somebody else has changed it meanwhile nothing
/// happens: that change brings its key again.
async fn release(cx: &Context, resource: &Arc<ServedResource>, subresource: &str, tree: Tree) -> Result<()> {
    match cx.client().update(resource, subresource, tree).await {
        Ok(_) | Err(ApiError::NotFound { .. } | ApiError::Conflict { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
