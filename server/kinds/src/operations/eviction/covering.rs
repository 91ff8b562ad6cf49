//! The disruption budgets that cover a pod.
//!
//! A namespace may have many budgets, and large ones. So what an eviction asks of a budget is read once for
//! each state of it and kept with it, and between some of them other requests have their turn.

use std::sync::Arc;

use orch_api::{
    core::v1::Pod,
    meta::v1::LabelSelector,
    policy::v1::{PodDisruptionBudget, PodDisruptionBudgetStatus},
};
use orch_registry::{
    catalog::ServedResource,
    context::RequestContext,
    core::Core,
    error::{ApiError, Result},
    request::Target,
    stored,
};
use orch_runtime::{object::Kind, tree_reader};
use orch_storage::Object;
use tokio::task::yield_now;

/// After so many bytes of budgets others have their turn.
const SLICE_BYTES: usize = 256 * 1024;

/// A budget, as far as it tells which pods it covers and when it need not be asked.
#[derive(Debug, Default)]
pub(super) struct Budget {
    pub(super) name: Arc<str>,
    selector: Option<LabelSelector>,
    /// Whether a pod that is not ready may be evicted without being counted.
    pub(super) lets_unhealthy_go: bool,
}

/// The budgets that cover a pod: none, one, or the first two, since an eviction allows no more than one.
///
/// # Errors
/// 500 for a budget that cannot be read: it might forbid the eviction.
pub(super) async fn of(cx: &RequestContext<'_>, target: &Target<'_>, pod: &Pod) -> Result<Vec<Arc<Budget>>> {
    let Some(budgets) = budgets(cx.core) else { return Ok(Vec::new()) };
    let snapshot = cx.core.objects().snapshot(budgets);
    let (mut covering, mut bytes) = (Vec::new(), 0);
    for object in snapshot.in_namespace(&target.namespace) {
        let budget = view(object)?;
        if budget.selector.as_ref().is_some_and(|selector| selector.selects(&pod.metadata.labels)) {
            covering.push(Arc::clone(budget));
            if covering.len() > 1 {
                break;
            }
        }
        bytes += object.size();
        if bytes >= SLICE_BYTES {
            bytes = 0;
            yield_now().await;
        }
    }
    Ok(covering)
}

/// How many bytes the budgets of a namespace have.
pub(super) fn bytes(core: &Core, namespace: &str) -> usize {
    let Some(budgets) = budgets(core) else { return 0 };
    core.objects().snapshot(budgets).in_namespace(namespace).map(|object| object.size()).sum()
}

fn budgets(core: &Core) -> Option<&ServedResource> {
    core.catalog().served(PodDisruptionBudget::RESOURCE).map(Arc::as_ref)
}

/// A budget as it is stored.
fn view(object: &Object) -> Result<&Arc<Budget>> {
    struct Remembered(Result<Arc<Budget>, String>);
    let remembered = object.memo(|object| Remembered(read(object).map(Arc::new)));
    let unreadable = |error| ApiError::internal("a stored disruption budget cannot be read", error);
    remembered.0.as_ref().map_err(unreadable)
}

fn read(object: &Object) -> Result<Budget, String> {
    let paths: &[&[&str]] = &[&["spec", "selector"], &["spec", "unhealthyPodEvictionPolicy"], &["status"]];
    let bytes = object.value().map_err(|corrupt| corrupt.detail.to_string())?;
    let mut values = stored::values_at(bytes, paths)?.into_iter();
    let mut value = || values.next().flatten();
    let selector = value();
    object.memo_grows(selector.as_ref().map_or(0, |selector| selector.to_string().len()));
    let unreadable = |error: serde_json::Error| error.to_string();
    let selector = selector.map(tree_reader::read).transpose().map_err(unreadable)?;
    let policy: Option<String> = value().map(tree_reader::read).transpose().map_err(unreadable)?;
    let status: PodDisruptionBudgetStatus =
        value().map(tree_reader::read).transpose().map_err(unreadable)?.unwrap_or_default();
    let is_healthy = status.current_healthy >= status.desired_healthy && status.desired_healthy > 0;
    let lets_unhealthy_go = policy.as_deref() == Some("AlwaysAllow") || is_healthy;
    Ok(Budget { name: Arc::clone(&object.key().name), selector, lets_unhealthy_go })
}
