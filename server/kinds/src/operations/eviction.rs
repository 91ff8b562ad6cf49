//! `pods/eviction`: deletes a pod if its disruption budget allows that, and counts the disruption there.
//!
//! The disruption is counted before the pod is deleted: a client that watches the budgets must not see first
//! that the pod is gone.

mod budget;
mod covering;

use futures_util::future::BoxFuture;
use orch_api::{
    core::v1::Pod,
    meta::v1::{DeleteOptions, Status},
    policy::v1,
};
use orch_machinery::meta::Meta;
use orch_registry::{
    answer::Answer,
    context::RequestContext,
    core::Core,
    error::{ApiError, Result},
    objects::Current,
    operation::{Operation, OperationContext},
    options::{DeletionOptions, IGNORES_READ_ERRORS},
    request::Target,
    verb::delete,
    write::server_change,
};
use orch_runtime::{Tree, field_error::FieldError, object::typed_from_tree, path::Path};
use serde_json::json;

use super::condition;

/// How often an eviction that needs no budget is tried when the pod changes meanwhile.
const ATTEMPTS: usize = 20;

pub(crate) struct Eviction;

impl Operation for Eviction {
    type Body = v1::Eviction;

    /// What tools that drain nodes sent before the group had its version 1.
    const OLDER_VERSIONS: &'static [&'static str] = &["v1beta1"];

    fn reads(&self, core: &Core, target: &Target<'_>) -> usize {
        covering::bytes(core, &target.namespace)
    }

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
            let sent = body.delete_options.unwrap_or_default();
            check_options(context, &sent)?;
            let (vocabulary, gates) = (cx.core.vocabulary(), cx.core.gates());
            let mut deletion = Deletion {
                refusal: DeletionOptions::check(vocabulary, gates, sent.clone()).err(),
                options: DeletionOptions::unchecked(sent),
            };
            deletion.options.dry_run |= options.dry_run;
            let pod = Target { subresource: None, ..target.clone() };
            Box::pin(evict(cx, &pod, &deletion)).await?;
            let done = Status { status: "Success".to_owned(), code: 201, ..Status::default() };
            Ok(Answer::Status(Box::new(done)))
        })
    }
}

/// How the pod is to be deleted. As in the reference, options that are wrong are refused when the pod is
/// deleted: after the budget was asked.
#[derive(Clone)]
struct Deletion {
    options: DeletionOptions,
    refusal: Option<ApiError>,
}

/// What an eviction does not take at all: Rust, because the type of the options has no such rule elsewhere.
///
/// # Errors
/// 422 for the option that removes unreadable objects, 500 without a reason for two different dry runs.
fn check_options(context: OperationContext<'_>, sent: &DeleteOptions) -> Result<()> {
    let OperationContext { cx, target, options } = context;
    if sent.ignore_store_read_error_with_cluster_breaking_potential == Some(true) {
        let body = target.subresource.and_then(|subresource| subresource.body);
        let delete_options = Path::ROOT.field("deleteOptions");
        let path = delete_options.field(IGNORES_READ_ERRORS);
        let detail = "can not be set for pod eviction, try after removing the option";
        return Err(ApiError::Invalid {
            group: cx.core.vocabulary().group(body.map_or("", |body| body.group)).into_owned(),
            kind: body.map_or("", |body| body.kind).to_owned(),
            name: target.name.to_string(),
            errors: vec![FieldError::invalid(&path, &true, detail)],
        });
    }
    if options.dry_run && !sent.dry_run.is_empty() && sent.dry_run != ["All"] {
        return Err(ApiError::Unclassified(format!(
            "Non-matching dry-run options in request and content: [All] and [{}]",
            sent.dry_run.join(" ")
        )));
    }
    Ok(())
}

async fn evict(cx: &RequestContext<'_>, target: &Target<'_>, deletion: &Deletion) -> Result<()> {
    let options = &deletion.options;
    let mut lost = 0;
    let pod = loop {
        let (current, pod) = find(cx, target)?;
        if !needs_no_budget(&pod) {
            break pod;
        }
        match remove(cx, target, &pinned(deletion, &current)).await {
            Err(ApiError::Conflict { .. }) if options.resource_version.is_none() && lost + 1 < ATTEMPTS => {
                lost += 1;
            }
            done => return done,
        }
    };
    let budgets = covering::of(cx, target, &pod).await?;
    match &budgets[..] {
        [] => remove(cx, target, deletion).await,
        [only] if !is_ready(&pod) && only.lets_unhealthy_go => {
            // It must not have become ready since; this replaces the version that the client sent.
            let mut pinned = deletion.clone();
            pinned.options.resource_version = Some(pod.metadata.resource_version);
            match remove(cx, target, &pinned).await {
                Err(ApiError::Conflict { .. }) if options.resource_version.is_none() => {
                    Err(budget::being_processed(&only.name))
                }
                done => done,
            }
        }
        [only] => {
            budget::take(cx, target, &only.name, options.dry_run).await?;
            remove(cx, target, deletion).await
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
fn pinned(deletion: &Deletion, current: &Current) -> Deletion {
    let mut pinned = deletion.clone();
    let phase = current.tree.pointer("/status/phase").and_then(Tree::as_str).unwrap_or_default();
    let is_over =
        matches!(phase, "Succeeded" | "Failed") || Meta::of(&current.tree).deletion_timestamp().is_some();
    if !is_over {
        pinned.options.resource_version.get_or_insert_with(|| current.revision().to_string());
    }
    pinned
}

fn is_ready(pod: &Pod) -> bool {
    pod.status.conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Records on the pod that it is evicted, and deletes it.
async fn remove(cx: &RequestContext<'_>, target: &Target<'_>, deletion: &Deletion) -> Result<()> {
    let mut options = deletion.options.clone();
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
    if let Some(refusal) = &deletion.refusal {
        return Err(refusal.clone());
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

    #[tokio::test]
    async fn budgets_of_the_namespace_are_read_and_only_one_may_cover_the_pod() {
        let server = TestServer::start().await;
        let pods = server.resource::<Pod>();
        let reads = |namespace| Eviction.reads(&server.core, &Target::item(pods, namespace, "p"));
        assert_eq!(reads(NAMESPACE), 0);
        running_pod(&server, "p").await;
        for (name, app) in [("a", "a"), ("b", "other"), ("c", "a")] {
            let budget = json!({
                "metadata": {"name": name, "annotations": {"long": "x".repeat(200_000)}},
                "spec": {"selector": {"matchLabels": {"app": app}}, "maxUnavailable": 1},
            });
            server.create::<PodDisruptionBudget>(NAMESPACE, budget).await.unwrap();
        }
        assert!(reads(NAMESPACE) > 600_000);
        assert_eq!(reads("elsewhere"), 0);
        let refused = evict(&server, "p", "p").await.map(drop);
        assert!(matches!(refused, Err(ApiError::Unclassified(_))), "{refused:?}");
        assert!(!server.core.objects().is_absent(pods, NAMESPACE, "p"));
    }
}
