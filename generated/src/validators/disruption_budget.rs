//! Disruption budgets: their two amounts.

use orch_runtime::{
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use crate::policy::v1::PodDisruptionBudgetSpec;

/// Only one of `minAvailable` and `maxUnavailable` is set.
pub fn pod_disruption_budget_spec(value: &PodDisruptionBudgetSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.min_available.is_some() && value.max_unavailable.is_some() {
        let detail = "minAvailable and maxUnavailable cannot be both set";
        cx.push(FieldError::invalid(path, &Rendered(json(value)), detail));
    }
}
