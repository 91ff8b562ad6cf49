//! Updates of services: what is kept when a client leaves it out, and what is dropped with a change of type.

use std::collections::{BTreeMap, BTreeSet};

use orch_api::core::v1::{Service, ServiceSpec};

use super::{has_addresses, is_balanced, needs_health_port, needs_node_ports};

/// Keeps what was allocated when a client leaves it out.
pub(super) fn keep_allocated(new: &mut ServiceSpec, old: &ServiceSpec) {
    if has_addresses(new) && has_addresses(old) {
        if new.cluster_ip.is_empty() {
            new.cluster_ip.clone_from(&old.cluster_ip);
        }
        if new.cluster_ips.is_empty() {
            new.cluster_ips.clone_from(&old.cluster_ips);
        }
    }
    if needs_node_ports(new) && needs_node_ports(old) {
        keep_node_ports(new, old);
    }
    if needs_health_port(new) && needs_health_port(old) && new.health_check_node_port == 0 {
        new.health_check_node_port = old.health_check_node_port;
    }
}

/// A port keeps its number on the nodes under its name, whatever else changes, unless another port of the
/// service has that number now.
fn keep_node_ports(new: &mut ServiceSpec, old: &ServiceSpec) {
    let before = node_ports(old);
    let used: BTreeSet<i32> = node_ports(new).intersection(&before).copied().collect();
    let by_name: BTreeMap<&str, i32> =
        old.ports.iter().map(|port| (port.name.as_str(), port.node_port)).collect();
    for port in new.ports.iter_mut().filter(|port| port.node_port == 0) {
        let known = by_name.get(port.name.as_str()).copied().unwrap_or_default();
        if !used.contains(&known) {
            port.node_port = known;
        }
    }
}

/// The ports of nodes that a service has.
pub(super) fn node_ports(spec: &ServiceSpec) -> BTreeSet<i32> {
    spec.ports.iter().map(|port| port.node_port).filter(|port| *port != 0).collect()
}

/// `clusterIP` is the first of `clusterIPs`. A client that knows only the one of them changes the other too.
pub(super) fn match_addresses(new: &mut ServiceSpec, old: Option<&ServiceSpec>) {
    let sole = |address: &str| vec![address.to_owned()];
    let Some(old) = old else {
        if new.cluster_ips.is_empty() && !new.cluster_ip.is_empty() {
            new.cluster_ips = sole(&new.cluster_ip);
        }
        return;
    };
    let is_same = new.cluster_ip == old.cluster_ip;
    if is_same && new.cluster_ips.is_empty() {
        new.cluster_ips.clone_from(&old.cluster_ips);
    } else if !is_same && new.cluster_ips == old.cluster_ips {
        new.cluster_ips = if new.cluster_ip.is_empty() { Vec::new() } else { sole(&new.cluster_ip) };
    }
}

/// Drops what the new type cannot have and the old one had, unless the client changes it: then the rules
/// refuse it.
pub(super) fn drop_with_type(service: &mut Service, old: &ServiceSpec) {
    let new = &mut service.spec;
    if has_addresses(old) && !has_addresses(new) {
        drop_addresses(new, old);
    }
    if has_type_of_nodes(old) && !has_type_of_nodes(new) && node_ports(old).is_superset(&node_ports(new)) {
        new.ports.iter_mut().for_each(|port| port.node_port = 0);
    }
    let is_health_port_kept = new.health_check_node_port == old.health_check_node_port;
    if needs_health_port(old) && !needs_health_port(new) && is_health_port_kept {
        new.health_check_node_port = 0;
    }
    if is_balanced(old) && !is_balanced(new) {
        if new.allocate_load_balancer_node_ports == old.allocate_load_balancer_node_ports {
            new.allocate_load_balancer_node_ports = None;
        }
        if new.load_balancer_class == old.load_balancer_class {
            new.load_balancer_class = None;
        }
    }
    if is_external(old) && !is_external(new) && new.external_traffic_policy == old.external_traffic_policy {
        new.external_traffic_policy.clear();
    }
    if !is_balanced(new) {
        service.status.load_balancer = <_>::default();
    }
}

fn drop_addresses(new: &mut ServiceSpec, old: &ServiceSpec) {
    if new.cluster_ip == old.cluster_ip && new.cluster_ips == old.cluster_ips {
        new.cluster_ip.clear();
        new.cluster_ips.clear();
    }
    if new.ip_families == old.ip_families {
        new.ip_families.clear();
    }
    if new.ip_family_policy == old.ip_family_policy {
        new.ip_family_policy = None;
    }
}

fn has_type_of_nodes(spec: &ServiceSpec) -> bool {
    matches!(spec.type_.as_str(), "LoadBalancer" | "NodePort")
}

fn is_external(spec: &ServiceSpec) -> bool {
    has_type_of_nodes(spec) || (spec.type_ == "ClusterIP" && !spec.external_ips.is_empty())
}
