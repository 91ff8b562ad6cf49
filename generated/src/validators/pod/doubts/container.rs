//! Doubts about containers of every kind: variables and ports that are told twice, parts of bytes, old annotations.

use std::collections::{BTreeMap, BTreeSet};

use orch_runtime::{
    field_error::{Shown, Validation},
    path::Path,
};

use super::{Annotated, USE_SECCOMP_FIELD, fractions};
use crate::core::v1::{ContainerPort, EnvVar, PodSpec, ResourceRequirements, SecurityContext};

/// What containers of every kind have.
struct Part<'a> {
    /// The list in which the container stands, and its place there.
    list: &'static str,
    index: usize,
    name: &'a str,
    ports: &'a [ContainerPort],
    env: &'a [EnvVar],
    resources: &'a ResourceRequirements,
    security: Option<&'a SecurityContext>,
}

/// Warns of what concerns one container. `needs_app_armor_field` says that an annotation is no longer enough.
pub(super) fn warn(
    spec: &PodSpec,
    annotated: &Annotated<'_>,
    needs_app_armor_field: bool,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let domain = cx.vocabulary.label_domain;
    for part in parts(spec) {
        let list = path.field(part.list);
        let at = list.index(part.index);
        if part.security.is_none_or(|security| security.seccomp_profile.is_none()) {
            let key = format!("container.seccomp.security.alpha.{domain}/{}", part.name);
            annotated.warn(&key, USE_SECCOMP_FIELD, cx);
        }
        if needs_app_armor_field && part.security.is_none_or(|security| security.app_armor_profile.is_none())
        {
            let key = format!("container.apparmor.security.beta.{domain}/{}", part.name);
            annotated.warn(&key, r#"deprecated since v1.30; use the "appArmorProfile" field instead"#, cx);
        }
        let resources = at.field("resources");
        fractions(&part.resources.limits, &resources.field("limits"), cx);
        fractions(&part.resources.requests, &resources.field("requests"), cx);
        variables(part.env, &at.field("env"), cx);
    }
}

/// Warns of ports that are told twice, in one container or several.
pub(super) fn warn_of_ports(spec: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut known: BTreeMap<(i32, &str), Vec<(String, &ContainerPort)>> = BTreeMap::new();
    for part in parts(spec) {
        let list = path.field(part.list);
        let at = list.index(part.index);
        let ports = at.field("ports");
        for (index, port) in part.ports.iter().enumerate() {
            let at = ports.index(index);
            if !port.host_ip.is_empty() && port.host_port == 0 {
                cx.warn(&at, format_args!("hostIP set without hostPort: {}", listing(port)));
            }
            let same = known.entry((port.container_port, &port.protocol)).or_default();
            for (place, other) in same.iter() {
                if let Some(relation) = relation(port, other) {
                    cx.warn(&at, format_args!("{relation} port definition with {place}"));
                }
            }
            same.push((at.to_string(), port));
        }
    }
}

fn parts(spec: &PodSpec) -> impl Iterator<Item = Part<'_>> {
    macro_rules! of {
        ($list:literal, $containers:expr) => {
            $containers.iter().enumerate().map(|(index, container)| Part {
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
    of!("initContainers", spec.init_containers)
        .chain(of!("containers", spec.containers))
        .chain(of!("ephemeralContainers", spec.ephemeral_containers))
}

/// A later variable may build on an earlier one of its name; otherwise it hides it, and merges know one of them only.
fn variables(env: &[EnvVar], path: &Path<'_>, cx: &mut Validation<'_>) {
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

/// How two ports of the same number and protocol get in each other's way.
fn relation(port: &ContainerPort, other: &ContainerPort) -> Option<&'static str> {
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

/// A port in the form in which clients are shown it.
fn listing(port: &ContainerPort) -> String {
    let ContainerPort { name, host_port, container_port, protocol, host_ip } = port;
    format!(
        "{{Name:{name} HostPort:{host_port} ContainerPort:{container_port} Protocol:{protocol} HostIP:{host_ip}}}"
    )
}
