//! Updates of services: what is kept when a client leaves it out, what is dropped with a change of type, and
//! what may not change.

use std::collections::BTreeMap;

use orch_api::core::v1::ServiceSpec;
use orch_runtime::{
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use super::{NONE, has_addresses, needs_health_port};

const SET_ONCE: &str = "may not change once set";

/// Keeps what was allocated when a client leaves it out, and drops what the new type cannot have.
pub(super) fn keep(new: &mut ServiceSpec, old: &ServiceSpec) {
    keep_addresses(new, old);
    keep_node_ports(new, old);
    drop_external_settings(new, old);
}

fn keep_addresses(new: &mut ServiceSpec, old: &ServiceSpec) {
    if has_addresses(new) && has_addresses(old) {
        if new.cluster_ip.is_empty() && new.cluster_ips.is_empty() {
            new.cluster_ip.clone_from(&old.cluster_ip);
            new.cluster_ips.clone_from(&old.cluster_ips);
        }
        if new.ip_families.is_empty() {
            new.ip_families.clone_from(&old.ip_families);
        }
        if new.ip_family_policy.is_none() {
            new.ip_family_policy.clone_from(&old.ip_family_policy);
        }
    } else if !has_addresses(new) && new.cluster_ip == old.cluster_ip {
        new.cluster_ip.clear();
        new.cluster_ips.clear();
        new.ip_families.clear();
        new.ip_family_policy = None;
    }
}

fn keep_node_ports(new: &mut ServiceSpec, old: &ServiceSpec) {
    // From the end, so that the first of several equal ports counts.
    let old_ports = old.ports.iter().rev();
    let old_ports: BTreeMap<(i32, &str), i32> =
        old_ports.map(|port| ((port.port, port.protocol.as_str()), port.node_port)).collect();
    for port in &mut new.ports {
        let known = old_ports.get(&(port.port, port.protocol.as_str())).copied().unwrap_or_default();
        match new.type_.as_str() {
            "NodePort" | "LoadBalancer" if port.node_port == 0 => port.node_port = known,
            "ClusterIP" | "ExternalName" | "" if port.node_port == known => port.node_port = 0,
            _ => {}
        }
    }
    if !needs_health_port(new) {
        new.health_check_node_port = 0;
    } else if new.health_check_node_port == 0 {
        new.health_check_node_port = old.health_check_node_port;
    }
}

/// Drops the settings of external access when a service is no longer reached from outside, unless a client
/// changes them.
fn drop_external_settings(new: &mut ServiceSpec, old: &ServiceSpec) {
    let is_external = |spec: &ServiceSpec| {
        matches!(spec.type_.as_str(), "LoadBalancer" | "NodePort")
            || (spec.type_ == "ClusterIP" && !spec.external_ips.is_empty())
    };
    if !is_external(new) && new.external_traffic_policy == old.external_traffic_policy {
        new.external_traffic_policy.clear();
    }
    if new.type_ == "LoadBalancer" {
        return;
    }
    if new.allocate_load_balancer_node_ports == old.allocate_load_balancer_node_ports {
        new.allocate_load_balancer_node_ports = None;
    }
    if new.load_balancer_class == old.load_balancer_class {
        new.load_balancer_class = None;
    }
}

/// Reports changes of what is set once.
pub(super) fn validate(new: &ServiceSpec, old: &ServiceSpec, violations: &mut Validation<'_>) {
    let spec = Path::ROOT.field("spec");
    let keeps_address = has_addresses(new) && has_addresses(old) && !old.cluster_ip.is_empty();
    if keeps_address && new.cluster_ip != old.cluster_ip {
        let shown = Rendered(json(&new.cluster_ips));
        violations.push(FieldError::invalid(&spec.field("clusterIPs").index(0), &shown, SET_ONCE));
    }
    if keeps_address && new.cluster_ip != NONE && new.ip_families.first() != old.ip_families.first() {
        let shown = Rendered(json(&new.ip_families));
        violations.push(FieldError::invalid(&spec.field("ipFamilies").index(0), &shown, SET_ONCE));
    }
    let keeps_balancer = [new, old].iter().all(|spec| spec.type_ == "LoadBalancer");
    if keeps_balancer && new.load_balancer_class != old.load_balancer_class {
        let path = spec.field("loadBalancerClass");
        violations.push(FieldError::invalid(&path, &new.load_balancer_class, SET_ONCE));
    }
    let keeps_health_port = needs_health_port(new) && needs_health_port(old);
    if keeps_health_port && new.health_check_node_port != old.health_check_node_port {
        let path = spec.field("healthCheckNodePort");
        violations.push(FieldError::forbidden(&path, "field is immutable"));
    }
}
