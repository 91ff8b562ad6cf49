//! `ServiceAccount`: each new pod acts as a service account that exists, and its containers find a token of
//! it.
//!
//! It is off by default: a server without agents on nodes starts no containers, and a pod that came before
//! its account would be refused. Mirror pods, which agents make of what they run by themselves, have no
//! account.

mod mountable_secrets;
mod token_volume;

use std::time::Duration;

use orch_api::core::v1::{Pod, ServiceAccount};
use orch_auth::{answer::Answer, node::graph::Used};
use orch_registry::{
    admission::{AdmissionPlugin, AdmissionRequest, Admitted},
    error::{ApiError, Result},
};
use orch_runtime::{
    object::{Kind, typed_from_tree},
    resource_def::{ResourceDef, Verb},
    vocabulary::Vocabulary,
};
use orch_storage::Condition;

use super::{created, is};
use crate::sources::node_graph::uses_of_pod;

/// The account of pods that name none. A controller makes it in every namespace.
const DEFAULT: &str = "default";
/// How often a pod looks for that account, which may come a moment after its namespace, and how long it waits
/// in between.
const LOOKS: usize = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
const EPHEMERAL_CONTAINERS: &str = "ephemeralcontainers";

pub(crate) struct AccountsOfPods;

impl AdmissionPlugin for AccountsOfPods {
    fn name(&self) -> &'static str {
        "ServiceAccount"
    }

    fn is_on_by_default(&self) -> bool {
        false
    }

    fn mutate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        let vocabulary = request.resource.vocabulary;
        let Some(pod) = created::<Pod>(request) else { return Answer::Ready(Ok(())) };
        if is_mirror(pod, vocabulary) {
            return Answer::Ready(judge(request));
        }
        if pod.spec.service_account_name.is_empty() {
            DEFAULT.clone_into(&mut pod.spec.service_account_name);
            DEFAULT.clone_into(&mut pod.spec.service_account);
        }
        let name = pod.spec.service_account_name.clone();
        let account = account_of(request, &name);
        if account.is_ok() || name != DEFAULT {
            return Answer::Ready(account.and_then(|account| equip(request, &account)));
        }
        Answer::Later(Box::pin(async move {
            let account = wait_for_account(request, &name).await?;
            equip(request, &account)
        }))
    }

    fn validate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        Answer::Ready(judge(request))
    }

    fn adds_items(&self, def: &ResourceDef) -> bool {
        is::<Pod>(def)
    }

    fn reads(&self, def: &ResourceDef) -> Option<&'static ResourceDef> {
        is::<Pod>(def).then_some(ServiceAccount::RESOURCE)
    }
}

fn is_mirror(pod: &Pod, vocabulary: &Vocabulary) -> bool {
    pod.metadata.annotations.contains_key(&vocabulary.label("config.mirror"))
}

fn refused(request: &AdmissionRequest<'_>, why: &str) -> ApiError {
    ApiError::not_admitted(request.resource, request.name, why)
}

/// The account of that name. The write commits only while it is as it was seen here.
///
/// # Errors
/// 403 where there is none.
fn account_of(request: &mut AdmissionRequest<'_>, name: &str) -> Result<ServiceAccount> {
    let accounts = request.objects.catalog().served(ServiceAccount::RESOURCE);
    let found =
        accounts.map(|accounts| request.objects.lookup(accounts, request.namespace, name)).transpose()?;
    let Some(found) = found.flatten() else {
        let namespace = request.namespace;
        let why =
            format!("error looking up service account {namespace}/{name}: serviceaccount {name:?} not found");
        return Err(refused(request, &why));
    };
    let (key, revision) = (found.object.key().clone(), found.object.revision());
    let account = typed_from_tree(found.tree);
    let account = account.map_err(|error| ApiError::internal("a service account cannot be read", error))?;
    request.conditions.push(Condition::At { key, revision });
    Ok(account)
}

/// The account that a controller is about to make.
///
/// # Errors
/// 403 where it does not come.
async fn wait_for_account(request: &mut AdmissionRequest<'_>, name: &str) -> Result<ServiceAccount> {
    for _ in 2..LOOKS {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        if let Ok(account) = account_of(request, name) {
            return Ok(account);
        }
    }
    tokio::time::sleep(BETWEEN_LOOKS).await;
    account_of(request, name)
}

/// Gives a new pod what its account has for it.
///
/// # Errors
/// 403 where the pod uses what its account does not allow.
fn equip(request: &mut AdmissionRequest<'_>, account: &ServiceAccount) -> Result<()> {
    let vocabulary = request.resource.vocabulary;
    if let Some(pod) = created::<Pod>(request) {
        let spec = &mut pod.spec;
        let says = spec.automount_service_account_token.or(account.automount_service_account_token);
        if says.unwrap_or(true) {
            token_volume::mount(spec, vocabulary);
        }
        if spec.image_pull_secrets.is_empty() {
            spec.image_pull_secrets.clone_from(&account.image_pull_secrets);
        }
    }
    judge(request)
}

/// Refuses a pod that uses what it may not.
///
/// # Errors
/// 403.
fn judge(request: &mut AdmissionRequest<'_>) -> Result<()> {
    let vocabulary = request.resource.vocabulary;
    let below = request.subresource.map_or("", |subresource| subresource.name);
    let is_new = below.is_empty() && request.operation == Verb::Create;
    let is_extended = below == EPHEMERAL_CONTAINERS && request.operation == Verb::Update;
    if !is::<Pod>(request.resource.def) || !(is_new || is_extended) {
        return Ok(());
    }
    let object = request.object.as_deref().map(orch_runtime::object::ApiObject::as_any);
    let Some(pod) = object.and_then(|object| object.downcast_ref::<Pod>()) else { return Ok(()) };
    let pod = pod.clone();
    let broken = if is_new && is_mirror(&pod, vocabulary) {
        broken_by_mirror(&pod)?
    } else {
        let account = &pod.spec.service_account_name;
        if account.is_empty() {
            let why = format!("no service account specified for pod {}/{}", request.namespace, request.name);
            return Err(refused(request, &why));
        }
        let account = account_of(request, account)?;
        let rules = mountable_secrets::Rules::of(&account, vocabulary);
        let broken =
            if is_new { mountable_secrets::broken_by_new } else { mountable_secrets::broken_by_added };
        rules.and_then(|rules| broken(&pod.spec, &rules))
    };
    broken.map_or(Ok(()), |why| Err(refused(request, &why)))
}

/// What a mirror pod uses that it may not.
///
/// # Errors
/// 500 where it has no structural form.
fn broken_by_mirror(pod: &Pod) -> Result<Option<String>> {
    if !pod.spec.service_account_name.is_empty() {
        return Ok(Some("a mirror pod may not reference service accounts".to_owned()));
    }
    let tree = orch_runtime::object::ApiObject::to_tree(pod);
    let tree = tree.map_err(|error| ApiError::internal("the object cannot be written", error))?;
    if uses_of_pod(&pod.metadata.name, &tree["spec"]).iter().any(|(kind, _)| *kind == Used::Secret) {
        return Ok(Some("a mirror pod may not reference secrets".to_owned()));
    }
    let projected = pod.spec.volumes.iter().filter_map(|volume| volume.projected.as_ref()?.sources.as_ref());
    let has_token = projected.flatten().any(|source| source.service_account_token.is_some());
    Ok(has_token.then(|| "a mirror pod may not use ServiceAccountToken volume projections".to_owned()))
}

#[cfg(test)]
mod tests;
