//! Warnings for ports that conflict.

use std::collections::BTreeMap;

use orch_runtime::{field_error::Validation, path::Path};

use crate::core::v1::{ContainerPort, PodSpec};

/// Warns of ports that conflict, within one container or between several: Rust, because each port is compared
/// with others by three rules.
pub fn conflicting_ports(spec: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut known: BTreeMap<(i32, &str), KnownPorts<'_>> = BTreeMap::new();
    for (list, container, ports_of_container) in containers(spec) {
        let list_path = path.field(list);
        let at = list_path.index(container);
        let ports = at.field("ports");
        for (index, port) in ports_of_container.iter().enumerate() {
            let at = ports.index(index);
            if !port.host_ip.is_empty() && port.host_port == 0 {
                cx.warn(&at, format_args!("hostIP set without hostPort: {}", port_text(port)));
            }
            let same = known.entry((port.container_port, &port.protocol)).or_default();
            for (other, other_port) in same.in_conflict(port) {
                if cx.is_full_of_warnings() {
                    return;
                }
                if let Some(conflict) = port_conflict(port, other_port) {
                    cx.warn(&at, format_args!("{conflict} port definition with {}", path_text(path, *other)));
                }
            }
            same.add((list, container, index), port);
        }
    }
}

/// Where a port stands: the list, and the positions of the container and of the port.
type Place = (&'static str, usize, usize);

/// The path of a port. It is made only where it is told.
fn path_text(spec: &Path<'_>, (list, container, index): Place) -> String {
    spec.field(list).index(container).field("ports").index(index).to_string()
}

/// The list, the index and the ports of all containers.
fn containers(spec: &PodSpec) -> impl Iterator<Item = (&'static str, usize, &[ContainerPort])> {
    let init = spec.init_containers.iter().map(|it| it.ports.as_slice()).enumerate();
    let main = spec.containers.iter().map(|it| it.ports.as_slice()).enumerate();
    let ephemeral =
        spec.ephemeral_containers.iter().map(|it| it.ports.as_deref().unwrap_or_default()).enumerate();
    init.map(|(index, ports)| ("initContainers", index, ports))
        .chain(main.map(|(index, ports)| ("containers", index, ports)))
        .chain(ephemeral.map(|(index, ports)| ("ephemeralContainers", index, ports)))
}

/// Ports of the same number and protocol, so that those in conflict with another one are found without a look
/// at all of them.
#[derive(Default)]
struct KnownPorts<'p> {
    /// In the order of the pod.
    all: Vec<(Place, &'p ContainerPort)>,
    /// The positions of the ports with a host port and a host IP.
    by_host: BTreeMap<(i32, &'p str), Vec<usize>>,
}

impl<'p> KnownPorts<'p> {
    fn add(&mut self, place: Place, port: &'p ContainerPort) {
        self.by_host.entry((port.host_port, &port.host_ip)).or_default().push(self.all.len());
        self.all.push((place, port));
    }

    /// The ports that conflict with a further one, in their order.
    fn in_conflict(&self, port: &ContainerPort) -> impl Iterator<Item = &(Place, &'p ContainerPort)> {
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
