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
    if spec.cluster_ip == NONE && spec.selector.is_empty() {
        fill_families_of_others(spec, network);
        return true;
    }
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

/// Whoever makes the endpoints of a service without address and selector chooses their families, so all are
/// allowed unless the client says otherwise (KEP-563, "headless services without selectors").
fn fill_families_of_others(spec: &mut ServiceSpec, network: &ServiceNetwork) {
    let policy = spec.ip_family_policy.get_or_insert_with(|| "RequireDualStack".to_owned());
    if spec.ip_families.is_empty() {
        spec.ip_families.push(network.family().to_owned());
    }
    if policy != "SingleStack" && spec.ip_families.len() == 1 {
        let other = if spec.ip_families[0] == "IPv4" { "IPv6" } else { "IPv4" };
        spec.ip_families.push(other.to_owned());
    }
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
    // What is behind the position is taken: a service with many ports does not look at it again for each.
    let mut ports = range.all();
    let mut give = |number: &mut i32, at: &Path<'_>| {
        if let Some(free) = ports.find(|port| !(own.contains(port) || is_taken(*port))) {
            own.insert(free);
            *number = free;
        } else {
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
        let detail = format!("provided port is not in the valid range. The range of valid ports is {range}");
        violations.push(FieldError::invalid(path, &port, &detail));
    } else if is_taken(port) {
        violations.push(FieldError::invalid(path, &port, "provided port is already allocated"));
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use orch_api::core::v1::Service;
    use orch_registry::{
        error::{ApiError, Result},
        options::DeletionOptions,
    };
    use orch_runtime::Tree;
    use serde_json::json;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer};

    async fn service(server: &TestServer, name: &str, with: Tree) -> Result<Tree> {
        let mut service = json!({"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}});
        let Tree::Object(fields) = with else { panic!("a specification has fields") };
        service["spec"].as_object_mut().unwrap().extend(fields);
        server.create::<Service>(NAMESPACE, service).await
    }

    fn faults(refused: Result<Tree>) -> Vec<String> {
        let Err(ApiError::Invalid { errors, .. }) = refused else { panic!("{refused:?}") };
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn claims_are_addresses_and_ports() {
        let claims_of = |spec: Tree| {
            let claims = claims(&serde_json::from_value(spec).unwrap());
            claims.into_iter().map(|claim| (claim.sort, claim.value)).collect::<Vec<_>>()
        };
        for spec in [json!({}), json!({"clusterIP": "None"})] {
            assert_eq!(claims_of(spec), []);
        }
        let ports = json!([{"port": 1, "nodePort": 7}, {"port": 2, "nodePort": 7}, {"port": 3}]);
        let spec = json!({"clusterIP": "fd00:0::1", "ports": ports, "healthCheckNodePort": 8});
        let expected = [(ADDRESS, "fd00::1"), (NODE_PORT, "7"), (NODE_PORT, "8")];
        assert_eq!(claims_of(spec), expected.map(|(sort, value)| (sort, value.to_owned())));
    }

    #[tokio::test]
    async fn addresses_are_owned_alone() {
        let server = TestServer::start().await;
        let names: Vec<String> = (0..13).map(|n| format!("s{n}")).collect();
        let created = join_all(names.iter().map(|name| service(&server, name, json!({})))).await;
        let addresses: BTreeSet<String> =
            created.into_iter().map(|created| created.unwrap()["spec"]["clusterIP"].to_string()).collect();
        assert_eq!(addresses.len(), 13);
        let full = faults(service(&server, "full", json!({})).await);
        let expected =
            "spec.clusterIPs: Invalid value: []: failed to allocate an IP: range is full".to_owned();
        assert_eq!(full, [expected]);
        service(&server, "headless", json!({"clusterIP": "None"})).await.unwrap();
        for (asked, why) in [
            ("10.0.0.9", "provided IP is already allocated"),
            ("10.0.1.1", "the provided network does not contain IP 10.0.1.1, valid network is 10.0.0.0/28"),
        ] {
            let refused = faults(service(&server, "asked", json!({"clusterIP": asked})).await);
            let text = format!(
                r#"spec.clusterIPs: Invalid value: ["{asked}"]: failed to allocate IP {asked}: {why}"#
            );
            assert_eq!(refused, [text]);
        }
        // An address that is not picked can be asked for, and is kept by an update.
        service(&server, "first", json!({"clusterIP": "10.0.0.1"})).await.unwrap();
        let labelled = |tree: &mut Tree| tree["metadata"]["labels"]["k"] = "v".into();
        let labelled = server.update::<Service>("", NAMESPACE, "first", labelled).await.unwrap();
        assert_eq!(labelled["spec"]["clusterIP"], "10.0.0.1");
        // A deleted service has none.
        let services = server.resource::<Service>();
        server.client.delete(services, NAMESPACE, "s0", DeletionOptions::default()).await.unwrap();
        service(&server, "again", json!({})).await.unwrap();
    }

    #[tokio::test]
    async fn node_ports_are_owned_alone() {
        let server = TestServer::start().await;
        let outside = json!({"type": "NodePort"});
        let names = ["a", "b"];
        let created = join_all(names.iter().map(|name| service(&server, name, outside.clone()))).await;
        let ports: BTreeSet<i64> = created
            .into_iter()
            .map(|created| created.unwrap()["spec"]["ports"][0]["nodePort"].as_i64().unwrap())
            .collect();
        assert_eq!(ports, BTreeSet::from([4000, 4001]));
        let asked = |port: i32| json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]});
        for (port, why) in [
            (4000, "provided port is already allocated"),
            (5000, "provided port is not in the valid range. The range of valid ports is 4000-4002"),
        ] {
            let refused = faults(service(&server, "c", asked(port)).await);
            assert_eq!(refused, [format!("spec.ports[0].nodePort: Invalid value: {port}: {why}")]);
        }
        // A health check needs a port of its own.
        let checked = json!({
            "type": "LoadBalancer", "externalTrafficPolicy": "Local",
            "ports": [{"port": 80, "nodePort": 4002}], "healthCheckNodePort": 4002,
        });
        let refused = faults(service(&server, "c", checked.clone()).await);
        let expected =
            "spec.healthCheckNodePort: Invalid value: 4002: provided port is already allocated".to_owned();
        assert_eq!(refused, [expected]);
        let mut unset = checked;
        unset.as_object_mut().unwrap().remove("healthCheckNodePort");
        let full = faults(service(&server, "c", unset).await);
        let expected =
            "spec.healthCheckNodePort: Invalid value: 0: failed to allocate a nodePort: range is full"
                .to_owned();
        assert_eq!(full, [expected]);
        // Two protocols can have the same port.
        let both = json!([
            {"name": "t", "port": 80, "nodePort": 4002},
            {"name": "u", "port": 80, "protocol": "UDP", "nodePort": 4002},
        ]);
        service(&server, "c", json!({"type": "NodePort", "ports": both})).await.unwrap();
    }
}
