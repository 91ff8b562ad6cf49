//! Pods: defaults that depend on images, limits and ports, and fields with an old name.

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
        let is_latest = tag(image).is_some_and(|tag| tag == "latest");
        if is_latest { "Always" } else { "IfNotPresent" }.clone_into(policy);
    }
}

/// The tag of an image, `latest` if it names none. None if a digest identifies the image.
fn tag(image: &str) -> Option<&str> {
    if image.contains('@') {
        return None;
    }
    // A colon before the last slash belongs to the registry's port.
    let name = image.rsplit('/').next().unwrap_or_default();
    Some(name.split_once(':').map_or("latest", |(_, tag)| tag))
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn tags_follow_the_last_slash() {
        for (image, expected) in [
            ("x", Some("latest")),
            ("x:latest", Some("latest")),
            ("x:1", Some("1")),
            ("h:5000/x", Some("latest")),
            ("h:5000/a/x:v2", Some("v2")),
            ("x@sha256:0123", None),
            ("x:latest@sha256:0123", None),
            ("", Some("latest")),
        ] {
            assert_eq!(tag(image), expected, "{image}");
        }
    }
}
