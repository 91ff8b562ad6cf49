//! Pods as objects of their own: what templates may say and pods may not, and what never changes.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use super::doubts;
use crate::core::v1::{Container, Pod, PodSpec, Toleration};

/// What may change in a running pod, for people.
const MAY_CHANGE: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
    `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
    tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// An image is named at last, and a token needs an account that it is for; what is accepted may be doubtful.
pub fn pod(value: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    doubts::warn(&value.spec, &value.metadata.annotations, false, path, cx);
    let spec = path.field("spec");
    let volumes = spec.field("volumes");
    for (index, volume) in value.spec.volumes.iter().enumerate() {
        if volume.image.as_ref().is_some_and(|image| image.reference.is_empty()) {
            let volume = volumes.index(index);
            cx.push(FieldError::required(&volume.field("image").field("reference"), ""));
        }
    }
    if !value.spec.service_account_name.is_empty() {
        return;
    }
    for (index, volume) in value.spec.volumes.iter().enumerate() {
        let sources = volume.projected.iter().flat_map(|projected| projected.sources.iter().flatten());
        for (source, _) in sources.enumerate().filter(|(_, source)| source.service_account_token.is_some()) {
            let volume = volumes.index(index);
            let projected = volume.field("projected");
            let sources = projected.field("sources");
            let at = sources.index(source);
            let detail = "must not be specified when serviceAccountName is not set";
            cx.push(FieldError::forbidden(&at.field("serviceAccountToken"), detail));
        }
    }
}

/// A pod keeps what it is, but for images, a deadline that comes closer, and more tolerations.
pub fn pod_update(new: &Pod, old: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (new, old) = (&new.spec, &old.spec);
    let spec = path.field("spec");
    if counts(new) != counts(old) {
        for (field, is_changed) in [
            ("containers", counts(new).0 != counts(old).0),
            ("initContainers", counts(new).1 != counts(old).1),
        ] {
            if is_changed {
                let detail = "pod updates may not add or remove containers";
                cx.push(FieldError::forbidden(&spec.field(field), detail));
            }
        }
        return;
    }
    deadline(
        new.active_deadline_seconds,
        old.active_deadline_seconds,
        &spec.field("activeDeadlineSeconds"),
        cx,
    );
    only_added(&new.tolerations, &old.tolerations, &spec.field("tolerations"), cx);
    scheduling_gates(new, old, &spec.field("schedulingGates"), cx);
    if !is_same_besides(new, old) {
        cx.push(FieldError::forbidden(&spec, MAY_CHANGE));
    }
}

fn counts(spec: &PodSpec) -> (usize, usize) {
    (spec.containers.len(), spec.init_containers.len())
}

fn deadline(new: Option<i64>, old: Option<i64>, path: &Path<'_>, cx: &mut Validation<'_>) {
    match (new, old) {
        (Some(new), Some(old)) if new > old => {
            let detail = "must be less than or equal to previous value";
            cx.push(FieldError::invalid(path, &new, detail));
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            cx.push(FieldError::invalid(path, &new, detail));
        }
        _ => {}
    }
}

/// Old tolerations stay, though their time may change.
fn only_added(new: &[Toleration], old: &[Toleration], path: &Path<'_>, cx: &mut Validation<'_>) {
    let timeless = |toleration: &Toleration| Toleration { toleration_seconds: None, ..toleration.clone() };
    let stays = |old: &Toleration| {
        new.iter().any(|new| new == old || (old.effect == "NoExecute" && timeless(new) == timeless(old)))
    };
    if !old.iter().all(stays) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        cx.push(FieldError::forbidden(path, detail));
    }
}

fn scheduling_gates(new: &PodSpec, old: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let added = new.scheduling_gates.iter().filter(|gate| !old.scheduling_gates.contains(gate));
    for gate in added {
        let detail = format!("only deletion is allowed, but found new scheduling gate '{}'", gate.name);
        cx.push(FieldError::forbidden(path, &detail));
    }
}

fn is_same_besides(new: &PodSpec, old: &PodSpec) -> bool {
    let was_negative = old.termination_grace_period_seconds.is_some_and(|seconds| seconds < 0);
    let grace_is_mended = was_negative && new.termination_grace_period_seconds == Some(1);
    let munged = PodSpec {
        containers: with_images(&new.containers, &old.containers),
        init_containers: with_images(&new.init_containers, &old.init_containers),
        ephemeral_containers: old.ephemeral_containers.clone(),
        active_deadline_seconds: old.active_deadline_seconds,
        tolerations: old.tolerations.clone(),
        scheduling_gates: old.scheduling_gates.clone(),
        termination_grace_period_seconds: if grace_is_mended {
            old.termination_grace_period_seconds
        } else {
            new.termination_grace_period_seconds
        },
        ..new.clone()
    };
    munged == *old
}

/// The new containers with the old images.
fn with_images(new: &[Container], old: &[Container]) -> Vec<Container> {
    new.iter().zip(old).map(|(new, old)| Container { image: old.image.clone(), ..new.clone() }).collect()
}
