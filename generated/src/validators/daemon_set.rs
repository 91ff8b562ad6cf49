//! Daemon sets: the selector matches the template, and texts that show more than one value.

use std::collections::BTreeMap;

use orch_runtime::{
    field_error::{FieldError, Rendered, Shown, Validation},
    path::Path,
};

use crate::apps::v1::{DaemonSetSpec, DaemonSetUpdateStrategy};

const STRATEGIES: [&str; 2] = ["RollingUpdate", "OnDelete"];
const NO_SELECTOR: &str = "v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}";

/// The selector matches the labels of the template, but not those of every pod: Rust, because it runs the
/// selector, and because clients know how values are shown.
pub fn daemon_set_spec(value: &DaemonSetSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let labels = &value.template.metadata.labels;
    let at = path.field("selector");
    let selects = value.selector.as_ref().is_some_and(|selector| selector.selects(labels));
    if !selects && !cx.has_error_at(&at) {
        let template = path.field("template");
        let metadata = template.field("metadata");
        let detail = "`selector` does not match template `labels`";
        cx.push(FieldError::invalid(&metadata.field("labels"), &Rendered(shown(labels)), detail));
    }
    let is_empty = value
        .selector
        .as_ref()
        .is_some_and(|selector| selector.match_labels.is_empty() && selector.match_expressions.is_empty());
    if is_empty {
        let detail = "empty selector is invalid for daemonset";
        cx.push(FieldError::invalid(&at, &Rendered(NO_SELECTOR.to_owned()), detail));
    }
    strategy(&value.update_strategy, &path.field("updateStrategy"), cx);
}

/// The strategy is one of two: Rust, because errors show all of it.
fn strategy(value: &DaemonSetUpdateStrategy, path: &Path<'_>, cx: &mut Validation<'_>) {
    if STRATEGIES.contains(&value.type_.as_str()) {
        return;
    }
    let amounts = if value.rolling_update.is_some() { "0x0" } else { "nil" };
    let shown = format!(
        "apps.DaemonSetUpdateStrategy{{Type:{}, RollingUpdate:(*apps.RollingUpdateDaemonSet)({amounts})}}",
        value.type_.shown()
    );
    cx.push(FieldError::not_supported(path, &Rendered(shown), &STRATEGIES));
}

/// Labels as errors show them.
fn shown(labels: &BTreeMap<String, String>) -> String {
    if labels.is_empty() {
        return "map[string]string(nil)".to_owned();
    }
    let labels = labels.iter().map(|(key, value)| format!("{}:{}", key.shown(), value.shown()));
    format!("map[string]string{{{}}}", labels.collect::<Vec<_>>().join(", "))
}
