//! Containers: mounts, and rules that depend on the role of the container in the pod.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
    rule,
};

use super::resources::container_resources;
use crate::core::v1::{Container, EphemeralContainer, SecurityContext, Volume, VolumeDevice, VolumeMount};

/// The volumes of a pod by name.
pub(super) type Volumes<'v> = BTreeMap<&'v str, &'v Volume>;

const NOT_EPHEMERAL: &str = "cannot be set for an Ephemeral Container";

/// An image name has no whitespace around it.
pub(super) fn image(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.trim() != value {
        let detail = "must not have leading or trailing whitespace";
        cx.push(FieldError::invalid(path, value, detail));
    }
}

/// A container in `containers` or `initContainers`. Errors about resize policies are reported at the list.
pub(super) fn container(value: &Container, volumes: &Volumes<'_>, path: &Path<'_>, cx: &mut Validation<'_>) {
    mounts(&value.volume_mounts, &value.volume_devices, volumes, value.security_context.as_ref(), path, cx);
    container_resources(&value.resources, &path.field("resources"), cx);
    if !value.resize_policy.is_empty() {
        let at = path.field("resizePolicy");
        for field in ["resourceName", "restartPolicy"] {
            cx.relocate_from_items(&at, field, &at);
        }
    }
}

/// A container in `ephemeralContainers`, which mounts no part of a volume.
pub(super) fn ephemeral_container(
    value: &EphemeralContainer,
    volumes: &Volumes<'_>,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    mounts(&value.volume_mounts, &value.volume_devices, volumes, value.security_context.as_ref(), path, cx);
    let mounts = path.field("volumeMounts");
    for (index, mount) in value.volume_mounts.iter().enumerate() {
        for (field, part) in [("subPath", &mount.sub_path), ("subPathExpr", &mount.sub_path_expr)] {
            if !part.is_empty() {
                cx.push(FieldError::forbidden(&mounts.index(index).field(field), NOT_EPHEMERAL));
            }
        }
    }
}

fn mounts(
    mounts: &[VolumeMount],
    devices: &[VolumeDevice],
    volumes: &Volumes<'_>,
    security: Option<&SecurityContext>,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let is_privileged = security.is_some_and(|security| security.privileged == Some(true));
    let list = path.field("volumeMounts");
    if !mounts.is_empty() {
        // These errors are reported at the list, without the index.
        for field in ["mountPropagation", "recursiveReadOnly"] {
            cx.relocate_from_items(&list, field, &list.field(field));
        }
    }
    let mut paths = BTreeSet::new();
    let device_names: HashSet<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    let device_paths: HashSet<&str> = devices.iter().map(|device| device.device_path.as_str()).collect();
    for (index, mount) in mounts.iter().enumerate() {
        let at = list.index(index);
        known_volume(&mount.name, volumes, &at, cx);
        unique_path(&mount.mount_path, &mut paths, &at.field("mountPath"), cx);
        let other = (device_names.contains(&*mount.name), device_paths.contains(&*mount.mount_path));
        conflicts(other, (&mount.name, &mount.mount_path), ("mountPath", "volumeDevices"), &at, cx);
        sub_paths(mount, &list, &at, cx);
        propagation(mount, is_privileged, &list, cx);
    }
    block_devices(devices, mounts, volumes, &path.field("volumeDevices"), cx);
}

fn block_devices(
    devices: &[VolumeDevice],
    mounts: &[VolumeMount],
    volumes: &Volumes<'_>,
    list: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    let mount_names: HashSet<&str> = mounts.iter().map(|mount| mount.name.as_str()).collect();
    let mount_paths: HashSet<&str> = mounts.iter().map(|mount| mount.mount_path.as_str()).collect();
    for (index, device) in devices.iter().enumerate() {
        let at = list.index(index);
        let name = at.field("name");
        if device.name.is_empty() {
            cx.push(FieldError::required(&name, ""));
        } else if !names.insert(&device.name) {
            cx.push(FieldError::invalid(&name, &device.name, "must be unique"));
        }
        let is_claim =
            |volume: &Volume| volume.persistent_volume_claim.is_some() || volume.ephemeral.is_some();
        match volumes.get(device.name.as_str()) {
            None => cx.push(FieldError::not_found(&name, &device.name)),
            Some(volume) if !is_claim(volume) => {
                let detail =
                    "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                cx.push(FieldError::invalid(&name, &device.name, detail));
            }
            Some(_) => {}
        }
        unique_path(&device.device_path, &mut paths, &at.field("devicePath"), cx);
        if device.device_path.split('/').any(|part| part == "..") {
            let detail = "can not contain backsteps ('..')";
            cx.push(FieldError::invalid(&at.field("devicePath"), &device.device_path, detail));
        }
        let other = (mount_names.contains(&*device.name), mount_paths.contains(&*device.device_path));
        conflicts(other, (&device.name, &device.device_path), ("devicePath", "volumeMounts"), &at, cx);
    }
}

/// A volume is either mounted or used as a device, and each path is used once.
fn conflicts(
    (same_name, same_path): (bool, bool),
    (name, file): (&str, &str),
    (field, others): (&str, &str),
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if same_name {
        let detail = format!("must not already exist in {others}");
        cx.push(FieldError::invalid(&path.field("name"), name, &detail));
    }
    if same_path {
        let detail = format!("must not already exist as a path in {others}");
        cx.push(FieldError::invalid(&path.field(field), file, &detail));
    }
}

/// The volume exists.
fn known_volume(name: &str, volumes: &Volumes<'_>, path: &Path<'_>, cx: &mut Validation<'_>) {
    if name.is_empty() {
        cx.push(FieldError::required(&path.field("name"), ""));
    }
    if !volumes.contains_key(name) {
        cx.push(FieldError::not_found(&path.field("name"), name));
    }
}

/// A path is given, and is unique in its list.
fn unique_path<'v>(value: &'v str, seen: &mut BTreeSet<&'v str>, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.is_empty() {
        cx.push(FieldError::required(path, ""));
    } else if !seen.insert(value) {
        cx.push(FieldError::invalid(path, value, "must be unique"));
    }
}

fn sub_paths(mount: &VolumeMount, list: &Path<'_>, path: &Path<'_>, cx: &mut Validation<'_>) {
    rule::format(&mount.sub_path, constraint::relative_path, &list.field("subPath"), cx);
    if !mount.sub_path.is_empty() && !mount.sub_path_expr.is_empty() {
        let detail = "subPathExpr and subPath are mutually exclusive";
        cx.push(FieldError::invalid(&path.field("subPathExpr"), &mount.sub_path_expr, detail));
    }
    rule::format(&mount.sub_path_expr, constraint::relative_path, &list.field("subPathExpr"), cx);
}

fn propagation(mount: &VolumeMount, is_privileged: bool, path: &Path<'_>, cx: &mut Validation<'_>) {
    let propagation = mount.mount_propagation.as_deref();
    if propagation == Some("Bidirectional") && !is_privileged {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        cx.push(FieldError::forbidden(&path.field("mountPropagation"), detail));
    }
    if !matches!(mount.recursive_read_only.as_deref(), Some("Enabled" | "IfPossible")) {
        return;
    }
    let at = path.field("recursiveReadOnly");
    if !mount.read_only {
        cx.push(FieldError::forbidden(&at, "may only be specified when readOnly is true"));
    }
    if propagation.is_some_and(|propagation| propagation != "None") {
        let detail = "may only be specified when mountPropagation is None or not specified";
        cx.push(FieldError::forbidden(&at, detail));
    }
}
