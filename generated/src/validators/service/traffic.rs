//! Services that are reached from outside: fields of load balancers, and traffic policies.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::ServiceSpec;

/// Endpoints close to the client are preferred.
const PREFER_CLOSE: &str = "PreferClose";
/// Errors spell the field `loadBalancerSourceRanges` with a capital letter.
pub(super) const SOURCE_RANGES: &str = "LoadBalancerSourceRanges";

/// Fields of load balancers and traffic policies are only for types that use them.
pub(super) fn policies(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    const LOAD_BALANCER_ONLY: &str = "may only be used when `type` is 'LoadBalancer'";
    let is_load_balancer = value.type_ == "LoadBalancer";
    let has_node_ports = is_load_balancer || value.type_ == "NodePort";
    for (field, is_given) in [
        (SOURCE_RANGES, !value.load_balancer_source_ranges.is_empty()),
        ("allocateLoadBalancerNodePorts", value.allocate_load_balancer_node_ports.is_some()),
        ("loadBalancerClass", value.load_balancer_class.is_some()),
    ] {
        if is_given && !is_load_balancer {
            cx.push(FieldError::forbidden(&path.field(field), LOAD_BALANCER_ONLY));
        }
    }
    if let Some(class) = value.load_balancer_class.as_deref().filter(|_| is_load_balancer) {
        cx.invalid_all(&path.field("loadBalancerClass"), class, &constraint::qualified_name(class));
    }
    let policy = value.external_traffic_policy.as_str();
    let is_external = has_node_ports || (value.type_ == "ClusterIP" && !value.external_ips.is_empty());
    if !policy.is_empty() && !is_external {
        let at = path.field("externalTrafficPolicy");
        cx.retract(&at);
        cx.push(FieldError::invalid(&at, policy, "may only be set for externally-accessible services"));
    }
    if let Some(distribution) = value.traffic_distribution.as_deref().filter(|it| *it != PREFER_CLOSE) {
        let at = path.field("trafficDistribution");
        cx.push(FieldError::not_supported(&at, distribution, &[PREFER_CLOSE]));
    }
    if value.health_check_node_port != 0 && !(is_load_balancer && policy == "Local") {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        let at = path.field("healthCheckNodePort");
        cx.push(FieldError::invalid(&at, &value.health_check_node_port, detail));
    }
}
