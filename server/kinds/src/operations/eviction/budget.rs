//! Disruption budgets: which one covers a pod, and taking a disruption from it.

use orch_api::{core::v1::Pod, meta::v1::Condition, policy::v1::PodDisruptionBudget};
use orch_runtime::{Tree, object::ApiObject, resource_def::Verb, scalar::Time};

use crate::{
    error::{ApiError, Result},
    registry::{Call, body, current, own_change},
    request_info::Target,
};

/// Seconds to wait for whoever counts the pods.
const PROCESSING_SECONDS: u32 = 10;
/// More evictions than this wait for being counted when something is wrong.
const MAX_DISRUPTED_PODS: usize = 2000;
const DISRUPTION_ALLOWED: &str = "DisruptionAllowed";
const SYNC_FAILED: &str = "SyncFailed";

/// The budgets that cover a pod. Those that cannot be read are an error: they might be in the way.
pub(super) fn of(call: Call<'_>, pod: &Pod) -> Result<Vec<PodDisruptionBudget>> {
    let Some(resource) = call.app.catalog.resource("policy", "v1", "poddisruptionbudgets") else {
        return Ok(Vec::new());
    };
    let snapshot = call.app.storage.snapshot(&resource.storage_name);
    let mut covering = Vec::new();
    for object in snapshot.in_namespace(&call.target.namespace) {
        let budget = read(current::tree_of(resource, object)?)?;
        if budget.spec.selector.as_ref().is_some_and(|selector| selector.selects(&pod.metadata.labels)) {
            covering.push(budget);
        }
    }
    Ok(covering)
}

/// Whether a pod that is not ready may go without being counted.
pub(super) fn lets_unhealthy_go(budget: &PodDisruptionBudget) -> bool {
    let status = &budget.status;
    budget.spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow")
        || (status.current_healthy >= status.desired_healthy && status.desired_healthy > 0)
}

/// 429: whoever counts the pods has not seen the budget as it is.
pub(super) fn being_processed(name: &str) -> ApiError {
    ApiError::Disruption {
        cause: format!("The disruption budget {name} is still being processed by the server."),
        retry_after: PROCESSING_SECONDS,
    }
}

/// Takes one disruption from a budget, for the pod of this name.
///
/// # Errors
/// 429 where none is left, 403 where the budget makes no sense, 404 where it is gone.
pub(super) async fn take(call: Call<'_>, name: &str, pod: &str, dry_run: bool) -> Result<()> {
    let Some(resource) = call.app.catalog.resource("policy", "v1", "poddisruptionbudgets") else {
        return Ok(());
    };
    let target = Target {
        resource,
        verb: Verb::Update,
        subresource: None,
        namespace: call.target.namespace.clone(),
        name: name.into(),
    };
    let call = Call { target: &target, ..call };
    let now = call.app.now();
    let taken = |current: &current::Current| {
        let mut budget = read(current.tree.clone())?;
        take_one(&mut budget, pod, now).map_err(|refusal| refusal.told(call, name))?;
        let mut tree = budget.to_tree().map_err(unreadable)?;
        body::set_kind(call.target, &mut tree);
        Ok(tree)
    };
    if dry_run {
        return taken(&current::find(call, name)?).map(drop);
    }
    own_change::change(call, taken).await.map(drop)
}

/// Why no disruption can be taken.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    Outdated,
    Exhausted(String),
    Senseless(&'static str),
}

impl Refusal {
    fn told(self, call: Call<'_>, name: &str) -> ApiError {
        match self {
            Refusal::Outdated => being_processed(name),
            Refusal::Exhausted(cause) => ApiError::Disruption { cause, retry_after: 0 },
            Refusal::Senseless(why) => ApiError::not_admitted(call.target.resource, name, why),
        }
    }
}

