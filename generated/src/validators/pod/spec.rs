//! Rules about several parts of a pod.

use std::collections::BTreeSet;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use super::{
    annotations::{annotations, matching_profiles},
    container::{Volumes, container, ephemeral_container},
    order::POD_SPEC,
    resources::{claims, container_resources, overhead},
    scheduling::topology_spreads,
    warnings,
    windows::{host_process, operating_system},
};
use crate::core::v1::{ContainerPort, PodSpec, PodTemplateSpec};

/// Containers do not conflict with each other, with the volumes or with the host.
pub fn pod_spec(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    containers(value, path, cx);
    host_ports(value, path, cx);
    topology_spreads(&value.topology_spread_constraints, &path.field("topologySpreadConstraints"), cx);
    overhead(&value.overhead, &path.field("overhead"), cx);
    if let Some(resources) = &value.resources {
        container_resources(resources, &path.field("resources"), cx);
    }
    // Errors about the name of a gate are reported at the gate.
    cx.relocate_to_items(&path.field("schedulingGates"), "name");
    cx.arrange(path, POD_SPEC);
    host_process(value, path, cx);
    if !value.scheduling_gates.is_empty() && !value.node_name.is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        cx.push(FieldError::forbidden(&path.field("nodeName"), detail));
    }
    let os = path.field("os");
    let is_unknown = value.os.as_ref().is_some_and(|os| !os.name.is_empty());
    if value.os.as_ref().is_some_and(|os| os.name.is_empty()) {
        cx.retract(&os);
        cx.push(FieldError::required(&os.field("name"), "cannot be empty"));
    } else if is_unknown && cx.has_error_at(&os) {
        // An unknown name is reported at the object.
        cx.relocate(&os.field("name"), &os);
    } else {
        operating_system(value, path, cx);
    }
}

fn containers(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    // A volume with errors counts as missing, so mounts of it are reported too.
    let list = path.field("volumes");
    let wrong = cx.items_with_errors(&list);
    let correct = value.volumes.iter().enumerate().filter(|(index, _)| !wrong.contains(index));
    // From the end, so that the first of several equal names counts.
    let volumes: Volumes<'_> = correct.rev().map(|(_, volume)| (volume.name.as_str(), volume)).collect();
    let volumes = &volumes;
    let wanted: BTreeSet<&str> = value.resource_claims.iter().map(|claim| claim.name.as_str()).collect();
    for (index, container) in value.containers.iter().enumerate() {
        claims(&container.resources, &wanted, &path.field("containers").index(index), cx);
        self::container(container, volumes, &path.field("containers").index(index), cx);
    }
    for (index, container) in value.init_containers.iter().enumerate() {
        claims(&container.resources, &wanted, &path.field("initContainers").index(index), cx);
        self::container(container, volumes, &path.field("initContainers").index(index), cx);
    }
    let others = value.containers.iter().chain(&value.init_containers);
    let names: BTreeSet<&str> = others.map(|container| container.name.as_str()).collect();
    for (index, container) in value.ephemeral_containers.iter().enumerate() {
        let list = path.field("ephemeralContainers");
        let at = list.index(index);
        ephemeral_container(container, volumes, &at, cx);
        let target = container.target_container_name.as_str();
        if !target.is_empty() && !names.contains(target) {
            cx.push(FieldError::not_found(&at.field("targetContainerName"), target));
        }
    }
}

/// Main containers do not share a host port. Init containers run one after the other, so several of them can
/// use the same port. With `hostNetwork`, the host port is the container port.
fn host_ports(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut seen = BTreeSet::new();
    let list = path.field("containers");
    for (index, container) in value.containers.iter().enumerate() {
        unique_host_ports(&container.ports, &mut seen, &list.index(index).field("ports"), cx);
    }
    let list = path.field("initContainers");
    for (index, container) in value.init_containers.iter().enumerate() {
        unique_host_ports(&container.ports, &mut BTreeSet::new(), &list.index(index).field("ports"), cx);
    }
    if !value.host_network {
        return;
    }
    let list = path.field("containers");
    for (index, container) in value.containers.iter().enumerate() {
        let container_at = list.index(index);
        let ports_at = container_at.field("ports");
        let other = |port: &ContainerPort| port.host_port != 0 && port.host_port != port.container_port;
        for (index, port) in container.ports.iter().enumerate().filter(|(_, port)| other(port)) {
            let at = ports_at.index(index);
            let detail = "must match `containerPort` when `hostNetwork` is true";
            cx.push(FieldError::invalid(&at.field("hostPort"), &port.host_port, detail));
        }
    }
}

fn unique_host_ports(
    ports: &[ContainerPort],
    seen: &mut BTreeSet<String>,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    for (index, port) in ports.iter().enumerate().filter(|(_, port)| port.host_port != 0) {
        let key = host_port_key(port);
        if !seen.insert(key.clone()) {
            cx.push(FieldError::duplicate(&path.index(index).field("hostPort"), &key));
        }
    }
}

fn host_port_key(port: &ContainerPort) -> String {
    let ContainerPort { protocol, host_ip, host_port, .. } = port;
    format!("{protocol}/{host_ip}/{host_port}")
}

/// Known annotations have valid values. The path of errors leaves out `metadata`.
pub fn pod_template_annotations(value: &PodTemplateSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    annotations(&value.metadata.annotations, &value.spec, &path.field("annotations"), cx);
}

/// The profiles of a template agree. Also warns of likely mistakes.
pub fn pod_template(value: &PodTemplateSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    // The path of these errors leaves out `metadata`.
    let metadata = path.field("metadata");
    for field in ["labels", "annotations"] {
        cx.relocate(&metadata.field(field), &path.field(field));
    }
    matching_profiles(&value.metadata.annotations, &value.spec, &path.field("spec"), cx);
    warnings::warn(&value.spec, &value.metadata.annotations, true, path, cx);
}
