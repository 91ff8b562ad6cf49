//! Counting a disruption in the budget of a pod.

use orch_api::{meta::v1::Condition, policy::v1::PodDisruptionBudget};
use orch_machinery::meta;
use orch_registry::{
    context::RequestContext,
    error::{ApiError, Result},
    objects::Current,
    request::Target,
    write::server_change,
};
use orch_runtime::{
    Tree,
    object::{ApiObject, Kind, typed_from_tree},
    scalar::Time,
};

/// Seconds to wait until the controller of budgets has seen a change.
const PROCESSING_SECONDS: u32 = 10;
/// More evictions than this are not waiting for the controller unless something is wrong.
const MAX_DISRUPTED_PODS: usize = 2000;
const DISRUPTION_ALLOWED: &str = "DisruptionAllowed";
const SYNC_FAILED: &str = "SyncFailed";

/// 429: the controller of budgets has not seen the newest state.
pub(super) fn being_processed(name: &str) -> ApiError {
    ApiError::Disruption {
        cause: format!("The disruption budget {name} is still being processed by the server."),
        retry_after: PROCESSING_SECONDS,
    }
}

/// Counts a disruption in the budget of this name, for the pod.
///
/// # Errors
/// 429 where none is left, 403 where the status of the budget makes no sense, 404 where the budget is gone.
pub(super) async fn take(cx: &RequestContext<'_>, pod: &Target<'_>, name: &str, dry_run: bool) -> Result<()> {
    let Some(budgets) = cx.core.catalog().served(PodDisruptionBudget::RESOURCE) else {
        return Ok(());
    };
    let target = Target::item(budgets, &*pod.namespace, name);
    let now = cx.core.now();
    let taken = |current: &Current| {
        let mut budget = read(current.tree.clone())?;
        take_one(&mut budget, &pod.name, now).map_err(|refusal| refusal.error(&target))?;
        let mut tree = budget.to_tree().map_err(unreadable)?;
        meta::set_type(&mut tree, budgets.def.kind, &budgets.api_version);
        Ok(tree)
    };
    if dry_run {
        return taken(&cx.core.objects().find(budgets, &target.namespace, name)?).map(drop);
    }
    server_change::change(cx, &target, taken).await.map(drop)
}

/// Why no disruption can be counted.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    /// The controller has not seen the newest budget.
    Outdated,
    /// No disruption is left; why.
    Exhausted(String),
    /// The status makes no sense; why.
    Senseless(&'static str),
}

impl Refusal {
    fn error(self, budget: &Target<'_>) -> ApiError {
        match self {
            Refusal::Outdated => being_processed(&budget.name),
            Refusal::Exhausted(cause) => ApiError::Disruption { cause, retry_after: 0 },
            Refusal::Senseless(why) => ApiError::not_admitted(budget.resource, &budget.name, why),
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
                "The disruption budget {name} does not allow evicting pods currently because it failed sync: \
                 {message}"
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
            last_transition_time: Some(now),
            reason: "InsufficientPods".to_owned(),
            message: String::new(),
        };
        match condition.map(|index| &mut status.conditions[index]) {
            None => status.conditions.push(exhausted),
            Some(known) => {
                let since =
                    if known.status == exhausted.status { known.last_transition_time } else { Some(now) };
                *known = Condition { last_transition_time: since, ..exhausted };
            }
        }
    }
    Ok(())
}

fn read(tree: Tree) -> Result<PodDisruptionBudget> {
    typed_from_tree(tree).map_err(unreadable)
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

    fn exhausted(why: &str) -> Refusal {
        Refusal::Exhausted(format!("The disruption budget b {why}"))
    }

    #[test]
    fn disruptions_are_counted() {
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
        assert_eq!(refused, exhausted("needs 0 healthy pods and has 0 currently"));
        assert_eq!(counted.status.disrupted_pods.len(), 2);
    }

    #[test]
    fn reasons_against_a_disruption() {
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
                Refusal::Senseless(
                    "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
                ),
            ),
            (
                json!({"observedGeneration": 2, "desiredHealthy": 3, "currentHealthy": 1}),
                exhausted("needs 3 healthy pods and has 1 currently"),
            ),
            (
                json!({"observedGeneration": 2, "conditions": failed}),
                exhausted("does not allow evicting pods currently because it failed sync: m"),
            ),
        ] {
            assert_eq!(take_one(&mut budget(&status), "p", now), Err(expected), "{status}");
        }
    }
}
