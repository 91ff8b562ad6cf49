//! What a service owns alone among all services: its address and its ports of nodes.
//!
//! A client may ask for a free value; otherwise the server finds one. Nothing is reserved here: what a
//! service comes to own are its claims, which the registry makes conditions of the commit.

use std::{collections::BTreeSet, net::IpAddr};

use orch_api::core::v1::ServiceSpec;
use orch_registry::claims::{Claim, Claimed};
use orch_runtime::{
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use super::{NONE, NodePorts, ServiceNetwork, has_addresses, needs_health_port, needs_node_ports};

/// How many sorts of claims there are.
pub(super) const SORTS: u16 = 2;
/// The sort of addresses, in their canonical spelling.
const ADDRESS: u16 = 0;
/// The sort of node ports, in decimal digits; a port for health checks is one of them.
const NODE_PORT: u16 = 1;

/// What a service owns alone.
pub(super) fn claims(spec: &ServiceSpec) -> Vec<Claim> {
    let address = canonical(&spec.cluster_ip).map(|value| Claim { sort: ADDRESS, value });
    let ports = spec.ports.iter().map(|port| port.node_port).chain([spec.health_check_node_port]);
    // Two protocols can have the same port.
    let ports: BTreeSet<i32> = ports.filter(|port| *port != 0).collect();
    let ports = ports.into_iter().map(|port| Claim { sort: NODE_PORT, value: port.to_string() });
    address.into_iter().chain(ports).collect()
}

/// The spelling under which an address is claimed; `None` for what is no address.
fn canonical(address: &str) -> Option<String> {
    address.parse::<IpAddr>().ok().map(|address| address.to_string())
}

/// Gives a service the address that it asks for, or a free one. The family and the policy of families are
/// filled in too.
pub(super) fn allocate_address(
    spec: &mut ServiceSpec,
    old: Option<&ServiceSpec>,
    network: &ServiceNetwork,
    claimed: &Claimed<'_>,
    violations: &mut Validation<'_>,
) {
    if !has_addresses(spec) || !fill_family(spec, network, violations) {
        return;
    }
    let path = Path::ROOT.field("spec");
    let at = path.field("clusterIPs");
    let asked = spec.cluster_ip.as_str();
    if asked == NONE || old.is_some_and(|old| old.cluster_ip == asked && !asked.is_empty()) {
        return;
    }
    let is_taken = |address: &str| claimed.is_taken(ADDRESS, address);
    if asked.is_empty() {
        let Some(free) = network.free(is_taken) else {
            let shown = Rendered("[]".to_owned());
            let detail = "failed to allocate an IP: range is full";
            return violations.push(FieldError::invalid(&at, &shown, detail));
        };
        spec.cluster_ip.clone_from(&free);
        spec.cluster_ips = vec![free];
        return;
    }
    let refused = |why: &str| {
        let shown = Rendered(json(&spec.cluster_ips));
        FieldError::invalid(&at, &shown, &format!("failed to allocate IP {asked}: {why}"))
    };
    if !network.holds(asked) {
        violations.push(refused(&format!(
            "the provided network does not contain IP {asked}, valid network is {network}"
        )));
    } else if canonical(asked).is_some_and(|address| is_taken(&address)) {
        violations.push(refused("provided IP is already allocated"));
    }
}

/// Fills in the family of addresses; says whether the server has addresses of that family.
fn fill_family(spec: &mut ServiceSpec, network: &ServiceNetwork, violations: &mut Validation<'_>) -> bool {
    let path = Path::ROOT.field("spec");
    let policy = spec.ip_family_policy.get_or_insert_with(|| "SingleStack".to_owned());
    if policy == "RequireDualStack" {
        let detail = "this cluster is not configured for dual-stack services";
        violations.push(FieldError::invalid(&path.field("ipFamilyPolicy"), policy, detail));
        return false;
    }
    match spec.ip_families.first() {
        None => spec.ip_families = vec![network.family().to_owned()],
        Some(family) if family != network.family() => {
            let detail = "not configured on this cluster";
            violations.push(FieldError::invalid(&path.field("ipFamilies").index(0), family, detail));
            return false;
        }
        Some(_) => {}
    }
    true
}

/// Gives a service the node ports that it asks for, or free ones.
pub(super) fn allocate_node_ports(
    spec: &mut ServiceSpec,
    range: &NodePorts,
    claimed: &Claimed<'_>,
    violations: &mut Validation<'_>,
) {
    let is_taken = |port: i32| claimed.is_taken(NODE_PORT, &port.to_string());
    let needs_node_ports = needs_node_ports(spec);
    let path = Path::ROOT.field("spec");
    let (list, health) = (path.field("ports"), path.field("healthCheckNodePort"));
    // Ports of this service. Two protocols can have the same one, but a health check needs one of its own.
    let mut own = BTreeSet::new();
    for (index, port) in spec.ports.iter().enumerate().filter(|(_, port)| port.node_port != 0) {
        check_port(port.node_port, range, is_taken, &list.index(index).field("nodePort"), violations);
        own.insert(port.node_port);
    }
    if spec.health_check_node_port != 0 {
        let is_taken = |port| own.contains(&port) || is_taken(port);
        check_port(spec.health_check_node_port, range, is_taken, &health, violations);
        own.insert(spec.health_check_node_port);
    }
    let mut give = |number: &mut i32, at: &Path<'_>| match range
        .free(|port| own.contains(&port) || is_taken(port))
    {
        Some(free) => {
            own.insert(free);
            *number = free;
        }
        None => {
            let detail = "failed to allocate a nodePort: range is full";
            violations.push(FieldError::invalid(at, &0_i32, detail));
        }
    };
    if needs_node_ports {
        for (index, port) in spec.ports.iter_mut().enumerate().filter(|(_, port)| port.node_port == 0) {
            give(&mut port.node_port, &list.index(index).field("nodePort"));
        }
    }
    if needs_health_port(spec) && spec.health_check_node_port == 0 {
        give(&mut spec.health_check_node_port, &health);
    }
}

/// A port that a client asks for has to be in the range, and free.
fn check_port(
    port: i32,
    range: &NodePorts,
    is_taken: impl Fn(i32) -> bool,
    path: &Path<'_>,
    violations: &mut Validation<'_>,
) {
    if !range.contains(port) {
        let detail =
            format!("provided port is not in the valid range. The range of valid ports is {range}");
        violations.push(FieldError::invalid(path, &port, &detail));
    } else if is_taken(port) {
        violations.push(FieldError::invalid(path, &port, "provided port is already allocated"));
    }
}
