//! Ports of services.

use std::collections::BTreeSet;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
    rule,
};

use crate::{
    core::v1::{ServicePort, ServiceSpec},
    validators::port_number_or_name,
};

/// The highest port number.
const PORT_MAX: i32 = 65535;

/// If there are several ports, each has a unique name. Node ports are unique, and only for types that have
/// them.
pub(super) fn ports(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (mut names, mut node_ports) = (BTreeSet::new(), BTreeSet::new());
    let has_node_ports = matches!(value.type_.as_str(), "NodePort" | "LoadBalancer");
    for (index, port) in value.ports.iter().enumerate() {
        let at = path.index(index);
        if port.name.is_empty() {
            if value.ports.len() > 1 {
                cx.push(FieldError::required(&at.field("name"), ""));
            }
        } else {
            cx.invalid_all(&at.field("name"), &port.name, &constraint::dns_label(&port.name));
            if !names.insert(&port.name) {
                cx.push(FieldError::duplicate(&at.field("name"), &port.name));
            }
        }
        numbers(port, &at, cx);
        if port.node_port != 0 {
            let at = at.field("nodePort");
            if !has_node_ports {
                let detail = format!("may not be used when `type` is '{}'", value.type_);
                cx.push(FieldError::forbidden(&at, &detail));
            } else if !node_ports.insert((&port.protocol, port.node_port)) {
                cx.push(FieldError::duplicate(&at, &port.node_port));
            }
        }
    }
}

fn numbers(port: &ServicePort, path: &Path<'_>, cx: &mut Validation<'_>) {
    rule::between(port.port, 1, PORT_MAX, &path.field("port"), cx);
    if let Some(target) = &port.target_port {
        port_number_or_name(target, &path.field("targetPort"), cx);
    }
    if let Some(protocol) = &port.app_protocol {
        cx.invalid_all(&path.field("appProtocol"), protocol, &constraint::qualified_name(protocol));
    }
}
