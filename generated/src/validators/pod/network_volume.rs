//! Network volumes of pods: fields that depend on each other.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use super::volume::named_reference;
use crate::{
    core::v1::{FlexVolumeSource, ISCSIVolumeSource, StorageOSVolumeSource},
    validators::volume_source::option_keys,
};

/// CHAP authentication needs a secret.
pub fn iscsi(value: &ISCSIVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    if (value.chap_auth_discovery || value.chap_auth_session) && value.secret_ref.is_none() {
        cx.push(FieldError::required(&path.field("secretRef"), ""));
    }
}

/// The keys of options are not in the domains of the product.
pub fn flex_volume(value: &FlexVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    option_keys(&value.options, &path.field("options"), cx);
}

/// The reference to the secret has a name.
pub fn storage_os(value: &StorageOSVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    named_reference(value.secret_ref.as_ref(), &path.field("secretRef"), cx);
}
