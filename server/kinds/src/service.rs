//! `Service`: addresses and ports of machines that no other service has, and what an update takes over of them.
//!
//! What is taken is looked up in the services that exist, so it is free again when a service goes, and nothing has to be
//! kept over a restart. Whoever allocates holds the server's lock for that.

mod network;
mod node_ports;

use std::collections::BTreeSet;

use orch_api::core::v1::{LoadBalancerStatus, Service, ServicePort, ServiceSpec};
use orch_runtime::{
    field_error::{FieldError, Rendered, Validation, json},
    object::ApiObject,
    path::Path,
    resource_def::FieldPath,
};
use orch_storage::Object;

pub use self::{network::ServiceNetwork, node_ports::NodePorts};
use super::{Change, Hooks};
use crate::{app::App, catalog::ServedResource, registry::current};

const NONE: &str = "None";

pub(super) struct ServiceHooks;

impl Hooks for ServiceHooks {
    fn prepare(&self, object: &mut dyn ApiObject, old: Option<&dyn ApiObject>, change: &Change<'_>) {
        let Some(service) = object.as_any_mut().downcast_mut::<Service>() else { return };
        if service.spec.type_ != "LoadBalancer" && change.subresource != "status" {
            service.status.load_balancer = LoadBalancerStatus::default();
        }
        let new = &mut service.spec;
        if let Some(old) = old.and_then(|old| old.as_any().downcast_ref::<Service>()) {
            take_over(new, &old.spec);
            drop_outside(new, &old.spec);
        }
        if new.cluster_ips.is_empty() && !new.cluster_ip.is_empty() && has_addresses(new) {
            new.cluster_ips = vec![new.cluster_ip.clone()];
        } else if new.cluster_ip.is_empty()
            && let Some(first) = new.cluster_ips.first()
        {
            new.cluster_ip.clone_from(first);
        }
    }

