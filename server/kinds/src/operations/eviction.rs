//! `pods/eviction`: deletes a pod if its disruption budget allows that, and counts the disruption there.
//!
//! The disruption is counted before the pod is deleted: a client that watches the budgets must not see first
//! that the pod is gone.

mod budget;

use futures_util::future::BoxFuture;
use orch_api::{core::v1::Pod, meta::v1::Status, policy::v1};
use orch_machinery::meta::Meta;
use orch_registry::{
    answer::Answer,
    context::RequestContext,
    error::{ApiError, Result},
    objects::Current,
    operation::{Operation, OperationContext},
    options::DeletionOptions,
    request::Target,
    verb::delete,
    write::server_change,
};
use orch_runtime::{Tree, object::typed_from_tree};
use serde_json::json;

use super::condition;

/// How often an eviction that needs no budget is tried when the pod changes meanwhile.
const ATTEMPTS: usize = 20;

pub(crate) struct Eviction;

impl Operation for Eviction {
    type Body = v1::Eviction;

    fn perform<'a>(
        &'a self,
        context: OperationContext<'a>,
        body: v1::Eviction,
    ) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let OperationContext { cx, target, options } = context;
            if body.metadata.name != target.name {
                let message = "name in URL does not match name in Eviction object";
                return Err(ApiError::BadRequest(message.to_owned()));
            }
            let (vocabulary, gates) = (cx.core.vocabulary(), cx.core.gates());
            let sent = body.delete_options.unwrap_or_default();
            let mut deletion = DeletionOptions::check(vocabulary, gates, sent)?;
            deletion.dry_run |= options.dry_run;
            let pod = Target { subresource: None, ..target.clone() };
            Box::pin(evict(cx, &pod, &deletion)).await?;
            let done = Status { status: "Success".to_owned(), code: 201, ..Status::default() };
            Ok(Answer::Status(Box::new(done)))
        })
    }
}

async fn evict(cx: &RequestContext<'_>, target: &Target<'_>, options: &DeletionOptions) -> Result<()> {
    let mut lost = 0;
    let pod = loop {
        let (current, pod) = find(cx, target)?;
        if !needs_no_budget(&pod) {
            break pod;
        }
        match remove(cx, target, &pinned(options, &current)).await {
            Err(ApiError::Conflict { .. }) if options.resource_version.is_none() && lost + 1 < ATTEMPTS => {
                lost += 1;
            }
            done => return done,
        }
    };
    let budgets = budget::of(cx, target, &pod)?;
    match &budgets[..] {
        [] => remove(cx, target, options).await,
        [only] if !is_ready(&pod) && budget::lets_unhealthy_go(only) => {
            // It must not have become ready since.
            let pinned = DeletionOptions {
                resource_version: options.resource_version.clone().or(Some(pod.metadata.resource_version)),
                ..options.clone()
            };
            match remove(cx, target, &pinned).await {
                Err(ApiError::Conflict { .. }) if options.resource_version.is_none() => {
                    Err(budget::being_processed(&only.metadata.name))
                }
                done => done,
            }
        }
        [only] => {
            budget::take(cx, target, &only.metadata.name, options.dry_run).await?;
            remove(cx, target, options).await
        }
        _ => Err(ApiError::Unclassified(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
                .to_owned(),
        )),
    }
}

fn find(cx: &RequestContext<'_>, target: &Target<'_>) -> Result<(Current, Pod)> {
    let current = cx.core.objects().find(target.resource, &target.namespace, &target.name)?;
    let pod = typed_from_tree(current.tree.clone())
        .map_err(|error| ApiError::internal("a stored pod cannot be read", error))?;
    Ok((current, pod))
}

/// Whether the pod has ended, has not begun, or is being deleted: evicting it disrupts nothing.
fn needs_no_budget(pod: &Pod) -> bool {
    matches!(pod.status.phase.as_str(), "Pending" | "Succeeded" | "Failed")
        || pod.metadata.deletion_timestamp.is_some()
}

