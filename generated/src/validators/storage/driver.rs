//! CSI drivers: names, lifecycle modes, token requests, and what an update can change.

use std::collections::HashSet;

use orch_runtime::{
    field_error::{FieldError, Order, Validation, json},
    path::Path,
    rule,
};

use crate::{
    storage::v1::{CSIDriver, CSIDriverSpec, TokenRequest},
    validators::{token::token_life, volume_source::csi_driver_name},
};

/// The name comes first, which this module checks after all else.
const ORDER: &[Order] = &[Order::with("metadata", &[Order::of("name"), Order::of("*")]), Order::of("*")];

const LIFECYCLE_MODES: &[&str] = &["Persistent", "Ephemeral"];

/// The name of the object is the name of the driver.
pub fn csi_driver(value: &CSIDriver, path: &Path<'_>, cx: &mut Validation<'_>) {
    // A missing name is reported by the rules for metadata.
    if !value.metadata.name.is_empty() {
        csi_driver_name(&value.metadata.name, &path.field("metadata").field("name"), cx);
    }
    cx.arrange(path, ORDER);
}

/// Lifecycle modes are known. Errors are reported at the list, without the index.
pub fn csi_driver_spec(value: &CSIDriverSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let modes = path.field("volumeLifecycleModes");
    for mode in value.volume_lifecycle_modes.iter().filter(|mode| !LIFECYCLE_MODES.contains(&mode.as_str())) {
        cx.push(FieldError::not_supported(&modes, mode, LIFECYCLE_MODES));
    }
}

/// `attachRequired` and the lifecycle modes do not change. Errors spell the first field `attachedRequired`.
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

/// Audiences are unique, and the lifetimes of tokens are in range.
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
