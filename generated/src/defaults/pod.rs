//! Pods: defaults that depend on images, limits and ports, and fields with an old name.

use super::image;
use crate::core::v1::{
    Container, EmptyDirVolumeSource, EphemeralContainer, ImageVolumeSource, Pod, PodSpec, Volume,
};

/// Defaults of pods that templates do not get: limits become requests, and with `hostNetwork` the host port
/// is the container port.
pub fn pod(value: &mut Pod) {
    let spec = &mut value.spec;
    spec.enable_service_links.get_or_insert(true);
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        let resources = &mut container.resources;
        for (name, limit) in &resources.limits {
            resources.requests.entry(name.clone()).or_insert_with(|| limit.clone());
        }
        for port in container.ports.iter_mut().filter(|port| spec.host_network && port.host_port == 0) {
            port.host_port = port.container_port;
        }
    }
}

/// Copies the service account between its two fields, and adds an empty security context. The security
/// context is filled in, not part of every pod, so that field ownership gives it to the creator of the pod.
pub fn pod_spec(value: &mut PodSpec) {
    value.security_context.get_or_insert_default();
    if value.service_account_name.is_empty() {
        value.service_account_name.clone_from(&value.service_account);
    }
    value.service_account.clone_from(&value.service_account_name);
}

/// A volume without a source becomes an `emptyDir`.
pub fn volume(value: &mut Volume) {
    let Volume { name, .. } = value;
    let without_source = Volume { name: std::mem::take(name), ..Volume::default() };
    value.name.clone_from(&without_source.name);
    if *value == without_source {
        value.empty_dir = Some(EmptyDirVolumeSource::default());
    }
}

/// Sets the pull policy of the image.
pub fn container(value: &mut Container) {
    pull_policy(&value.image, &mut value.image_pull_policy);
}

/// Sets the pull policy of the image.
pub fn ephemeral_container(value: &mut EphemeralContainer) {
    pull_policy(&value.image, &mut value.image_pull_policy);
}

/// Sets the pull policy of the image.
pub fn image_volume(value: &mut ImageVolumeSource) {
    pull_policy(&value.reference, &mut value.pull_policy);
}

fn pull_policy(image: &str, policy: &mut String) {
    if policy.is_empty() {
        let is_latest = image::tag(image) == Some("latest");
        if is_latest { "Always" } else { "IfNotPresent" }.clone_into(policy);
    }
}
