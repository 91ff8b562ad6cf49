//! What a service owns alone among all services: its address and its ports of nodes.
//!
//! A client may ask for a free value; otherwise the server finds one. Nothing is reserved here: what a
//! service comes to own are its claims, which the registry makes conditions of the commit.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    net::IpAddr,
    ops::RangeInclusive,
};

use orch_api::core::v1::ServiceSpec;
use orch_registry::{
    claims::{Claim, Claimed, Unallocated},
    ranges::{AddressRange, PortRange},
};
use orch_runtime::{
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use super::{NONE, has_addresses, needs_node_ports, update};

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

/// Gives a service without addresses the one that it asks for, or a free one. One that has addresses keeps
/// them. Rust, because it depends on other services.
///
/// # Errors
/// 500 where no address is left.
pub(super) fn allocate_address(
    spec: &mut ServiceSpec,
    old: Option<&ServiceSpec>,
    network: &AddressRange,
    claimed: &Claimed<'_>,
    violations: &mut Validation<'_>,
) -> Result<(), Unallocated> {
    let is_headless = spec.cluster_ips.first().is_some_and(|first| first == NONE);
    if !has_addresses(spec) || is_headless || old.is_some_and(has_addresses) {
        return Ok(());
    }
    let is_taken = |address: &str| claimed.is_taken(ADDRESS, address);
    let Some(asked) = spec.cluster_ips.first() else {
        let free = network.free(is_taken).ok_or_else(|| full("a serviceIP"))?;
        spec.cluster_ip.clone_from(&free);
        spec.cluster_ips = vec![free];
        return Ok(());
    };
    let why = match canonical(asked) {
        Some(_) if !network.holds(asked) => {
            format!(
                "the provided IP ({asked}) is not in the valid range. The range of valid IPs is {network}"
            )
        }
        Some(address) if is_taken(&address) => "provided IP is already allocated".to_owned(),
        _ => return Ok(()),
    };
    let at = Path::ROOT.field("spec");
    let shown = Rendered(json(&spec.cluster_ips));
    let detail = format!("failed to allocate IP {asked}: {why}");
    violations.push(FieldError::invalid(&at.field("clusterIPs"), &shown, &detail));
    Ok(())
}

/// Nothing is left to choose from.
fn full(what: &str) -> Unallocated {
    Unallocated::Failed(format!("failed to allocate {what}: range is full"))
}

/// What one write of a service finds out about ports of nodes.
pub(super) struct Ports<'a> {
    range: &'a PortRange,
    claimed: &'a Claimed<'a>,
    /// Those that the service has now, or gets by this write.
    own: BTreeSet<i32>,
    /// Those that were not looked at yet. What is behind the position is taken: a service with many ports
    /// does not look at it again for each.
    left: RangeInclusive<i32>,
}

impl<'a> Ports<'a> {
    pub(super) fn new(range: &'a PortRange, claimed: &'a Claimed<'a>, old: Option<&ServiceSpec>) -> Self {
        let own = old.map(update::node_ports).unwrap_or_default();
        let of_health = old.map(|old| old.health_check_node_port).filter(|port| *port != 0);
        Ports { range, claimed, own: own.into_iter().chain(of_health).collect(), left: range.all() }
    }

    /// Why a service cannot have the port that it asks for; it has it otherwise.
    fn ask(&mut self, port: i32) -> Option<String> {
        if !self.range.contains(port) {
            let range = self.range;
            return Some(format!(
                "provided port is not in the valid range. The range of valid ports is {range}"
            ));
        }
        let is_taken = self.is_taken(port) || !self.own.insert(port);
        is_taken.then(|| "provided port is already allocated".to_owned())
    }

    /// A free port.
    fn choose(&mut self, what: &str) -> Result<i32, Unallocated> {
        let mut left = self.left.clone();
        let free = left.find(|port| !self.own.contains(port) && !self.is_taken(*port));
        self.left = left;
        let free = free.ok_or_else(|| full(what))?;
        self.own.insert(free);
        Ok(free)
    }

    fn is_taken(&self, port: i32) -> bool {
        self.claimed.is_taken(NODE_PORT, &port.to_string())
    }

