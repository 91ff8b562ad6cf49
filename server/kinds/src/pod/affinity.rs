//! Affinity of a new pod: keys of its own labels become requirements with the values that it has.

use std::collections::BTreeMap;

use orch_api::{
    core::v1::{Pod, PodAffinityTerm, WeightedPodAffinityTerm},
    meta::v1::{LabelSelector, LabelSelectorRequirement},
};

/// Longer values are not copied: no label may have one, so the pod is refused. A body may name one key many
/// times, and each time the value is copied.
const MAX_VALUE_BYTES: usize = 256;

/// Adds a requirement to the selector of a term for each key of `matchLabelKeys` and `mismatchLabelKeys` that
/// the pod has as a label.
pub(super) fn complete(pod: &mut Pod) {
    let labels = &pod.metadata.labels;
    let Some(affinity) = &mut pod.spec.affinity else { return };
    if let Some(near) = &mut affinity.pod_affinity {
        of_terms(&mut near.required_during_scheduling_ignored_during_execution, labels);
        of_weighted(&mut near.preferred_during_scheduling_ignored_during_execution, labels);
    }
    if let Some(apart) = &mut affinity.pod_anti_affinity {
        of_terms(&mut apart.required_during_scheduling_ignored_during_execution, labels);
        of_weighted(&mut apart.preferred_during_scheduling_ignored_during_execution, labels);
    }
}

/// Whether a term names keys of labels.
pub(super) fn adds_items(pod: &Pod) -> bool {
    let Some(affinity) = &pod.spec.affinity else { return false };
    let near = affinity.pod_affinity.as_ref().is_some_and(|near| {
        let preferred = &near.preferred_during_scheduling_ignored_during_execution;
        name_keys(&near.required_during_scheduling_ignored_during_execution, preferred)
    });
    let apart = affinity.pod_anti_affinity.as_ref().is_some_and(|apart| {
        let preferred = &apart.preferred_during_scheduling_ignored_during_execution;
        name_keys(&apart.required_during_scheduling_ignored_during_execution, preferred)
    });
    near || apart
}

fn name_keys(required: &[PodAffinityTerm], preferred: &[WeightedPodAffinityTerm]) -> bool {
    let mut terms = required.iter().chain(preferred.iter().map(|it| &it.pod_affinity_term));
    terms.any(|term| !term.match_label_keys.is_empty() || !term.mismatch_label_keys.is_empty())
}

fn of_weighted(terms: &mut [WeightedPodAffinityTerm], labels: &BTreeMap<String, String>) {
    for term in terms {
        of_terms(std::slice::from_mut(&mut term.pod_affinity_term), labels);
    }
}

fn of_terms(terms: &mut [PodAffinityTerm], labels: &BTreeMap<String, String>) {
    for term in terms {
        let Some(selector) = &mut term.label_selector else { continue };
        require(selector, &term.match_label_keys, "In", labels);
        require(selector, &term.mismatch_label_keys, "NotIn", labels);
    }
}

fn require(selector: &mut LabelSelector, keys: &[String], operator: &str, labels: &BTreeMap<String, String>) {
    for key in keys {
        let value = labels.get(key).filter(|value| value.len() <= MAX_VALUE_BYTES);
        let Some(value) = value else { continue };
        selector.match_expressions.push(LabelSelectorRequirement {
            key: key.clone(),
            operator: operator.to_owned(),
            values: vec![value.clone()],
        });
    }
}