/// A pod that may still begin to run is only deleted in the state that was looked at.
fn pinned(options: &DeletionOptions, current: &Current) -> DeletionOptions {
    let mut options = options.clone();
    let phase = current.tree.pointer("/status/phase").and_then(Tree::as_str).unwrap_or_default();
    let is_over =
        matches!(phase, "Succeeded" | "Failed") || Meta::of(&current.tree).deletion_timestamp().is_some();
    if options.resource_version.is_none() && !is_over {
        options.resource_version = Some(current.revision().to_string());
    }
    options
}

fn is_ready(pod: &Pod) -> bool {
    pod.status.conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Records on the pod that it is evicted, and deletes it.
async fn remove(cx: &RequestContext<'_>, target: &Target<'_>, options: &DeletionOptions) -> Result<()> {
    let mut options = options.clone();
    if !options.dry_run {
        let marked = server_change::change(cx, target, |current| {
            delete::check_preconditions(target, current, &options)?;
            Ok(marked(&current.tree, &cx.core.now().to_string()))
        })
        .await?;
        if options.resource_version.is_some() {
            options.resource_version = Some(marked.revision().to_string());
        }
    }
    delete::delete_object(cx, target, &options).await?;
    Ok(())
}

/// The pod with the condition that it is evicted.
fn marked(pod: &Tree, now: &str) -> Tree {
    let mut tree = pod.clone();
    let evicted = json!({
        "type": "DisruptionTarget", "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
        "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
    });
    condition::set(&mut tree, evicted);
    tree
}

#[cfg(test)]
mod tests {
    use orch_api::policy::v1::PodDisruptionBudget;
    use orch_registry::options::WriteOptions;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer};

    async fn evict(server: &TestServer, pod: &str, body: &str) -> Result<Answer> {
        let cx = server.request();
        let target = Target::item(server.resource::<Pod>(), NAMESPACE, pod);
        let options = WriteOptions::internal("test");
        let context = OperationContext { cx: &cx, target: &target, options: &options };
        let body = serde_json::from_value(json!({"metadata": {"name": body}})).unwrap();
        Eviction.perform(context, body).await
    }

    async fn running_pod(server: &TestServer, name: &str) {
        let pod = json!({
            "metadata": {"name": name, "labels": {"app": "a"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        });
        server.create::<Pod>(NAMESPACE, pod).await.unwrap();
        let status = |tree: &mut Tree| {
            tree["status"]["phase"] = "Running".into();
            tree["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
        };
        server.update::<Pod>("status", NAMESPACE, name, status).await.unwrap();
    }

    #[tokio::test]
    async fn budgets_count_evictions_and_end_them() {
        let server = TestServer::start().await;
        let budget = json!({
            "metadata": {"name": "b"},
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "maxUnavailable": 1},
        });
        server.create::<PodDisruptionBudget>(NAMESPACE, budget).await.unwrap();
        running_pod(&server, "p").await;
        running_pod(&server, "q").await;
        assert!(matches!(evict(&server, "p", "q").await, Err(ApiError::BadRequest(_))));
        let unseen = evict(&server, "p", "p").await.map(drop);
        assert_eq!(unseen, Err(budget::being_processed("b")));

        let status = |tree: &mut Tree| {
            tree["status"] = json!({
                "observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1,
                "expectedPods": 2,
            });
        };
        server.update::<PodDisruptionBudget>("status", NAMESPACE, "b", status).await.unwrap();
        evict(&server, "p", "p").await.unwrap();
        let (pods, budgets) = (server.resource::<Pod>(), server.resource::<PodDisruptionBudget>());
        assert!(server.core.objects().is_absent(pods, NAMESPACE, "p"));
        let counted = server.client.get(budgets, NAMESPACE, "b").unwrap().tree;
        assert_eq!(counted["status"]["disruptionsAllowed"], 0);
        assert!(counted["status"]["disruptedPods"].get("p").is_some());
        let exhausted = evict(&server, "q", "q").await.map(drop);
        assert!(matches!(exhausted, Err(ApiError::Disruption { retry_after: 0, .. })), "{exhausted:?}");
        assert!(!server.core.objects().is_absent(pods, NAMESPACE, "q"));
    }
}
