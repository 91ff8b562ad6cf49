//! Scheduling: topology spread, and the nodes of a pod that is not scheduled yet.

use std::collections::{HashMap, HashSet};

use orch_runtime::{
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use crate::core::v1::{NodeSelectorTerm, Pod, PodAffinityTerm, PodSpec, TopologySpreadConstraint};

/// No two constraints have the same topology key and the same `whenUnsatisfiable`: Rust, because the last of
/// them is the one that counts.
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

/// The node affinity of a pod with scheduling gates can only become narrower: Rust, because terms are
/// compared by their places.
pub fn narrower_node_affinity(new: &Pod, old: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    if old.spec.scheduling_gates.is_empty() {
        return;
    }
    let (new, old) = (terms(&new.spec), terms(&old.spec));
    let spec = path.field("spec");
    let affinity = spec.field("affinity");
    let node = affinity.field("nodeAffinity");
    let required = node.field("requiredDuringSchedulingIgnoredDuringExecution");
    let at = required.field("nodeSelectorTerms");
    if !old.is_empty() && new.len() != old.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        return cx.push(FieldError::invalid(&at, &Rendered(json(&new)), detail));
    }
    for (index, (new, old)) in new.iter().zip(old).enumerate() {
        let was_empty = old.match_expressions.is_empty() && old.match_fields.is_empty();
        let keeps = new.match_expressions.starts_with(&old.match_expressions)
            && new.match_fields.starts_with(&old.match_fields);
        if !keeps || (was_empty && new != old) {
            let detail = "only additions are allowed (no mutations or deletions)";
            cx.push(FieldError::invalid(&at.index(index), &Rendered(json(new)), detail));
        }
    }
}

/// The terms that a node must match, one of them.
fn terms(spec: &PodSpec) -> &[NodeSelectorTerm] {
    let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let required = affinity.and_then(|it| it.required_during_scheduling_ignored_during_execution.as_ref());
    required.map(|selector| selector.node_selector_terms.as_slice()).unwrap_or_default()
}

/// Labels whose keys a term lists are asked for nothing else: Rust, because a new pod has a requirement for
/// each of these keys already, and only one that follows another on the same label is too much.
pub fn label_keys(value: &PodAffinityTerm, path: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(selector) = &value.label_selector else { return };
    let keys = value.match_label_keys.iter().enumerate();
    let indexes: HashMap<&str, usize> = keys.map(|(index, key)| (key.as_str(), index)).collect();
    if indexes.is_empty() {
        return;
    }
    let mut asked: HashSet<&str> = selector.match_labels.keys().map(String::as_str).collect();
    for requirement in &selector.match_expressions {
        let is_new = asked.insert(&requirement.key);
        if let Some(index) = indexes.get(requirement.key.as_str()).filter(|_| !is_new) {
            let detail = "exists in both matchLabelKeys and labelSelector";
            cx.push(FieldError::invalid(&path.index(*index), &requirement.key, detail));
        }
    }
}
