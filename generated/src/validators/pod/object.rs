//! Pods as objects: rules that templates do not have, and what an update can change.

use std::collections::BTreeSet;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation, json},
    object::Validate,
    path::Path,
};

use super::{
    annotations::{annotations, annotations_update, matching_profiles},
    container::image,
    status::pod_status_update,
    warnings,
};
use crate::core::v1::{Affinity, Container, Pod, PodSpec, Toleration};

/// The error for a change that is not allowed in a pod.
pub const POD_MAY_CHANGE: &str = "pod updates may not change fields other than \
    `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Known annotations have valid values.
pub fn pod_annotations(value: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    let metadata = path.field("metadata");
    annotations(&value.metadata.annotations, &value.spec, &metadata.field("annotations"), cx);
}

/// Rules that templates do not have. Also warns of likely mistakes.
pub fn pod(value: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    warnings::warn(&value.spec, &value.metadata.annotations, false, path, cx);
    let spec = path.field("spec");
    let volumes = spec.field("volumes");
    claims_of_ephemeral_volumes(value, &volumes, cx);
    images(&value.spec, &spec, cx);
    matching_profiles(&value.metadata.annotations, &value.spec, &spec, cx);
}

/// Image names have no whitespace around them; templates may have it.
fn images(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    for (list, containers) in [("containers", &value.containers), ("initContainers", &value.init_containers)]
    {
        let at = path.field(list);
        for (index, container) in containers.iter().enumerate() {
            image(&container.image, &at.index(index).field("image"), cx);
        }
    }
    let at = path.field("ephemeralContainers");
    for (index, container) in value.ephemeral_containers.iter().enumerate() {
        image(&container.image, &at.index(index).field("image"), cx);
    }
}

/// The names of claims that are made for ephemeral volumes are valid, and no other volume refers to such a
/// claim.
fn claims_of_ephemeral_volumes(value: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.metadata.name.is_empty() {
        return;
    }
    let made = value.spec.volumes.iter().filter(|volume| volume.ephemeral.is_some());
    let made: BTreeSet<&str> = made.map(|volume| volume.name.as_str()).collect();
    let is_made = |claim: &str| {
        let volume = claim.strip_prefix(&value.metadata.name).and_then(|rest| rest.strip_prefix('-'));
        volume.is_some_and(|volume| made.contains(volume))
    };
    for (index, volume) in value.spec.volumes.iter().enumerate() {
        let at = path.index(index);
        // Where the name of the pod is very long, its errors are many bytes.
        if volume.ephemeral.is_some() && !volume.name.is_empty() && !cx.is_full() {
            let claim = format!("{}-{}", value.metadata.name, volume.name);
            for fault in constraint::dns_subdomain(&claim) {
                let detail = format!("PVC name {claim:?}: {fault}");
                cx.push(FieldError::invalid(&at.field("name"), &volume.name, &detail));
            }
        }
        let used = volume.persistent_volume_claim.as_ref().map(|source| &source.claim_name);
        if let Some(used) = used.filter(|used| is_made(used)) {
            let source = at.field("persistentVolumeClaim");
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            cx.push(FieldError::invalid(&source.field("claimName"), used, detail));
        }
    }
}

/// Only some fields of a pod can change: images, the deadline (to an earlier one), tolerations (additions),
/// and the scheduling of a pod that still has scheduling gates.
pub fn pod_update(new: &Pod, old: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    let metadata = path.field("metadata");
    let at = metadata.field("annotations");
    annotations_update(&new.metadata.annotations, &old.metadata.annotations, &at, cx);
    if new.status != old.status {
        pod_status_update(new, old, path, cx);
    }
    annotations(&new.metadata.annotations, &new.spec, &at, cx);
    let (new, old) = (&new.spec, &old.spec);
    let spec = path.field("spec");
    for (field, new, old) in [
        ("containers", &new.containers, &old.containers),
        ("initContainers", &new.init_containers, &old.init_containers),
    ] {
        let at = spec.field(field);
        if new.len() != old.len() {
            return cx.push(FieldError::forbidden(&at, "pod updates may not add or remove containers"));
        }
        // An update reports errors of images a second time.
        for (index, container) in new.iter().enumerate() {
            let container_at = at.index(index);
            if container.image.is_empty() {
                cx.push(FieldError::required(&container_at.field("image"), ""));
            }
            image(&container.image, &container_at.field("image"), cx);
        }
    }
    let at = spec.field("activeDeadlineSeconds");
    if !deadline_update(new.active_deadline_seconds, old.active_deadline_seconds, &at, cx) {
        return;
    }
    tolerations_update(&new.tolerations, &old.tolerations, &spec.field("tolerations"), cx);
    scheduling_gates_update(new, old, &spec.field("schedulingGates"), cx);
    let mut same = with_old_mutable_fields(new, old);
    if !old.scheduling_gates.is_empty() {
        narrower_scheduling(new, old, &spec, cx);
        same.node_selector.clone_from(&old.node_selector);
        let affinity = |spec: &PodSpec| spec.affinity.as_ref().and_then(|it| it.node_affinity.clone());
        match (&mut same.affinity, affinity(old)) {
            (Some(new), kept) => new.node_affinity = kept,
            (None, None) => {}
            (new @ None, kept) => {
                *new = Some(Affinity { node_affinity: kept, ..Affinity::default() });
            }
        }
        if old.affinity.is_none() && same.affinity == Some(Affinity::default()) {
            same.affinity = None;
        }
    }
    if same != *old {
        cx.push(FieldError::forbidden(&spec, POD_MAY_CHANGE));
    }
}

