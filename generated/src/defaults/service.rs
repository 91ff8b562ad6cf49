//! Services: defaults that depend on the type.

use orch_runtime::scalar::IntOrString;

use crate::core::v1::{ClientIPConfig, LoadBalancerIngress, ServicePort, ServiceSpec, SessionAffinityConfig};

/// The default timeout of session affinity: three hours.
const AFFINITY_SECONDS: i32 = 3 * 60 * 60;
const CLUSTER: &str = "Cluster";

/// Traffic policies that depend on the type, and the timeout of session affinity.
pub fn service_spec(value: &mut ServiceSpec) {
    let has_node_ports = matches!(value.type_.as_str(), "NodePort" | "LoadBalancer");
    let has_cluster_ip = has_node_ports || matches!(value.type_.as_str(), "" | "ClusterIP");
    match value.session_affinity.as_str() {
        "" | "None" => value.session_affinity_config = None,
        _ => {
            let config = value.session_affinity_config.get_or_insert_with(SessionAffinityConfig::default);
            let client = config.client_ip.get_or_insert_with(ClientIPConfig::default);
            client.timeout_seconds.get_or_insert(AFFINITY_SECONDS);
        }
    }
    if has_node_ports && value.external_traffic_policy.is_empty() {
        CLUSTER.clone_into(&mut value.external_traffic_policy);
    }
    if has_cluster_ip {
        value.internal_traffic_policy.get_or_insert_with(|| CLUSTER.to_owned());
    }
    if value.type_ == "LoadBalancer" {
        value.allocate_load_balancer_node_ports.get_or_insert(true);
    }
}

/// The target port is the port of the service by default.
pub fn service_port(value: &mut ServicePort) {
    let is_given = match &value.target_port {
        None => false,
        Some(IntOrString::Int(number)) => *number != 0,
        Some(IntOrString::String(name)) => !name.is_empty(),
    };
    if !is_given {
        value.target_port = Some(IntOrString::Int(value.port));
    }
}

/// The mode is `VIP` by default: packets arrive with the load balancer's address as their destination.
pub fn load_balancer_ingress(value: &mut LoadBalancerIngress) {
    if !value.ip.is_empty() {
        value.ip_mode.get_or_insert_with(|| "VIP".to_owned());
    }
}
