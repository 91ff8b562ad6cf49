//! Scheduling: pod affinity and topology spread.

use std::collections::{BTreeSet, HashMap};

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::{
    core::v1::{PodAffinityTerm, TopologySpreadConstraint},
    meta::v1::LabelSelector,
};

/// No key is in both lists of label keys.
pub fn pod_affinity_term(value: &PodAffinityTerm, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mismatch: BTreeSet<&String> = value.mismatch_label_keys.iter().collect();
    for (index, key) in value.match_label_keys.iter().enumerate() {
        if mismatch.contains(key) {
            let at = path.field("matchLabelKeys");
            let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
            cx.push(FieldError::invalid(&at.index(index), key, detail));
        }
    }
}

/// No label key is in the selector too.
pub fn topology_spread(value: &TopologySpreadConstraint, path: &Path<'_>, cx: &mut Validation<'_>) {
    let keys = path.field("matchLabelKeys");
    let mentioned = value.label_selector.as_ref().map(mentioned_keys).unwrap_or_default();
    for (index, key) in value.match_label_keys.iter().enumerate() {
        if mentioned.contains(key.as_str()) {
            let detail = "exists in both matchLabelKeys and labelSelector";
            cx.push(FieldError::invalid(&keys.index(index), key, detail));
        }
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
