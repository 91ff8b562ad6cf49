//! Pods: what follows from images, limits, ports and old names of fields.

use crate::core::v1::{
    Container, EmptyDirVolumeSource, EphemeralContainer, ImageVolumeSource, Pod, PodSpec, Volume,
};

/// A pod, as far as templates of pods are left alone: what is limited is requested, and ports of containers on the
/// host's network are the host's.
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

/// The service account has two names, and a security context is always there. That it is filled in instead of being a
/// part of every pod makes whoever creates a pod own it.
pub fn pod_spec(value: &mut PodSpec) {
    value.security_context.get_or_insert_default();
    if value.service_account_name.is_empty() {
        value.service_account_name.clone_from(&value.service_account);
    }
    value.service_account.clone_from(&value.service_account_name);
}

/// A volume without a source is an empty directory.
pub fn volume(value: &mut Volume) {
    let Volume { name, .. } = value;
    let nothing = Volume { name: std::mem::take(name), ..Volume::default() };
    value.name.clone_from(&nothing.name);
    if *value == nothing {
        value.empty_dir = Some(EmptyDirVolumeSource::default());
    }
}

/// When the image is fetched.
pub fn container(value: &mut Container) {
    pull_policy(&value.image, &mut value.image_pull_policy);
}

/// When the image is fetched.
pub fn ephemeral_container(value: &mut EphemeralContainer) {
    pull_policy(&value.image, &mut value.image_pull_policy);
}

/// When the image is fetched.
pub fn image_volume(value: &mut ImageVolumeSource) {
    pull_policy(&value.reference, &mut value.pull_policy);
}

fn pull_policy(image: &str, policy: &mut String) {
    if policy.is_empty() {
        let may_change = tag(image).is_some_and(|tag| tag == "latest");
        if may_change { "Always" } else { "IfNotPresent" }.clone_into(policy);
    }
}

/// The tag of an image, which is `latest` where nothing is said; none where a digest says what is meant.
fn tag(image: &str) -> Option<&str> {
    if image.contains('@') {
        return None;
    }
    // A colon before the last slash begins a registry's port.
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
