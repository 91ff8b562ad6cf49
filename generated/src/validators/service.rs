//! Services: ports, addresses, and the fields that each type can have.

mod address;
mod port;
mod traffic;

use std::net::IpAddr;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Order, Validation},
    path::Path,
};

use crate::core::v1::{Service, ServiceSpec};

const NONE: &str = "None";

/// Fields that the type needs are given, fields that it cannot have are not; ports and addresses are valid.
pub fn service_spec(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let is_headless = value.cluster_ip == NONE;
    let is_name = value.type_ == "ExternalName";
    if is_name {
        external_name(value, path, cx);
    }
    port::node_ports(value, &path.field("ports"), cx);
    address::addresses(value, path, cx);
    traffic::policies(value, path, cx);
    cx.arrange(path, ORDER);
    warn_of_ignored_fields(value, is_headless, cx);
}

/// The order in which errors of a service are reported.
const ORDER: &[Order] = &[
    Order::with(
        "ports",
        &[
            Order::of("name"),
            Order::of("port"),
            Order::of("protocol"),
            Order::of("targetPort"),
            Order::of("appProtocol"),
            Order::of("nodePort"),
            Order::of(""),
        ],
    ),
    Order::of("selector"),
    Order::of("sessionAffinity"),
    Order::of("sessionAffinityConfig"),
    Order::of("clusterIPs"),
    Order::of("ipFamilies"),
    Order::of("ipFamilyPolicy"),
    Order::of("externalName"),
    Order::of("externalIPs"),
    Order::of("type"),
    Order::with("LoadBalancerSourceRanges", &[Order::of("")]),
    Order::of("allocateLoadBalancerNodePorts"),
    Order::of("loadBalancerClass"),
    Order::of("externalTrafficPolicy"),
    Order::of("healthCheckNodePort"),
    Order::of("internalTrafficPolicy"),
    Order::of("trafficDistribution"),
];

/// Only services of type `LoadBalancer` have ingress points of a load balancer, and these are valid.
pub fn service_update(new: &Service, old: &Service, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (new_ingress, old_ingress) = (&new.status.load_balancer.ingress, &old.status.load_balancer.ingress);
    if new_ingress == old_ingress {
        return;
    }
    let status = path.field("status");
    let balancer = status.field("loadBalancer");
    let list = balancer.field("ingress");
    if new.spec.type_ != "LoadBalancer" && !new_ingress.is_empty() {
        cx.retract(&list);
        let detail = "may only be used when `spec.type` is 'LoadBalancer'";
        return cx.push(FieldError::forbidden(&list, detail));
    }
    for (index, ingress) in new_ingress.iter().enumerate() {
        let at = list.index(index);
        let mode = at.field("ipMode");
        match ingress.ip_mode.as_deref() {
            Some(_) if ingress.ip.is_empty() => {
                let detail = "may not be specified when `ip` is not set";
                cx.push(FieldError::forbidden(&mode, detail));
            }
            Some(other) if !MODES.contains(&other) => {
                cx.push(FieldError::not_supported(&mode, other, MODES));
            }
            _ => {}
        }
        if ingress.hostname.parse::<IpAddr>().is_ok() {
            let detail = "must be a DNS name, not an IP address";
            cx.push(FieldError::invalid(&at.field("hostname"), &ingress.hostname, detail));
        }
    }
}

/// The values of `ipMode`.
const MODES: &[&str] = &["Proxy", "VIP"];

fn external_name(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("externalName");
    let name = value.external_name.strip_suffix('.').unwrap_or(&value.external_name);
    if name.is_empty() {
        cx.push(FieldError::required(&at, ""));
    } else {
        cx.invalid_all(&at, &value.external_name, &constraint::dns_subdomain(name));
    }
}

/// Warns of fields that the type ignores.
fn warn_of_ignored_fields(value: &ServiceSpec, is_headless: bool, cx: &mut Validation<'_>) {
    let is_name = value.type_ == "ExternalName";
    for (is_ignored, text) in [
        (
            is_headless && !value.load_balancer_ip.is_empty(),
            "spec.loadBalancerIP is ignored for headless services",
        ),
        (is_headless && !value.external_ips.is_empty(), "spec.externalIPs is ignored for headless services"),
        (
            is_headless && value.session_affinity != NONE,
            "spec.SessionAffinity is ignored for headless services",
        ),
        (
            is_name && !value.external_ips.is_empty(),
            r#"spec.externalIPs is ignored when spec.type is "ExternalName""#,
        ),
        (
            !is_name && !value.external_name.is_empty(),
            r#"spec.externalName is ignored when spec.type is not "ExternalName""#,
        ),
    ] {
        if is_ignored {
            cx.warn(&Path::ROOT, text);
        }
    }
}