    /// Gives a new service the ports that it asks for, or free ones. Ports with the same number in the
    /// network of pods, such as one of TCP and one of UDP, get the same number on the nodes.
    ///
    /// # Errors
    /// 500 where no port is left.
    pub(super) fn give(
        &mut self,
        spec: &mut ServiceSpec,
        violations: &mut Validation<'_>,
    ) -> Result<(), Unallocated> {
        // From the end, so that the first of several counts.
        let asked = spec.ports.iter().rev().filter(|port| port.node_port != 0);
        let asked: HashMap<i32, i32> = asked.map(|port| (port.port, port.node_port)).collect();
        let mut given: HashMap<i32, i32> = HashMap::new();
        let needed = needs_node_ports(spec);
        for (index, port) in
            spec.ports.iter_mut().enumerate().filter(|(_, port)| needed || port.node_port != 0)
        {
            let same = given.get(&port.port).copied();
            let wanted = match same {
                None => asked.get(&port.port).copied(),
                Some(same) => Some(port.node_port).filter(|wanted| ![0, same].contains(wanted)),
            };
            let why = wanted.and_then(|wanted| self.ask(wanted));
            if let (Some(wanted), Some(why)) = (wanted, why) {
                violations.push(refused(index, wanted, &why));
                return Ok(());
            }
            port.node_port = match (wanted, same) {
                (Some(wanted), _) => wanted,
                (None, Some(same)) => same,
                (None, None) => self.choose("a nodePort")?,
            };
            given.entry(port.port).or_insert(port.node_port);
        }
        Ok(())
    }

    /// Gives a service that is there already the ports that it asks for now, and free ones.
    ///
    /// # Errors
    /// 500 where no port is left, and where two ports of a protocol ask for the same one.
    pub(super) fn give_more(
        &mut self,
        spec: &mut ServiceSpec,
        old: &ServiceSpec,
        violations: &mut Validation<'_>,
    ) -> Result<(), Unallocated> {
        let mut had = update::node_ports(old);
        let mut used: HashSet<(String, i32)> = HashSet::new();
        let gives = needs_node_ports(spec);
        for (index, port) in
            spec.ports.iter_mut().enumerate().filter(|(_, port)| gives || port.node_port != 0)
        {
            if port.node_port == 0 {
                port.node_port = self.choose("a nodePort")?;
            } else if had.insert(port.node_port)
                && let Some(why) = self.ask(port.node_port)
            {
                violations.push(refused(index, port.node_port, &why));
                return Ok(());
            }
            if !used.insert((port.protocol.clone(), port.node_port)) {
                let message = format!("duplicate nodePort: {{{} {}}}", port.protocol, port.node_port);
                return Err(Unallocated::Contradiction(message));
            }
        }
        Ok(())
    }

    /// Gives a service a port for health checks: the one that it asks for, or a free one.
    ///
    /// # Errors
    /// 500 where it cannot have it.
    pub(super) fn give_for_health(&mut self, spec: &mut ServiceSpec) -> Result<(), Unallocated> {
        let asked = spec.health_check_node_port;
        if asked == 0 {
            spec.health_check_node_port = self.choose("a HealthCheck NodePort 0")?;
            return Ok(());
        }
        let Some(why) = self.ask(asked) else { return Ok(()) };
        let message = format!("failed to allocate requested HealthCheck NodePort {asked}: {why}");
        Err(Unallocated::Failed(message))
    }
}

/// Rust, because it depends on other services.
fn refused(index: usize, port: i32, why: &str) -> FieldError {
    let at = Path::ROOT.field("spec");
    let at = at.field("ports");
    FieldError::invalid(&at.index(index).field("nodePort"), &port, why)
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

    fn fault(refused: Result<Tree>) -> String {
        let Err(ApiError::Internal { public, .. }) = refused else { panic!("{refused:?}") };
        public
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
        let full = service(&server, "full", json!({})).await;
        assert_eq!(fault(full), "failed to allocate a serviceIP: range is full");
        service(&server, "headless", json!({"clusterIP": "None"})).await.unwrap();
        for (asked, why) in [
            ("10.0.0.9", "provided IP is already allocated"),
            (
                "10.0.1.1",
                "the provided IP (10.0.1.1) is not in the valid range. The range of valid IPs is 10.0.0.0/28",
            ),
        ] {
            let refused = faults(service(&server, "asked", json!({"clusterIP": asked})).await);
            let text = format!(
                r#"spec.clusterIPs: Invalid value: []string{{"{asked}"}}: failed to allocate IP {asked}: {why}"#
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
        let refused = service(&server, "c", checked.clone()).await;
        let expected =
            "failed to allocate requested HealthCheck NodePort 4002: provided port is already allocated";
        assert_eq!(fault(refused), expected);
        let mut unset = checked;
        unset.as_object_mut().unwrap().remove("healthCheckNodePort");
        let full = service(&server, "c", unset).await;
        assert_eq!(fault(full), "failed to allocate a HealthCheck NodePort 0: range is full");
        // Two protocols can have the same port.
        let both = json!([
            {"name": "t", "port": 80, "nodePort": 4002},
            {"name": "u", "port": 80, "protocol": "UDP", "nodePort": 4002},
        ]);
        service(&server, "c", json!({"type": "NodePort", "ports": both})).await.unwrap();
    }
}
