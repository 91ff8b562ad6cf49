//! What every server has from the start.

use std::sync::Arc;

use orch_config::start_error::StartError;
use orch_controllers::product::{
    bootstrap_policy, flow_control, own_service::OwnService, priority_classes, system_namespaces,
};
use orch_http::response::status;
use orch_registry::{
    client::Client,
    core::Core,
    error::{ApiError, Result},
};
use orch_storage::Revision;

/// How often a step is taken at most.
const ATTEMPTS: usize = 20;

/// Creates the system namespaces, the roles, bindings, priority levels, flow schemas and priority classes
/// that every server has, and the server's own service where they are missing.
///
/// In a new store history begins after them. No client can have seen an earlier version, so one that asks for
/// it has it from other data.
pub(super) async fn create(core: &Arc<Core>, own_service: &OwnService) -> Result<(), StartError> {
    let storage = core.storage();
    let is_new = storage.current_revision() == Revision::FIRST;
    let client = Client::new(Arc::clone(core), orch_config::PROGRAM);
    settled(core, || system_namespaces::ensure(&client)).await.map_err(|error| {
        let why = status::text_for_operator(&error);
        StartError::Runtime(format!("cannot create the system namespaces: {why}"))
    })?;
    settled(core, || bootstrap_policy::reconcile(&client)).await.map_err(|error| {
        let why = status::text_for_operator(&error);
        StartError::Runtime(format!("cannot create the roles that every server has: {why}"))
    })?;
    settled(core, || flow_control::ensure_all(&client)).await.map_err(|error| {
        let why = status::text_for_operator(&error);
        StartError::Runtime(format!("cannot create the priority levels that every server has: {why}"))
    })?;
    settled(core, || priority_classes::ensure(&client)).await.map_err(|error| {
        let why = status::text_for_operator(&error);
        StartError::Runtime(format!("cannot create the priority classes that every server has: {why}"))
    })?;
    // The controller tries again; until then the server does its work without it.
    if let Err(error) = own_service.ensure(&client).await {
        let why = status::text_for_operator(&error);
        tracing::warn!(why, "the service that leads to this server cannot be made");
    }
    if !is_new {
        return Ok(());
    }
    let forgotten = storage.compact(storage.current_revision()).await;
    forgotten.map_err(|error| StartError::Runtime(format!("cannot begin the history: {error}")))
}

/// Takes a step again where another server, which starts at the same time, was faster with a part of it.
async fn settled<T, F: Future<Output = Result<T>>>(core: &Core, step: impl Fn() -> F) -> Result<T> {
    for _ in 1..ATTEMPTS {
        match step().await {
            Err(ApiError::Conflict { .. } | ApiError::AlreadyExists { .. }) => {}
            done => return done,
        }
        let newest = core.storage().barrier().await;
        newest.map_err(|error| ApiError::internal("the store cannot be read", error))?;
    }
    step().await
}
