//! CSI drivers: their names, life cycles and token requests, and what stays.

use std::collections::HashSet;

use orch_runtime::{
    field_error::{FieldError, Validation, json},
    path::Path,
    rule,
};

use super::driver_name;
use crate::{
    storage::v1::{CSIDriver, CSIDriverSpec, TokenRequest},
    validators::token::token_life,
};

const LIFECYCLE_MODES: &[&str] = &["Persistent", "Ephemeral"];

/// The object's name is the driver's, which has a rule of its own.
pub fn csi_driver(value: &CSIDriver, path: &Path<'_>, cx: &mut Validation<'_>) {
    // That an object has a name at all is said elsewhere.
    if !value.metadata.name.is_empty() {
        driver_name(&value.metadata.name, &path.field("metadata").field("name"), cx);
    }
}

/// Life cycle modes are known ones; each unknown one is reported at the list, where clients expect it.
pub fn csi_driver_spec(value: &CSIDriverSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let modes = path.field("volumeLifecycleModes");
    for mode in value.volume_lifecycle_modes.iter().filter(|mode| !LIFECYCLE_MODES.contains(&mode.as_str())) {
        cx.push(FieldError::not_supported(&modes, mode, LIFECYCLE_MODES));
    }
}

/// Whether volumes are attached, and how they live, stays. The first path's odd spelling is what clients know.
pub fn csi_driver_spec_update(
    new: &CSIDriverSpec,
    old: &CSIDriverSpec,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    rule::immutable(&new.attach_required, &old.attach_required, &path.field("attachedRequired"), cx);
    let modes = (&new.volume_lifecycle_modes, &old.volume_lifecycle_modes);
    rule::immutable_shown(modes.0 != modes.1, || json(modes.0), &path.field("volumeLifecycleModes"), cx);
}

/// No audience occurs twice, and no token lives too short or too long.
pub fn csi_driver_token_requests(value: &[TokenRequest], path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut audiences = HashSet::new();
    for (index, request) in value.iter().enumerate() {
        let at = path.index(index);
        if !audiences.insert(&request.audience) {
            cx.push(FieldError::duplicate(&at.field("audience"), &request.audience));
            continue;
        }
        if let Some(seconds) = request.expiration_seconds {
            token_life(seconds, &at.field("expirationSeconds"), cx);
        }
    }
}
