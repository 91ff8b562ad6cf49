//! Ports of services.

use std::collections::BTreeSet;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::ServiceSpec;

/// Node ports are unique for their protocol.
pub(super) fn node_ports(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !matches!(value.type_.as_str(), "NodePort" | "LoadBalancer") {
        return;
    }
    let mut seen = BTreeSet::new();
    for (index, port) in value.ports.iter().enumerate().filter(|(_, port)| port.node_port != 0) {
        if !seen.insert((&port.protocol, port.node_port)) {
            cx.push(FieldError::duplicate(&path.index(index).field("nodePort"), &port.node_port));
        }
    }
}
