//! Disruption budgets: their two amounts, and when their conditions changed.

use orch_runtime::{
    field_error::{FieldError, Order, Rendered, Validation, json},
    path::Path,
};

use crate::policy::v1::{PodDisruptionBudgetSpec, PodDisruptionBudgetStatus};

/// Only one of `minAvailable` and `maxUnavailable` is set.
pub fn pod_disruption_budget_spec(value: &PodDisruptionBudgetSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.min_available.is_some() && value.max_unavailable.is_some() {
        let detail = "minAvailable and maxUnavailable cannot be both set";
        cx.push(FieldError::invalid(path, &Rendered(json(value)), detail));
    }
    cx.arrange(
        path,
        &[Order::of(""), Order::of("minAvailable"), Order::of("maxUnavailable"), Order::of("*")],
    );
}

/// Every condition says when it changed.
pub fn pod_disruption_budget_status(
    value: &PodDisruptionBudgetStatus,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let conditions = path.field("conditions");
    for (index, condition) in value.conditions.iter().enumerate() {
        if condition.last_transition_time.is_none() {
            cx.push(FieldError::required(&conditions.index(index).field("lastTransitionTime"), ""));
        }
    }
    cx.arrange(path, CONDITIONS);
}

/// The order in which errors of conditions are reported.
const CONDITIONS: &[Order] = &[
    Order::of("observedGeneration"),
    Order::of("disruptedPods"),
    Order::of("disruptionsAllowed"),
    Order::of("currentHealthy"),
    Order::of("desiredHealthy"),
    Order::of("expectedPods"),
    Order::with(
        "conditions",
        &[
            Order::of("type"),
            Order::of("status"),
            Order::of("observedGeneration"),
            Order::of("lastTransitionTime"),
            Order::of("reason"),
            Order::of("message"),
            Order::of(""),
        ],
    ),
];
