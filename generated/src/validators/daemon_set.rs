//! Daemon sets: the selector, the template, and the update strategy.

use orch_runtime::{
    field_error::{FieldError, Order, Rendered, Validation, json},
    path::Path,
    scalar::IntOrString,
};

use super::label_selector;
use crate::apps::v1::{DaemonSetSpec, DaemonSetStatus, DaemonSetUpdateStrategy, RollingUpdateDaemonSet};

/// The selector is valid, is not empty, and matches the labels of the template.
fn daemon_set_selector(value: &DaemonSetSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let selector = path.field("selector");
    let mut own = Validation::new(cx.vocabulary);
    if let Some(given) = &value.selector {
        label_selector(given, &selector, &mut own);
    }
    let is_correct = own.is_empty();
    for error in own.into_errors() {
        cx.push(error);
    }
    let labels = &value.template.metadata.labels;
    if is_correct && !value.selector.as_ref().is_some_and(|selector| selector.selects(labels)) {
        let template = path.field("template");
        let metadata = template.field("metadata");
        let detail = "`selector` does not match template `labels`";
        cx.push(FieldError::invalid(&metadata.field("labels"), &Rendered(json(labels)), detail));
    }
    if let Some(given) = &value.selector
        && given.match_labels.is_empty()
        && given.match_expressions.is_empty()
    {
        let detail = "empty selector is invalid for daemonset";
        cx.push(FieldError::invalid(&selector, &Rendered(json(given)), detail));
    }
}

/// The order in which errors of a daemon set are reported.
const ORDER: &[Order] = &[
    Order::of("selector"),
    Order::with("template", &[Order::of("metadata"), Order::of("labels"), Order::of("annotations")]),
    Order::of("minReadySeconds"),
    Order::of("updateStrategy"),
    Order::of("revisionHistoryLimit"),
];

/// The selector matches the template.
pub fn daemon_set_spec(value: &DaemonSetSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    daemon_set_selector(value, path, cx);
    cx.arrange(path, ORDER);
}

/// Amounts are checked for `RollingUpdate` only.
pub fn daemon_set_update_strategy(value: &DaemonSetUpdateStrategy, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.type_ != "RollingUpdate" {
        cx.retract(&path.field("rollingUpdate"));
    }
}

/// Exactly one of the two amounts is not zero.
pub fn rolling_update_daemon_set(value: &RollingUpdateDaemonSet, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (unavailable, surge) = (path.field("maxUnavailable"), path.field("maxSurge"));
    match (is_not_zero(value.max_unavailable.as_ref()), is_not_zero(value.max_surge.as_ref())) {
        (true, true) => {
            let detail = "may not be set when maxUnavailable is non-zero";
            cx.push(FieldError::invalid(&surge, &value.max_surge, detail));
        }
        (false, false) => {
            cx.push(FieldError::required(&unavailable, "cannot be 0 when maxSurge is 0"));
        }
        _ => {}
    }
}

/// Whether an amount is not zero. Percentages are rounded up, so each one above zero counts.
fn is_not_zero(amount: Option<&IntOrString>) -> bool {
    match amount {
        Some(IntOrString::Int(number)) => *number != 0,
        Some(share) => share.percentage().is_some_and(|percent| percent != 0),
        None => false,
    }
}

/// The collision count does not decrease.
pub fn daemon_set_status_update(
    new: &DaemonSetStatus,
    old: &DaemonSetStatus,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let (new, old) = (new.collision_count, old.collision_count);
    if old.is_some_and(|old| new.unwrap_or_default() < old) {
        cx.push(FieldError::invalid(&path.field("collisionCount"), &new, "cannot be decremented"));
    }
}
