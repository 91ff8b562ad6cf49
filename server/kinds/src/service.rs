//! `Service`: the addresses and node ports that it owns alone, and what an update keeps.

mod allocation;
mod network;
mod node_ports;
mod update;

use orch_api::core::v1::{LoadBalancerStatus, Service, ServiceSpec};
use orch_registry::{
    behaviour::{Behaviour, WriteInfo},
    claims::{Claim, Claimed},
};
use orch_runtime::{field_error::Validation, resource_def::FieldPath};

pub use self::{network::ServiceNetwork, node_ports::NodePorts};

/// The `clusterIP` of a service without an address.
const NONE: &str = "None";

pub(crate) struct ServiceBehaviour {
    network: ServiceNetwork,
    node_ports: NodePorts,
}

impl ServiceBehaviour {
    /// Services get their addresses from the network, and their node ports from the range.
    pub(crate) fn new(network: ServiceNetwork, node_ports: NodePorts) -> Self {
        ServiceBehaviour { network, node_ports }
    }
}

impl Behaviour<Service> for ServiceBehaviour {
    fn prepare(&self, service: &mut Service, old: Option<&Service>, write: &WriteInfo<'_>) {
        if service.spec.type_ != "LoadBalancer" && write.subresource != "status" {
            service.status.load_balancer = LoadBalancerStatus::default();
        }
        let new = &mut service.spec;
        if let Some(old) = old {
            update::keep(new, &old.spec);
        }
        match_addresses(new);
    }

    fn validate(
        &self,
        service: &Service,
        old: Option<&Service>,
        _write: &WriteInfo<'_>,
        violations: &mut Validation<'_>,
    ) {
        if let Some(old) = old {
            update::validate(&service.spec, &old.spec, violations);
        }
    }

    fn claim_sorts(&self) -> u16 {
        allocation::SORTS
    }

    fn claims(&self, service: &Service) -> Vec<Claim> {
        allocation::claims(&service.spec)
    }

    fn allocate(
        &self,
        service: &mut Service,
        old: Option<&Service>,
        claimed: &Claimed<'_>,
        violations: &mut Validation<'_>,
    ) {
        let (spec, old) = (&mut service.spec, old.map(|old| &old.spec));
        allocation::allocate_address(spec, old, &self.network, claimed, violations);
        allocation::allocate_node_ports(spec, &self.node_ports, claimed, violations);
    }

    fn added_fields(&self) -> &'static [FieldPath] {
        &[
            &["spec", "clusterIP"],
            &["spec", "clusterIPs"],
            &["spec", "ipFamilies"],
            &["spec", "ipFamilyPolicy"],
            &["spec", "healthCheckNodePort"],
        ]
    }
}

/// `clusterIP` is the first of `clusterIPs`; the one that is missing is filled in.
fn match_addresses(spec: &mut ServiceSpec) {
    if spec.cluster_ips.is_empty() && !spec.cluster_ip.is_empty() && has_addresses(spec) {
        spec.cluster_ips = vec![spec.cluster_ip.clone()];
    } else if spec.cluster_ip.is_empty()
        && let Some(first) = spec.cluster_ips.first()
    {
        spec.cluster_ip.clone_from(first);
    }
}

fn has_addresses(spec: &ServiceSpec) -> bool {
    spec.type_ != "ExternalName"
}

fn needs_node_ports(spec: &ServiceSpec) -> bool {
    match spec.type_.as_str() {
        "NodePort" => true,
        "LoadBalancer" => spec.allocate_load_balancer_node_ports != Some(false),
        _ => false,
    }
}

fn needs_health_port(spec: &ServiceSpec) -> bool {
    spec.type_ == "LoadBalancer" && spec.external_traffic_policy == "Local"
}
