//! `pods/eviction`: deletes a pod if its disruption budget allows that, and counts it there.
//!
//! The budget is taken from before the pod is deleted: who watches the budgets must not see the pod missing first.

mod budget;

use orch_api::{core::v1::Pod, policy::v1};
use orch_machinery::meta;
use orch_runtime::{Tree, resource_def::Verb};
use serde_json::json;

use super::{Operation, Performing};
use crate::{
    error::{ApiError, Result},
    registry::{
        Answer, Call,
        current::{self, Current},
        delete,
        options::{DeletionOptions, WriteOptions},
        own_change,
    },
    request_info::Target,
    status,
};

/// How often an eviction that needs no budget begins anew when the pod changes meanwhile.
const ATTEMPTS: usize = 20;

pub(super) struct Eviction;

impl Operation for Eviction {
    fn perform<'a>(&'a self, call: Call<'a>, body: Tree, options: &'a WriteOptions) -> Performing<'a> {
        Box::pin(async move {
            let eviction: v1::Eviction = serde_json::from_value(body)
                .map_err(|error| ApiError::BadRequest(format!("the body is no Eviction: {error}")))?;
            if eviction.metadata.name != call.target.name {
                let message = "name in URL does not match name in Eviction object";
                return Err(ApiError::BadRequest(message.to_owned()));
            }
            let given = eviction.delete_options.unwrap_or_default();
            let mut deletion = DeletionOptions::check(call, given)?;
            deletion.dry_run |= options.dry_run;
            let target = Target { subresource: None, verb: Verb::Delete, ..call.target.clone() };
            Box::pin(evict(Call { target: &target, ..call }, &deletion)).await?;
            Ok(Answer::Status(Box::new(status::done(201))))
        })
    }
}

/// Evicts the pod that the call names.
async fn evict(call: Call<'_>, options: &DeletionOptions) -> Result<()> {
    let mut refused = None;
    let pod = loop {
        let (current, pod) = find(call)?;
        if !needs_no_budget(&pod) {
            break pod;
        }
        match remove(call, &pinned(options, &current)).await {
            Err(error @ ApiError::Conflict { .. }) if options.resource_version.is_none() => {
                let attempts: usize = refused.map_or(0, |attempts| attempts) + 1;
                if attempts == ATTEMPTS {
                    return Err(error);
                }
                refused = Some(attempts);
            }
            done => return done,
        }
    };
    let budgets = budget::of(call, &pod)?;
    match &budgets[..] {
        [] => remove(call, options).await,
        [only] if !is_ready(&pod) && budget::lets_unhealthy_go(only) => {
            // It must not have become ready since.
            let pinned = DeletionOptions {
                resource_version: options.resource_version.clone().or(Some(pod.metadata.resource_version)),
                ..options.clone()
            };
            match remove(call, &pinned).await {
                Err(ApiError::Conflict { .. }) if options.resource_version.is_none() => {
                    Err(budget::being_processed(&only.metadata.name))
                }
                done => done,
            }
        }
        [only] => {
            budget::take(call, &only.metadata.name, &pod.metadata.name, options.dry_run).await?;
            remove(call, options).await
        }
        _ => Err(ApiError::Unclassified(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
                .to_owned(),
        )),
    }
}

fn find(call: Call<'_>) -> Result<(Current, Pod)> {
    let current = current::find(call, &call.target.name)?;
    let pod = serde_json::from_value(current.tree.clone())
        .map_err(|error| ApiError::internal("a stored pod cannot be read", error))?;
    Ok((current, pod))
}

/// A pod that has ended, has not begun or is on its way out is no loss.
fn needs_no_budget(pod: &Pod) -> bool {
    matches!(pod.status.phase.as_str(), "Pending" | "Succeeded" | "Failed")
        || pod.metadata.deletion_timestamp.is_some()
}

/// A pod that may still begin is only deleted as it was seen.
fn pinned(options: &DeletionOptions, current: &Current) -> DeletionOptions {
    let mut options = options.clone();
    let phase = current.tree.pointer("/status/phase").and_then(Tree::as_str).unwrap_or_default();
    let is_over = matches!(phase, "Succeeded" | "Failed")
        || meta::Meta::of(&current.tree).deletion_timestamp().is_some();
    if options.resource_version.is_none() && !is_over {
        options.resource_version = Some(current.revision().to_string());
    }
    options
}

fn is_ready(pod: &Pod) -> bool {
    pod.status.conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Says on the pod why it goes, and deletes it.
async fn remove(call: Call<'_>, options: &DeletionOptions) -> Result<()> {
    let mut options = options.clone();
    if !options.dry_run {
        let marked = own_change::change(call, |current| {
            delete::check_preconditions(call, &call.target.name, current, &options)?;
            Ok(marked(current, &call.app.now().to_string()))
        })
        .await?;
        if options.resource_version.is_some() {
            options.resource_version = Some(marked.revision().to_string());
        }
    }
    delete::delete_named(call, &call.target.name, &options).await?;
    Ok(())
}

/// The pod with the condition that tells it was evicted; since when it holds does not change while it does.
fn marked(current: &Current, now: &str) -> Tree {
    const TYPE: &str = "DisruptionTarget";
    let mut tree = current.tree.clone();
    let condition = json!({
        "type": TYPE, "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
        "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
    });
    let conditions = tree
        .as_object_mut()
        .and_then(|pod| pod.entry("status").or_insert_with(|| json!({})).as_object_mut())
        .and_then(|status| status.entry("conditions").or_insert_with(|| json!([])).as_array_mut());
    let Some(conditions) = conditions else { return tree };
    match conditions.iter_mut().find(|known| known["type"] == TYPE) {
        None => conditions.push(condition),
        Some(known) => {
            let since =
                if known["status"] == "True" { known["lastTransitionTime"].clone() } else { now.into() };
            *known = condition;
            known["lastTransitionTime"] = since;
        }
    }
    tree
}
