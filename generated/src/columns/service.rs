//! Services: external addresses, ports and selector.

use orch_runtime::{Tree, resource_def::CellContext};

use super::{items, text};

/// The addresses of the load balancer and `externalIPs`; the external name if the type is `ExternalName`.
pub fn service_external_ip(service: &Tree, _: &CellContext<'_>) -> Tree {
    let balancer = items(service, "/status/loadBalancer/ingress").map(|ingress| match text(ingress, "/ip") {
        "" => text(ingress, "/hostname"),
        ip => ip,
    });
    let given = items(service, "/spec/externalIPs").filter_map(Tree::as_str);
    let addresses: Vec<&str> = match text(service, "/spec/type") {
        "ExternalName" => return text(service, "/spec/externalName").into(),
        "LoadBalancer" => balancer.chain(given).collect(),
        _ => given.collect(),
    };
    match (addresses.is_empty(), text(service, "/spec/type")) {
        (false, _) => addresses.join(",").into(),
        (true, "LoadBalancer") => "<pending>".into(),
        (true, _) => "<none>".into(),
    }
}

/// `80/TCP,443:30443/TCP`.
pub fn service_ports(service: &Tree, _: &CellContext<'_>) -> Tree {
    let number = |port: &Tree, field: &str| port.get(field).and_then(Tree::as_i64).unwrap_or_default();
    let ports = items(service, "/spec/ports").map(|port| {
        let protocol = text(port, "/protocol");
        match (number(port, "port"), number(port, "nodePort")) {
            (own, 0) => format!("{own}/{protocol}"),
            (own, node) => format!("{own}:{node}/{protocol}"),
        }
    });
    ports.collect::<Vec<_>>().join(",").into()
}

/// `app=a,tier=b`.
pub fn service_selector(service: &Tree, _: &CellContext<'_>) -> Tree {
    let labels = service.pointer("/spec/selector").and_then(Tree::as_object);
    let labels = labels.into_iter().flatten().map(|(key, value)| format!("{key}={}", text(value, "")));
    labels.collect::<Vec<_>>().join(",").into()
}
