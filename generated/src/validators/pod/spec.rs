//! What concerns more than one part of a pod.

use std::collections::BTreeSet;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use super::{
    container::{ephemeral_container, init_container, main_container},
    doubts,
    resources::{claims, container_resources, overhead},
    scheduling::topology_spreads,
    windows::{host_process, operating_system},
};
use crate::core::v1::{ContainerPort, PodDNSConfig, PodResourceClaim, PodSpec, PodTemplateSpec};

/// The most name servers, and domains to search, that resolvers look at.
const NAMESERVERS_MAX: usize = 3;
const SEARCHES_MAX: usize = 32;
/// The most bytes that the domains to search may have together, with a blank after each but the last.
const SEARCHES_BYTES_MAX: usize = 2048;

/// Containers get along with each other, with the volumes and with the host.
pub fn pod_spec(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    containers(value, path, cx);
    container_names(value, path, cx);
    host_ports(value, path, cx);
    if value.dns_policy == "None" {
        let at = path.field("dnsConfig");
        match &value.dns_config {
            None => {
                let detail = "must provide `dnsConfig` when `dnsPolicy` is None";
                cx.push(FieldError::required(&at, detail));
            }
            Some(config) if config.nameservers.is_empty() => {
                let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
                cx.push(FieldError::required(&at.field("nameservers"), detail));
            }
            Some(_) => {}
        }
    }
    if value.host_pid && value.share_process_namespace == Some(true) {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        cx.push(FieldError::invalid(&path.field("shareProcessNamespace"), &true, detail));
    }
    if value.host_users == Some(false) {
        for (field, is_shared) in
            [("hostNetwork", value.host_network), ("hostPID", value.host_pid), ("hostIPC", value.host_ipc)]
        {
            if is_shared {
                cx.push(FieldError::forbidden(&path.field(field), "when `hostUsers` is false"));
            }
        }
    }
    unmasked(value, path, cx);
    topology_spreads(&value.topology_spread_constraints, &path.field("topologySpreadConstraints"), cx);
    host_process(value, path, cx);
    if !value.scheduling_gates.is_empty() && !value.node_name.is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        cx.push(FieldError::forbidden(&path.field("nodeName"), detail));
    }
    overhead(&value.overhead, &path.field("overhead"), cx);
    if let Some(resources) = &value.resources {
        container_resources(resources, &path.field("resources"), cx);
    }
    operating_system(value, path, cx);
}

/// All of `/proc` is shown to users only who are not the node's.
fn unmasked(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.host_users == Some(false) {
        return;
    }
    for (list, containers) in [("containers", &value.containers), ("initContainers", &value.init_containers)]
    {
        for (index, container) in containers.iter().enumerate() {
            let mount =
                container.security_context.as_ref().and_then(|security| security.proc_mount.as_deref());
            if mount == Some("Unmasked") {
                let containers = path.field(list);
                let container = containers.index(index);
                let security = container.field("securityContext");
                let detail = "`hostUsers` must be false to use `Unmasked`";
                cx.push(FieldError::invalid(&security.field("procMount"), "Unmasked", detail));
            }
        }
    }
}

fn containers(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let volumes = &value.volumes;
    let wanted: BTreeSet<&str> = value.resource_claims.iter().map(|claim| claim.name.as_str()).collect();
    for (index, container) in value.containers.iter().enumerate() {
        claims(&container.resources, &wanted, &path.field("containers").index(index), cx);
        main_container(
            container,
            volumes,
            value.termination_grace_period_seconds,
            &path.field("containers").index(index),
            cx,
        );
    }
    for (index, container) in value.init_containers.iter().enumerate() {
        claims(&container.resources, &wanted, &path.field("initContainers").index(index), cx);
        init_container(container, volumes, &path.field("initContainers").index(index), cx);
    }
    let names: BTreeSet<&str> = value.containers.iter().map(|container| container.name.as_str()).collect();
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

/// Names are unique over all lists; within one list, the list itself sees to that.
fn container_names(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut others: BTreeSet<&str> =
        value.containers.iter().map(|container| container.name.as_str()).collect();
    let init = value.init_containers.iter().map(|container| container.name.as_str());
    let ephemeral = value.ephemeral_containers.iter().map(|container| container.name.as_str());
    for (list, names) in
        [("initContainers", init.collect::<Vec<_>>()), ("ephemeralContainers", ephemeral.collect())]
    {
        for (index, name) in names.iter().enumerate() {
            if !name.is_empty() && others.contains(name) {
                let at = path.field(list);
                cx.push(FieldError::duplicate(&at.index(index).field("name"), *name));
            }
        }
        others.extend(names);
    }
}

/// A port of the host leads to one container only, and is the container's own on the host's network. Containers that run
/// one after the other do not get into each other's way.
fn host_ports(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut seen = BTreeSet::new();
    let list = path.field("containers");
    for (index, container) in value.containers.iter().enumerate() {
        taken_ports(&container.ports, &mut seen, &list.index(index).field("ports"), cx);
    }
    let list = path.field("initContainers");
    for (index, container) in value.init_containers.iter().enumerate() {
        taken_ports(&container.ports, &mut BTreeSet::new(), &list.index(index).field("ports"), cx);
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

fn taken_ports(
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

/// Containers are added to running pods only; and what is accepted may be doubtful.
pub fn pod_template(value: &PodTemplateSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    doubts::warn(&value.spec, &value.metadata.annotations, true, path, cx);
    if !value.spec.ephemeral_containers.is_empty() {
        let spec = path.field("spec");
        let detail = "ephemeral containers not allowed in pod template";
        cx.push(FieldError::forbidden(&spec.field("ephemeralContainers"), detail));
    }
}

/// There is not more than resolvers look at.
pub fn dns_config(value: &PodDNSConfig, path: &Path<'_>, cx: &mut Validation<'_>) {
    let shown = |list: &Vec<String>| Rendered(json(list));
    if value.nameservers.len() > NAMESERVERS_MAX {
        let detail = "must not have more than 3 nameservers";
        cx.push(FieldError::invalid(&path.field("nameservers"), &shown(&value.nameservers), detail));
    }
    let searches = path.field("searches");
    if value.searches.len() > SEARCHES_MAX {
        let detail = "must not have more than 32 search paths";
        cx.push(FieldError::invalid(&searches, &shown(&value.searches), detail));
    }
    let bytes = value.searches.iter().map(|search| search.len() + 1).sum::<usize>().saturating_sub(1);
    if bytes > SEARCHES_BYTES_MAX {
        let detail = "must not have more than 2048 characters (including spaces) in the search list";
        cx.push(FieldError::invalid(&searches, &shown(&value.searches), detail));
    }
    for (index, search) in value.searches.iter().enumerate() {
        let name = search.strip_suffix('.').unwrap_or(search);
        cx.invalid_all(&searches.index(index), name, &constraint::dns_subdomain(name));
    }
    for (index, option) in value.options.iter().enumerate() {
        if option.name.is_empty() {
            let at = path.field("options");
            cx.push(FieldError::required(&at.index(index), "must not be empty"));
        }
    }
}

/// A claim is named in exactly one of two ways.
pub fn pod_resource_claim(value: &PodResourceClaim, path: &Path<'_>, cx: &mut Validation<'_>) {
    match (&value.resource_claim_name, &value.resource_claim_template_name) {
        (Some(_), Some(_)) => {
            let detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
            cx.push(FieldError::invalid(path, &Rendered(json(value)), detail));
        }
        (None, None) => {
            let detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
            cx.push(FieldError::invalid(path, &Rendered(json(value)), detail));
        }
        _ => {}
    }
}
