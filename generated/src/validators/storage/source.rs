//! Sources of persistent volumes.
//!
//! The schema says which fields are required. The rules here are about the format of values, and about fields
//! that belong together.

mod network;

pub use self::network::{
    fc_source, flex_persistent_source, flocker_source, glusterfs_persistent_source, iscsi_persistent_source,
    nfs_source, quobyte_source,
};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Order, Validation},
    path::Path,
};

use crate::{
    core::v1::{
        AzureDiskVolumeSource, AzureFilePersistentVolumeSource, CSIPersistentVolumeSource,
        CinderPersistentVolumeSource, HostPathVolumeSource, SecretReference, StorageOSPersistentVolumeSource,
    },
    validators::volume_source::{csi_driver_name, path_without_backsteps},
};

const HOST_PATH_TYPES: &[&str] =
    &["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];

/// The prefix and the format of addresses, for managed disks and for disks in blob storage.
const MANAGED_DISK: &str = "/subscriptions/";
const MANAGED_DISK_FORM: &str =
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB_DISK: &str = "https://";
const BLOB_DISK_FORM: &str = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

/// The path has no `..`, and the type is known.
pub fn host_path_source(value: &HostPathVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.path.is_empty() {
        // The type of an empty path is not checked.
        return;
    }
    path_without_backsteps(&value.path, &path.field("path"), cx);
    let kind = value.type_.as_deref().unwrap_or_default();
    if !HOST_PATH_TYPES.contains(&kind) {
        cx.push(FieldError::not_supported(&path.field("type"), kind, HOST_PATH_TYPES));
    }
}

/// The address of the disk fits its kind.
pub fn azure_disk_source(value: &AzureDiskVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.disk_uri.is_empty() {
        return;
    }
    let is_managed = value.kind.as_deref() == Some("Managed");
    let (start, form) =
        if is_managed { (MANAGED_DISK, MANAGED_DISK_FORM) } else { (BLOB_DISK, BLOB_DISK_FORM) };
    if !value.disk_uri.starts_with(start) {
        cx.push(FieldError::not_supported(&path.field("diskURI"), &value.disk_uri, &[form]));
    }
}

/// The namespace, if given, is not empty.
pub fn azure_file_persistent_source(
    value: &AzureFilePersistentVolumeSource,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if value.secret_namespace.as_deref() == Some("") {
        cx.push(FieldError::required(&path.field("secretNamespace"), ""));
    }
}

/// The reference to the secret, if given, is complete.
pub fn cinder_persistent_source(
    value: &CinderPersistentVolumeSource,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    secret_reference(value.secret_ref.as_ref(), &path.field("secretRef"), cx);
}

/// Names are DNS labels, and the reference to the secret is complete.
pub fn storageos_persistent_source(
    value: &StorageOSPersistentVolumeSource,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    for (field, name) in [("volumeName", &value.volume_name), ("volumeNamespace", &value.volume_namespace)] {
        if !name.is_empty() {
            cx.invalid_all(&path.field(field), name, &constraint::dns_label(name));
        }
    }
    if let Some(secret) = &value.secret_ref {
        name_and_namespace(&secret.name, &secret.namespace, &path.field("secretRef"), cx);
    }
}

/// The driver name is valid, and references to secrets are complete. `nodeStageSecretRef` is not checked.
pub fn csi_persistent_source(value: &CSIPersistentVolumeSource, path: &Path<'_>, cx: &mut Validation<'_>) {
    csi_driver_name(&value.driver, &path.field("driver"), cx);
    cx.arrange(path, &[Order::of("driver"), Order::of("volumeHandle")]);
    for (field, secret) in [
        ("controllerPublishSecretRef", &value.controller_publish_secret_ref),
        ("controllerExpandSecretRef", &value.controller_expand_secret_ref),
        ("nodePublishSecretRef", &value.node_publish_secret_ref),
        ("nodeExpandSecretRef", &value.node_expand_secret_ref),
    ] {
        let Some(secret) = secret else { continue };
        let at = path.field(field);
        name_and_namespace(&secret.name, &secret.namespace, &at, cx);
        if !secret.name.is_empty() {
            cx.invalid_all(&at.field("name"), &secret.name, &constraint::dns_subdomain(&secret.name));
        }
        if !secret.namespace.is_empty() {
            let faults = constraint::dns_label(&secret.namespace);
            cx.invalid_all(&at.field("namespace"), &secret.namespace, &faults);
        }
        cx.arrange(&at, &[Order::of("name"), Order::of("namespace")]);
    }
}

fn secret_reference(secret: Option<&SecretReference>, path: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(secret) = secret {
        name_and_namespace(&secret.name, &secret.namespace, path, cx);
    }
}

fn name_and_namespace(name: &str, namespace: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    for (field, text) in [("name", name), ("namespace", namespace)] {
        if text.is_empty() {
            cx.push(FieldError::required(&path.field(field), ""));
        }
    }
}
