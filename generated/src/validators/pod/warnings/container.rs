//! Warnings for containers of all lists: repeated variables and ports, fractional bytes, old annotations.

use std::collections::{BTreeMap, BTreeSet};

use orch_runtime::{
    field_error::{Shown, Validation},
    path::Path,
};

use super::{Annotated, USE_SECCOMP_FIELD};
use crate::{
    core::v1::{ContainerPort, EnvVar, PodSpec, ResourceRequirements, SecurityContext},
    validators::fractional_bytes::warn_of_fractional_resources,
};

/// The fields that containers of all lists have.
struct AnyContainer<'a> {
    /// The list of the container, and its index there.
    list: &'static str,
    index: usize,
    name: &'a str,
    ports: &'a [ContainerPort],
    env: &'a [EnvVar],
    resources: &'a ResourceRequirements,
    security: Option<&'a SecurityContext>,
}

/// Warns about each container. `needs_app_armor_field`: an annotation about `AppArmor` is not enough.
pub(super) fn warn(
    spec: &PodSpec,
    annotated: &Annotated<'_>,
    needs_app_armor_field: bool,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let domain = cx.vocabulary.label_domain;
    for container in containers(spec) {
        let list = path.field(container.list);
        let at = list.index(container.index);
        if container.security.is_none_or(|security| security.seccomp_profile.is_none()) {
            let key = format!("container.seccomp.security.alpha.{domain}/{}", container.name);
            annotated.warn(&key, USE_SECCOMP_FIELD, cx);
        }
        if needs_app_armor_field
            && container.security.is_none_or(|security| security.app_armor_profile.is_none())
        {
            let key = format!("container.apparmor.security.beta.{domain}/{}", container.name);
            annotated.warn(&key, r#"deprecated since v1.30; use the "appArmorProfile" field instead"#, cx);
        }
        let resources = at.field("resources");
        warn_of_fractional_resources(&container.resources.limits, &resources.field("limits"), cx);
        warn_of_fractional_resources(&container.resources.requests, &resources.field("requests"), cx);
        warn_of_variables(container.env, &at.field("env"), cx);
    }
}

/// Warns of ports that conflict, within one container or between several.
pub(super) fn warn_of_ports(spec: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut known: BTreeMap<(i32, &str), KnownPorts<'_>> = BTreeMap::new();
    for container in containers(spec) {
        let list = path.field(container.list);
        let at = list.index(container.index);
        let ports = at.field("ports");
        for (index, port) in container.ports.iter().enumerate() {
            let at = ports.index(index);
            if !port.host_ip.is_empty() && port.host_port == 0 {
                cx.warn(&at, format_args!("hostIP set without hostPort: {}", port_text(port)));
            }
            let same = known.entry((port.container_port, &port.protocol)).or_default();
            for (other_path, other) in same.in_conflict(port) {
                if cx.is_full_of_warnings() {
                    return;
                }
                if let Some(conflict) = port_conflict(port, other) {
                    cx.warn(&at, format_args!("{conflict} port definition with {other_path}"));
                }
            }
            same.add(at.to_string(), port);
        }
    }
}

fn containers(spec: &PodSpec) -> impl Iterator<Item = AnyContainer<'_>> {
    macro_rules! containers_of {
        ($list:literal, $containers:expr) => {
            $containers.iter().enumerate().map(|(index, container)| AnyContainer {
                list: $list,
                index,
                name: &container.name,
                ports: &container.ports,
                env: &container.env,
                resources: &container.resources,
                security: container.security_context.as_ref(),
            })
        };
    }
    containers_of!("initContainers", spec.init_containers)
        .chain(containers_of!("containers", spec.containers))
        .chain(containers_of!("ephemeralContainers", spec.ephemeral_containers))
}

/// A variable may refer to an earlier one of the same name. Otherwise it hides the earlier one, and a merge
/// by name keeps only one of them.
fn warn_of_variables(env: &[EnvVar], path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut seen = BTreeSet::new();
    for (index, variable) in env.iter().enumerate() {
        if seen.insert(&variable.name) {
            continue;
        }
        let reference = format!("$({})", variable.name);
        let builds_on = variable.value.contains(&reference) && variable.value != reference;
        if variable.value_from.is_some() || !builds_on {
            let name = variable.name.shown();
            let text =
                format_args!("hides previous definition of {name}, which may be dropped when using apply");
            cx.warn(&path.index(index), text);
        }
    }
}

/// Ports of the same number and protocol, so that those in conflict with another one are found without a look
/// at all of them.
#[derive(Default)]
struct KnownPorts<'p> {
    /// The ports with their paths, in the order of the pod.
    all: Vec<(String, &'p ContainerPort)>,
    /// The positions of the ports with a host port and a host IP.
    by_host: BTreeMap<(i32, &'p str), Vec<usize>>,
}

impl<'p> KnownPorts<'p> {
    fn add(&mut self, path: String, port: &'p ContainerPort) {
        self.by_host.entry((port.host_port, &port.host_ip)).or_default().push(self.all.len());
        self.all.push((path, port));
    }

    /// The ports that conflict with a further one, in their order.
    fn in_conflict(&self, port: &ContainerPort) -> impl Iterator<Item = &(String, &'p ContainerPort)> {
        let host = port.host_port;
        // Without a host port it conflicts with all, and without a host IP with all of the same host port.
        let ranges = match (host, port.host_ip.as_str()) {
            (0, _) => vec![(i32::MIN, "")..=(i32::MAX, LAST_TEXT)],
            (_, "") => vec![(0, "")..=(0, LAST_TEXT), (host, "")..=(host, LAST_TEXT)],
            (_, ip) => vec![(0, "")..=(0, LAST_TEXT), (host, "")..=(host, ""), (host, ip)..=(host, ip)],
        };
        let found = ranges.into_iter().flat_map(|range| self.by_host.range(range));
        let mut positions: Vec<usize> = found.flat_map(|(_, positions)| positions).copied().collect();
        positions.sort_unstable();
        positions.into_iter().map(|position| &self.all[position])
    }
}

/// Greater than the text of any address.
const LAST_TEXT: &str = "\u{10ffff}";

/// How two ports of the same number and protocol conflict; none if they do not.
fn port_conflict(port: &ContainerPort, other: &ContainerPort) -> Option<&'static str> {
    if port.host_ip == other.host_ip && port.host_port == other.host_port {
        Some("duplicate")
    } else if port.host_port == 0 || other.host_port == 0 {
        Some("overlapping")
    } else if port.host_port == other.host_port && port.host_ip.is_empty() != other.host_ip.is_empty() {
        Some("dangerously ambiguous")
    } else {
        None
    }
}

/// A port as warnings show it.
fn port_text(port: &ContainerPort) -> String {
    let ContainerPort { name, host_port, container_port, protocol, host_ip } = port;
    format!(
        "{{Name:{name} HostPort:{host_port} ContainerPort:{container_port} Protocol:{protocol} \
         HostIP:{host_ip}}}"
    )
}
