//! Scheduling: pod affinity and topology spread.

use std::collections::{BTreeSet, HashMap};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::{
    core::v1::{PodAffinityTerm, TopologySpreadConstraint},
    meta::v1::LabelSelector,
    validators::label_selector,
};

/// Selectors, namespaces and the topology key are valid; label keys need a label selector.
pub fn pod_affinity_term(value: &PodAffinityTerm, path: &Path<'_>, cx: &mut Validation<'_>) {
    for (field, selector) in
        [("labelSelector", &value.label_selector), ("namespaceSelector", &value.namespace_selector)]
    {
        if let Some(selector) = selector {
            label_selector(selector, &path.field(field), cx);
        }
    }
    for name in &value.namespaces {
        cx.invalid_all(&path.field("namespace"), name, &constraint::dns_label(name));
    }
    let has_selector = value.label_selector.is_some();
    for (field, keys) in
        [("matchLabelKeys", &value.match_label_keys), ("mismatchLabelKeys", &value.mismatch_label_keys)]
    {
        label_keys(keys, has_selector, &path.field(field), cx);
    }
    let mismatch: BTreeSet<&String> = value.mismatch_label_keys.iter().collect();
    for (index, key) in value.match_label_keys.iter().enumerate() {
        if mismatch.contains(key) {
            let at = path.field("matchLabelKeys");
            let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
            cx.push(FieldError::invalid(&at.index(index), key, detail));
        }
    }
    topology_key(&value.topology_key, path, cx);
    let at = path.field("topologyKey");
    cx.invalid_all(&at, &value.topology_key, &constraint::qualified_name(&value.topology_key));
}

/// Numbers are positive; the selector and label keys are valid.
pub fn topology_spread(value: &TopologySpreadConstraint, path: &Path<'_>, cx: &mut Validation<'_>) {
    const NOT_POSITIVE: &str = "must be greater than zero";
    if value.max_skew <= 0 {
        cx.push(FieldError::invalid(&path.field("maxSkew"), &value.max_skew, NOT_POSITIVE));
    }
    topology_key(&value.topology_key, path, cx);
    if let Some(least) = value.min_domains {
        let at = path.field("minDomains");
        if least <= 0 {
            cx.push(FieldError::invalid(&at, &least, NOT_POSITIVE));
        }
        if value.when_unsatisfiable != "DoNotSchedule" {
            let detail = format!(
                "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                value.when_unsatisfiable
            );
            cx.push(FieldError::invalid(&at, &least, &detail));
        }
    }
    let keys = path.field("matchLabelKeys");
    label_keys(&value.match_label_keys, value.label_selector.is_some(), &keys, cx);
    let mentioned = value.label_selector.as_ref().map(mentioned_keys).unwrap_or_default();
    for (index, key) in value.match_label_keys.iter().enumerate() {
        if mentioned.contains(key.as_str()) {
            let detail = "exists in both matchLabelKeys and labelSelector";
            cx.push(FieldError::invalid(&keys.index(index), key, detail));
        }
    }
    if let Some(selector) = &value.label_selector {
        label_selector(selector, &path.field("labelSelector"), cx);
    }
}

/// No two constraints have the same topology key and the same `whenUnsatisfiable`.
pub(super) fn topology_spreads(value: &[TopologySpreadConstraint], path: &Path<'_>, cx: &mut Validation<'_>) {
    let key = |it: &TopologySpreadConstraint| [it.topology_key.clone(), it.when_unsatisfiable.clone()];
    let last: HashMap<[String; 2], usize> =
        value.iter().enumerate().map(|(index, constraint)| (key(constraint), index)).collect();
    for (index, constraint) in value.iter().enumerate() {
        if last.get(&key(constraint)).is_some_and(|last| index < *last) {
            let shown = format!("{{{}, {}}}", constraint.topology_key, constraint.when_unsatisfiable);
            let at = path.index(index);
            cx.push(FieldError::duplicate(&at.field("{topologyKey, whenUnsatisfiable}"), &shown));
        }
    }
}

/// The keys of all labels that a selector asks for.
fn mentioned_keys(selector: &LabelSelector) -> BTreeSet<&str> {
    let expressions = selector.match_expressions.iter().map(|expression| &expression.key);
    selector.match_labels.keys().chain(expressions).map(String::as_str).collect()
}

fn topology_key(key: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if key.is_empty() {
        cx.push(FieldError::required(&path.field("topologyKey"), "can not be empty"));
    }
}

fn label_keys(keys: &[String], has_selector: bool, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !keys.is_empty() && !has_selector {
        return cx.push(FieldError::forbidden(path, "must not be specified when labelSelector is not set"));
    }
    for (index, key) in keys.iter().enumerate() {
        cx.invalid_all(&path.index(index), key, &constraint::qualified_name(key));
    }
}
