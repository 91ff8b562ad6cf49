//! Services that are reached from outside: fields of load balancers, and traffic policies.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::ServiceSpec;

/// Errors spell the field `loadBalancerSourceRanges` with a capital letter.
pub(super) const SOURCE_RANGES: &str = "LoadBalancerSourceRanges";

/// Fields of load balancers and traffic policies are only for types that use them.
pub(super) fn policies(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let is_load_balancer = value.type_ == "LoadBalancer";
    let has_node_ports = is_load_balancer || value.type_ == "NodePort";
    let policy = value.external_traffic_policy.as_str();
    let is_external = has_node_ports || (value.type_ == "ClusterIP" && !value.external_ips.is_empty());
    if !policy.is_empty() && !is_external {
        let at = path.field("externalTrafficPolicy");
        cx.retract(&at);
        cx.push(FieldError::invalid(&at, policy, "may only be set for externally-accessible services"));
    }
}
