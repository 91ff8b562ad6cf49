//! The controllers of the product's kinds.

pub mod bootstrap_policy;
mod daemon_set;
pub mod flow_control;
mod garbage;
mod namespace;
pub mod own_service;
mod role_aggregation;
pub mod system_namespaces;
mod volume_binding;
mod volume_protection;

use std::sync::Arc;

use orch_registry::{
    catalog::ServedResource,
    error::{ApiError, Result},
};
use orch_runtime::Tree;

use self::own_service::OwnService;
use crate::controller::{AnyController, Context};

/// All of them.
pub fn controllers(own_service: OwnService) -> Vec<Box<dyn AnyController>> {
    let (claim_binder, volume_keeper) = volume_binding::binders();
    vec![
        Box::new(daemon_set::DaemonSets::default()),
        Box::new(garbage::GarbageCollector::default()),
        Box::new(namespace::NamespaceContent),
        Box::new(own_service),
        Box::new(flow_control::FlowSchemas::default()),
        Box::new(flow_control::PriorityLevels),
        Box::new(role_aggregation::RoleAggregation::default()),
        Box::new(system_namespaces::SystemNamespaces),
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