fn take_one(budget: &mut PodDisruptionBudget, pod: &str, now: Time) -> Result<(), Refusal> {
    let (name, generation) = (&budget.metadata.name, budget.metadata.generation);
    let status = &mut budget.status;
    if status.observed_generation < generation {
        return Err(Refusal::Outdated);
    }
    if status.disruptions_allowed < 0 {
        return Err(Refusal::Senseless("pdb disruptions allowed is negative"));
    }
    if status.disrupted_pods.len() > MAX_DISRUPTED_PODS {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(Refusal::Senseless(why));
    }
    let condition = status.conditions.iter().position(|condition| condition.type_ == DISRUPTION_ALLOWED);
    if status.disruptions_allowed == 0 {
        let failed = condition.map(|index| &status.conditions[index]);
        return Err(Refusal::Exhausted(match failed.filter(|condition| condition.reason == SYNC_FAILED) {
            Some(Condition { message, .. }) => format!(
                "The disruption budget {name} does not allow evicting pods currently because it failed sync: {message}"
            ),
            None => format!(
                "The disruption budget {name} needs {} healthy pods and has {} currently",
                status.desired_healthy, status.current_healthy
            ),
        }));
    }
    status.disruptions_allowed -= 1;
    status.disrupted_pods.insert(pod.to_owned(), now);
    if status.disruptions_allowed == 0 {
        let exhausted = Condition {
            type_: DISRUPTION_ALLOWED.to_owned(),
            status: "False".to_owned(),
            observed_generation: status.observed_generation,
            last_transition_time: now,
            reason: "InsufficientPods".to_owned(),
            message: String::new(),
        };
        match condition.map(|index| &mut status.conditions[index]) {
            None => status.conditions.push(exhausted),
            Some(known) => {
                let since = if known.status == exhausted.status { known.last_transition_time } else { now };
                *known = Condition { last_transition_time: since, ..exhausted };
            }
        }
    }
    Ok(())
}

fn read(tree: Tree) -> Result<PodDisruptionBudget> {
    serde_json::from_value(tree).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> ApiError {
    ApiError::internal("a stored disruption budget cannot be read", error)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn budget(status: &Tree) -> PodDisruptionBudget {
        read(json!({"metadata": {"name": "b", "generation": 2}, "status": status})).unwrap()
    }

    #[test]
    fn a_disruption_is_taken_and_counted() {
        let now = Time::from_unix_seconds(1_000_000);
        let mut counted = budget(&json!({"observedGeneration": 2, "disruptionsAllowed": 2}));
        take_one(&mut counted, "p", now).unwrap();
        assert_eq!((counted.status.disruptions_allowed, counted.status.disrupted_pods["p"]), (1, now));
        assert!(counted.status.conditions.is_empty());
        take_one(&mut counted, "q", now).unwrap();
        assert_eq!((counted.status.disruptions_allowed, counted.status.disrupted_pods.len()), (0, 2));
        let [condition] = &counted.status.conditions[..] else { panic!("one condition") };
        assert_eq!(
            (condition.status.clone(), &condition.reason[..]),
            ("False".to_owned(), "InsufficientPods")
        );
        let refused = take_one(&mut counted, "r", now).unwrap_err();
        assert_eq!(
            refused,
            Refusal::Exhausted("The disruption budget b needs 0 healthy pods and has 0 currently".to_owned())
        );
        assert_eq!(counted.status.disrupted_pods.len(), 2);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let now = Time::from_unix_seconds(1_000_000);
        let failed = json!([{
            "type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "m",
            "lastTransitionTime": null,
        }]);
        let many: serde_json::Map<String, Tree> =
            (0..=MAX_DISRUPTED_PODS).map(|n| (n.to_string(), "2026-01-01T00:00:00Z".into())).collect();
        for (status, expected) in [
            (json!({"observedGeneration": 1, "disruptionsAllowed": 1}), Refusal::Outdated),
            (
                json!({"observedGeneration": 2, "disruptionsAllowed": -1}),
                Refusal::Senseless("pdb disruptions allowed is negative"),
            ),
            (
                json!({"observedGeneration": 2, "disruptionsAllowed": 1, "disruptedPods": many}),
                Refusal::Senseless("DisruptedPods map too big - too many evictions not confirmed by PDB controller"),
            ),
            (
                json!({"observedGeneration": 2, "desiredHealthy": 3, "currentHealthy": 1}),
                Refusal::Exhausted("The disruption budget b needs 3 healthy pods and has 1 currently".to_owned()),
            ),
            (
                json!({"observedGeneration": 2, "conditions": failed}),
                Refusal::Exhausted(
                    "The disruption budget b does not allow evicting pods currently because it failed sync: m".to_owned(),
                ),
            ),
        ] {
            assert_eq!(take_one(&mut budget(&status), "p", now), Err(expected), "{status}");
        }
    }
}