/// The node selection of a pod with scheduling gates can only become narrower.
fn narrower_scheduling(new: &PodSpec, old: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    if old.node_selector.iter().any(|(key, value)| new.node_selector.get(key) != Some(value)) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        let shown = Rendered(json(&new.node_selector));
        cx.push(FieldError::invalid(&path.field("nodeSelector"), &shown, detail));
    }
    let terms = |spec: &PodSpec| {
        let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
        let required =
            affinity.and_then(|it| it.required_during_scheduling_ignored_during_execution.as_ref());
        required.map(|selector| selector.node_selector_terms.clone()).unwrap_or_default()
    };
    let (new, old) = (terms(new), terms(old));
    let affinity = path.field("affinity");
    let node = affinity.field("nodeAffinity");
    let required = node.field("requiredDuringSchedulingIgnoredDuringExecution");
    let at = required.field("nodeSelectorTerms");
    if !old.is_empty() && new.len() != old.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        return cx.push(FieldError::invalid(&at, &Rendered(json(&new)), detail));
    }
    for (index, (new, old)) in new.iter().zip(&old).enumerate() {
        let was_empty = old.match_expressions.is_empty() && old.match_fields.is_empty();
        let keeps = new.match_expressions.starts_with(&old.match_expressions)
            && new.match_fields.starts_with(&old.match_fields);
        if !keeps || (was_empty && new != old) {
            let detail = "only additions are allowed (no mutations or deletions)";
            cx.push(FieldError::invalid(&at.index(index), &Rendered(json(new)), detail));
        }
    }
}

/// Checks a change of the deadline. Returns whether the checks after this one are needed.
fn deadline_update(new: Option<i64>, old: Option<i64>, path: &Path<'_>, cx: &mut Validation<'_>) -> bool {
    let (shown, detail, goes_on) = match (new, old) {
        (Some(new), _) if !(0..=i64::from(i32::MAX)).contains(&new) => {
            (Some(new), "must be between 0 and 2147483647, inclusive", false)
        }
        (Some(new), Some(old)) if new > old => {
            (Some(new), "must be less than or equal to previous value", false)
        }
        (None, Some(_)) => (None, "must not update from a positive integer to nil value", true),
        _ => return true,
    };
    cx.push(FieldError::invalid(path, &shown, detail));
    goes_on
}

/// Existing tolerations stay; only their seconds can change.
fn tolerations_update(new: &[Toleration], old: &[Toleration], path: &Path<'_>, cx: &mut Validation<'_>) {
    let without_seconds = |toleration: &Toleration| {
        let Toleration { key, operator, value, effect, toleration_seconds: _ } = toleration.clone();
        [key, operator, value, effect]
    };
    let left: BTreeSet<[String; 4]> = new.iter().map(without_seconds).collect();
    if !old.iter().all(|toleration| left.contains(&without_seconds(toleration))) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        return cx.push(FieldError::forbidden(path, detail));
    }
    for (index, added) in new.iter().enumerate() {
        added.validate(&path.index(index), cx);
    }
}

fn scheduling_gates_update(new: &PodSpec, old: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let known: BTreeSet<&str> = old.scheduling_gates.iter().map(|gate| gate.name.as_str()).collect();
    let gates = new.scheduling_gates.iter().enumerate();
    for (index, gate) in gates.filter(|(_, gate)| !known.contains(gate.name.as_str())) {
        let detail = format!("only deletion is allowed, but found new scheduling gate '{}'", gate.name);
        cx.push(FieldError::forbidden(&path.index(index).field("name"), &detail));
    }
}

/// The new pod with the old values of all fields that can change.
fn with_old_mutable_fields(new: &PodSpec, old: &PodSpec) -> PodSpec {
    let was_negative = old.termination_grace_period_seconds.is_some_and(|seconds| seconds < 0);
    let corrects_grace_period = was_negative && new.termination_grace_period_seconds == Some(1);
    PodSpec {
        containers: with_images(&new.containers, &old.containers),
        init_containers: with_images(&new.init_containers, &old.init_containers),
        ephemeral_containers: old.ephemeral_containers.clone(),
        active_deadline_seconds: old.active_deadline_seconds,
        tolerations: old.tolerations.clone(),
        scheduling_gates: old.scheduling_gates.clone(),
        termination_grace_period_seconds: if corrects_grace_period {
            old.termination_grace_period_seconds
        } else {
            new.termination_grace_period_seconds
        },
        ..new.clone()
    }
}

/// The new containers with the old images.
fn with_images(new: &[Container], old: &[Container]) -> Vec<Container> {
    new.iter().zip(old).map(|(new, old)| Container { image: old.image.clone(), ..new.clone() }).collect()
}
