//! `Service`: the addresses and node ports that it owns alone, and what an update keeps.

mod addresses;
mod allocation;
mod families;
mod update;

use orch_api::core::v1::{Service, ServiceSpec};
use orch_machinery::meta::Meta;
use orch_registry::{
    behaviour::{Behaviour, Overruled, WriteInfo, as_sent},
    claims::{Claim, Claimed, Unallocated},
    ranges::Ranges,
};
use orch_runtime::{Tree, field_error::Validation, resource_def::FieldPath};

use self::allocation::Ports;

/// The `clusterIP` of a service without an address.
const NONE: &str = "None";

pub(crate) struct ServiceBehaviour {
    ranges: Ranges,
}

impl ServiceBehaviour {
    /// Services get their addresses and node ports from these ranges.
    pub(crate) fn new(ranges: Ranges) -> Self {
        ServiceBehaviour { ranges }
    }
}

impl Behaviour<Service> for ServiceBehaviour {
    fn validate(
        &self,
        service: &Service,
        _old: Option<&Service>,
        write: &WriteInfo<'_>,
        violations: &mut Validation<'_>,
    ) {
        if write.subresource.is_empty() {
            addresses::warn_of_spellings(&service.spec, violations);
        }
    }

    fn normalize(&self, service: &mut Service) {
        if !has_addresses(&service.spec) {
            service.spec.internal_traffic_policy = None;
        }
    }

    /// The reference keeps the traffic policy of a service that loses its addresses, and hides it. So whoever
    /// set it owns it still when the service gets addresses again.
    fn overruled(&self, sent: &Tree, current: &Tree) -> Vec<Overruled> {
        const POLICY: FieldPath = &["spec", "internalTrafficPolicy"];
        let is_absent = |tree: &Tree| as_sent(tree, POLICY).1.is_none();
        if is_absent(sent) && is_absent(current) && is_owned(current, POLICY) {
            return vec![(POLICY, None)];
        }
        Vec::new()
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
    ) -> Result<(), Unallocated> {
        let old = old.map(|old| &old.spec);
        if let Some(old) = old {
            update::keep_allocated(&mut service.spec, old);
        }
        update::match_addresses(&mut service.spec, old);
        self.give_addresses(service, old, claimed, violations)?;
        if violations.is_empty() {
            self.give_ports(&mut service.spec, old, claimed, violations)?;
        }
        if let Some(old) = old {
            update::drop_with_type(service, old);
        }
        Ok(())
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

impl ServiceBehaviour {
    fn give_addresses(
        &self,
        service: &mut Service,
        old: Option<&ServiceSpec>,
        claimed: &Claimed<'_>,
        violations: &mut Validation<'_>,
    ) -> Result<(), Unallocated> {
        families::fill(service, old, &self.ranges.addresses, violations);
        if !violations.is_empty() {
            return Ok(());
        }
        allocation::allocate_address(&mut service.spec, old, &self.ranges.addresses, claimed, violations)
    }

    fn give_ports(
        &self,
        spec: &mut ServiceSpec,
        old: Option<&ServiceSpec>,
        claimed: &Claimed<'_>,
        violations: &mut Validation<'_>,
    ) -> Result<(), Unallocated> {
        let mut ports = Ports::new(&self.ranges.ports, claimed, old);
        if matches!(spec.type_.as_str(), "LoadBalancer" | "NodePort") {
            match old {
                None => ports.give(spec, violations)?,
                Some(old) => ports.give_more(spec, old, violations)?,
            }
        }
        let needed_health_port = old.is_some_and(needs_health_port);
        if violations.is_empty() && needs_health_port(spec) && !needed_health_port {
            ports.give_for_health(spec)?;
        }
        Ok(())
    }
}

/// Whether a manager owns this field of the object.
fn is_owned(tree: &Tree, path: FieldPath) -> bool {
    let owns = |entry: &Tree| {
        let fields = entry.get("fieldsV1");
        path.iter().fold(fields, |fields, name| fields?.get(format!("f:{name}"))).is_some()
    };
    Meta::of(tree).managed_fields().iter().any(owns)
}

fn has_addresses(spec: &ServiceSpec) -> bool {
    spec.type_ != "ExternalName"
}

fn is_balanced(spec: &ServiceSpec) -> bool {
    spec.type_ == "LoadBalancer"
}

fn needs_node_ports(spec: &ServiceSpec) -> bool {
    match spec.type_.as_str() {
        "NodePort" => true,
        "LoadBalancer" => spec.allocate_load_balancer_node_ports != Some(false),
        _ => false,
    }
}

fn needs_health_port(spec: &ServiceSpec) -> bool {
    is_balanced(spec) && spec.external_traffic_policy == "Local"
}
