//! Claims that are made for the volumes of a pod.

use std::collections::BTreeSet;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::Pod;

/// The names of claims that are made for ephemeral volumes are valid, and no other volume refers to such a
/// claim: Rust, because the name of the pod may be long, and errors repeat it.
pub fn claims_of_ephemeral_volumes(value: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    let spec = path.field("spec");
    let path = spec.field("volumes");
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