    fn validate(
        &self,
        object: &dyn ApiObject,
        old: Option<&dyn ApiObject>,
        _change: &Change<'_>,
        cx: &mut Validation<'_>,
    ) {
        let service =
            |object: &dyn ApiObject| object.as_any().downcast_ref::<Service>().map(|it| it.spec.clone());
        let (Some(new), Some(old)) = (service(object), old.and_then(service)) else { return };
        let spec = Path::ROOT.field("spec");
        let keeps = has_addresses(&new) && has_addresses(&old) && !old.cluster_ip.is_empty();
        if keeps && new.cluster_ip != old.cluster_ip {
            let shown = Rendered(json(&new.cluster_ips));
            cx.push(FieldError::invalid(
                &spec.field("clusterIPs").index(0),
                &shown,
                "may not change once set",
            ));
        }
        if keeps && new.cluster_ip != NONE && new.ip_families.first() != old.ip_families.first() {
            let shown = Rendered(json(&new.ip_families));
            let at = spec.field("ipFamilies");
            cx.push(FieldError::invalid(&at.index(0), &shown, "may not change once set"));
        }
        let is_balanced = [&new, &old].iter().all(|spec| spec.type_ == "LoadBalancer");
        if is_balanced && new.load_balancer_class != old.load_balancer_class {
            let detail = "may not change once set";
            cx.push(FieldError::invalid(&spec.field("loadBalancerClass"), &new.load_balancer_class, detail));
        }
        let is_checked = needs_health_port(&new) && needs_health_port(&old);
        if is_checked && new.health_check_node_port != old.health_check_node_port {
            cx.push(FieldError::forbidden(&spec.field("healthCheckNodePort"), "field is immutable"));
        }
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

    fn allocates(&self) -> bool {
        true
    }

    fn allocate(
        &self,
        app: &App,
        object: &mut dyn ApiObject,
        old: Option<&dyn ApiObject>,
        cx: &mut Validation<'_>,
    ) {
        let Some(service) = object.as_any_mut().downcast_mut::<Service>() else { return };
        let Some(resource) = app.catalog.resource("", "v1", "services") else { return };
        let old = old.and_then(|old| old.as_any().downcast_ref::<Service>());
        let taken = Taken::besides(app, resource, &service.metadata.uid);
        addresses(&mut service.spec, old.map(|old| &old.spec), &app.service_network, &taken, cx);
        node_ports(&mut service.spec, &app.node_ports, &taken, cx);
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

/// A client that leaves out what it was given keeps it; what the new type cannot have goes.
fn take_over(new: &mut ServiceSpec, old: &ServiceSpec) {
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
    let is_same =
        |port: &ServicePort, other: &ServicePort| port.port == other.port && port.protocol == other.protocol;
    for port in &mut new.ports {
        let known = old.ports.iter().find(|other| is_same(port, other)).map_or(0, |other| other.node_port);
        match new.type_.as_str() {
            "NodePort" | "LoadBalancer" if port.node_port == 0 => port.node_port = known,
            "ClusterIP" | "ExternalName" | "" if port.node_port == known => port.node_port = 0,
            _ => {}
        }
    }
    if new.health_check_node_port == 0 || !needs_health_port(new) {
        new.health_check_node_port = if needs_health_port(new) { old.health_check_node_port } else { 0 };
    }
}

/// What only says how a service is reached from outside goes when it no longer is, unless a client sets it anew.
fn drop_outside(new: &mut ServiceSpec, old: &ServiceSpec) {
    let is_reached = |spec: &ServiceSpec| {
        matches!(spec.type_.as_str(), "LoadBalancer" | "NodePort")
            || (spec.type_ == "ClusterIP" && !spec.external_ips.is_empty())
    };
    if !is_reached(new) && new.external_traffic_policy == old.external_traffic_policy {
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

fn needs_health_port(spec: &ServiceSpec) -> bool {
    spec.type_ == "LoadBalancer" && spec.external_traffic_policy == "Local"
}

fn addresses(
    spec: &mut ServiceSpec,
    old: Option<&ServiceSpec>,
    network: &ServiceNetwork,
    taken: &Taken,
    cx: &mut Validation<'_>,
) {
    if !has_addresses(spec) {
        return;
    }
    let path = Path::ROOT.field("spec");
    let policy = spec.ip_family_policy.get_or_insert_with(|| "SingleStack".to_owned());
    if policy == "RequireDualStack" {
        let detail = "this cluster is not configured for dual-stack services";
        return cx.push(FieldError::invalid(&path.field("ipFamilyPolicy"), policy, detail));
    }
    match spec.ip_families.first() {
        None => spec.ip_families = vec![network.family().to_owned()],
        Some(family) if family != network.family() => {
            let detail = "not configured on this cluster";
            return cx.push(FieldError::invalid(&path.field("ipFamilies").index(0), family, detail));
        }
        Some(_) => {}
    }
    let at = path.field("clusterIPs");
    let asked = spec.cluster_ip.as_str();
    if asked == NONE || old.is_some_and(|old| old.cluster_ip == asked && !asked.is_empty()) {
        return;
    }
    let refused = |why: &str| {
        let shown = Rendered(json(&spec.cluster_ips));
        FieldError::invalid(&at, &shown, &format!("failed to allocate IP {asked}: {why}"))
    };
    if asked.is_empty() {
        let free = network.free(|address| taken.addresses.contains(address));
        let Some(free) = free else {
            return cx.push(FieldError::invalid(
                &at,
                &Rendered("[]".to_owned()),
                "failed to allocate an IP: range is full",
            ));
        };
        spec.cluster_ip.clone_from(&free);
        spec.cluster_ips = vec![free];
    } else if !network.holds(asked) {
        cx.push(refused(&format!(
            "the provided network does not contain IP {asked}, valid network is {network}"
        )));
    } else if taken.addresses.contains(asked) {
        cx.push(refused("provided IP is already allocated"));
    }
}

fn node_ports(spec: &mut ServiceSpec, all: &NodePorts, taken: &Taken, cx: &mut Validation<'_>) {
    let needed = needs_node_ports(spec);
    let path = Path::ROOT.field("spec");
    let list = path.field("ports");
    let mut used = taken.node_ports.clone();
    for (index, port) in spec.ports.iter().enumerate().filter(|(_, port)| port.node_port != 0) {
        let at = list.index(index);
        claim(port.node_port, all, &taken.node_ports, &at.field("nodePort"), cx);
        used.insert(port.node_port);
    }
    if spec.health_check_node_port != 0 {
        claim(spec.health_check_node_port, all, &used, &path.field("healthCheckNodePort"), cx);
        used.insert(spec.health_check_node_port);
    }
    let mut give = |number: &mut i32, at: &Path<'_>, cx: &mut Validation<'_>| match all
        .free(|port| used.contains(&port))
    {
        Some(free) => {
            used.insert(free);
            *number = free;
        }
        None => cx.push(FieldError::invalid(at, &0_i32, "failed to allocate a nodePort: range is full")),
    };
    for (index, port) in spec.ports.iter_mut().enumerate().filter(|(_, port)| needed && port.node_port == 0) {
        let at = list.index(index);
        give(&mut port.node_port, &at.field("nodePort"), cx);
    }
    let needs_health_port = needs_health_port(spec);
    if needs_health_port && spec.health_check_node_port == 0 {
        give(&mut spec.health_check_node_port, &path.field("healthCheckNodePort"), cx);
    }
}

/// A port that was asked for is one that services get, and nobody else's.
fn claim(number: i32, all: &NodePorts, taken: &BTreeSet<i32>, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !all.contains(number) {
        let detail = format!("provided port is not in the valid range. The range of valid ports is {all}");
        cx.push(FieldError::invalid(path, &number, &detail));
    } else if taken.contains(&number) {
        cx.push(FieldError::invalid(path, &number, "provided port is already allocated"));
    }
}

/// What services have.
#[derive(Default)]
struct Taken {
    addresses: BTreeSet<String>,
    node_ports: BTreeSet<i32>,
}

/// What one service has; remembered with each state of it.
struct Owned {
    uid: String,
    address: String,
    node_ports: Vec<i32>,
}

impl Taken {
    /// What all services but that of the uid have.
    fn besides(app: &App, resource: &ServedResource, uid: &str) -> Self {
        let mut taken = Taken::default();
        for object in app.storage.snapshot(&resource.storage_name).iter() {
            let owned = object.memo::<Owned>(|object| Owned::of(resource, object));
            if owned.uid != uid {
                taken.addresses.insert(owned.address.clone());
                taken.node_ports.extend(&owned.node_ports);
            }
        }
        taken
    }
}

impl Owned {
    fn of(resource: &ServedResource, object: &Object) -> Self {
        let read = current::tree_of(resource, object).ok();
        let service: Service = read.and_then(|tree| serde_json::from_value(tree).ok()).unwrap_or_default();
        let spec = service.spec;
        let ports = spec.ports.iter().map(|port| port.node_port).chain([spec.health_check_node_port]);
        Owned {
            uid: service.metadata.uid,
            node_ports: ports.filter(|number| *number != 0).collect(),
            address: spec.cluster_ip,
        }
    }
}
