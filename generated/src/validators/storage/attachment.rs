//! Volume attachments: the volume, the driver, and the node.

use std::collections::BTreeMap;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::storage::v1::VolumeAttachmentSource;

/// The limit for all keys and values of the metadata of an attachment, in bytes.
const MAX_METADATA_BYTES: usize = 256 * 1024;

/// Exactly one of the name of a volume and an inline volume is given.
pub fn volume_attachment_source(value: &VolumeAttachmentSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    const ONE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (value.persistent_volume_name.as_deref(), &value.inline_volume_spec) {
        (None, None) => cx.push(FieldError::required(path, ONE)),
        (Some(_), Some(_)) => {
            cx.retract(path);
            cx.push(FieldError::forbidden(path, ONE));
        }
        (Some(name), None) => {
            let at = path.field("persistentVolumeName");
            if name.is_empty() {
                cx.push(FieldError::required(&at, "must specify non empty persistentVolumeName"));
            } else {
                cx.invalid_all(&at, name, &constraint::dns_subdomain(name));
            }
        }
        (None, Some(_)) => {}
    }
}

/// Keys are not empty, and the total size is limited.
pub fn attachment_metadata(value: &BTreeMap<String, String>, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.contains_key("") {
        cx.push(FieldError::invalid(path, "", "field can not be empty."));
    }
    if value.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() > MAX_METADATA_BYTES {
        cx.push(FieldError::too_long(path, MAX_METADATA_BYTES));
    }
}
