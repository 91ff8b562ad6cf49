//! Claims: requests, data sources, and what an update can change.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
    rule,
};

use super::{capacity::basic_quantity, volume::STORAGE};
use crate::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimPhase, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus,
};
use crate::validators::fractional_bytes::warn_of_fractional_bytes;

/// Warns of fractional bytes.
pub fn persistent_volume_claim(value: &PersistentVolumeClaim, path: &Path<'_>, cx: &mut Validation<'_>) {
    warn_of_claim_spec(&value.spec, &path.field("spec"), cx);
}

/// Warns of fractional bytes.
pub(in crate::validators) fn warn_of_claim_spec(
    value: &PersistentVolumeClaimSpec,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let resources = path.field("resources");
    for (list, amounts) in [("requests", &value.resources.requests), ("limits", &value.resources.limits)] {
        if let Some(amount) = amounts.get(STORAGE) {
            warn_of_fractional_bytes(amount, &resources.field(list).key(STORAGE), cx);
        }
    }
}

/// The spec does not change, with these exceptions: the volume and the class can be set once; a bound claim
/// can change its requested size and its attributes class.
pub fn persistent_volume_claim_update(
    new: &PersistentVolumeClaim,
    old: &PersistentVolumeClaim,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let mut same = old.spec.clone();
    if same.volume_name.is_empty() {
        same.volume_name.clone_from(&new.spec.volume_name);
    }
    if same.storage_class_name.is_none() {
        same.storage_class_name.clone_from(&new.spec.storage_class_name);
    }
    let key = format!("volume.beta.{}/storage-class", cx.vocabulary.label_domain);
    let class = |claim: &PersistentVolumeClaim| claim.metadata.annotations.get(&key).cloned();
    let (new_class, old_class) = (class(new), class(old));
    // The class can move from the annotation to the field.
    let takes_over = old.spec.storage_class_name.is_none()
        && old_class.is_some()
        && new.spec.storage_class_name == old_class
        && (new_class.is_none() || new_class == old_class);
    if !takes_over {
        let metadata = path.field("metadata");
        let annotations = metadata.field("annotations");
        let (new_class, old_class) = (new_class.unwrap_or_default(), old_class.unwrap_or_default());
        rule::immutable(&new_class, &old_class, &annotations.field(&key), cx);
    }
    let is_bound = new.status.phase == Some(PersistentVolumeClaimPhase::Bound);
    if is_bound && let Some(amount) = new.spec.resources.requests.get(STORAGE) {
        same.resources.requests.insert(STORAGE.to_owned(), amount.clone());
    }
    if is_bound && new.spec.volume_attributes_class_name.is_some() {
        same.volume_attributes_class_name.clone_from(&new.spec.volume_attributes_class_name);
    }
    let spec = path.field("spec");
    if same != new.spec {
        let detail = "spec is immutable after creation except resources.requests and \
                      volumeAttributesClassName for bound claims";
        cx.push(FieldError::forbidden(&spec, detail));
    }
    let amount = |claim: &PersistentVolumeClaim| claim.spec.resources.requests.get(STORAGE).cloned();
    let size = old.status.capacity.get(STORAGE);
    if let (Some(new), Some(old), Some(size)) = (amount(new), amount(old), size)
        && new < old
        && new <= *size
    {
        let resources = spec.field("resources");
        let requests = resources.field("requests");
        let detail = "field can not be less than status.capacity";
        cx.push(FieldError::forbidden(&requests.field(STORAGE), detail));
    }
    rule::immutable(&new.spec.volume_mode, &old.spec.volume_mode, &path.field("volumeMode"), cx);
}

/// Quantities are valid, and resize states are known and only about storage.
pub fn persistent_volume_claim_status(
    value: &PersistentVolumeClaimStatus,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    const RESIZING: &[&str] = &[
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
        "NodeResizePending",
    ];
    let capacity = path.field("capacity");
    for (resource, amount) in &value.capacity {
        basic_quantity(amount, &capacity.key(resource), cx);
    }
    // The path of these errors is `allocatedResourceStatus`, though the field is `allocatedResourceStatuses`.
    let at = path.field("allocatedResourceStatus");
    for (resource, status) in &value.allocated_resource_statuses {
        claim_resource(resource, &at, cx);
        if !RESIZING.contains(&status.as_str()) {
            cx.push(FieldError::not_supported(&at, resource, RESIZING));
        }
    }
    let at = path.field("allocatedResources");
    for (resource, amount) in &value.allocated_resources {
        if claim_resource(resource, &at, cx) {
            basic_quantity(amount, &at.key(resource), cx);
        }
    }
}

/// Claims have storage, and resources with a prefix outside the product. Returns whether the name is valid.
fn claim_resource(resource: &str, path: &Path<'_>, cx: &mut Validation<'_>) -> bool {
    let faults = constraint::qualified_name(resource);
    cx.invalid_all(path, resource, &faults);
    let own = format!("{}/", cx.vocabulary.label_domain);
    let is_own = !resource.contains('/') || resource.contains(&own);
    if faults.is_empty() && is_own && resource != STORAGE {
        cx.push(FieldError::not_supported(path, resource, &[STORAGE]));
        return false;
    }
    faults.is_empty()
}
