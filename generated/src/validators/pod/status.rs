//! Pod status: fields that cannot change, containers that cannot restart, and addresses.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
    rule,
};

use crate::core::v1::{ContainerStatus, Pod};

/// Standard types of conditions; other types are qualified names.
const OWN_CONDITIONS: &[&str] = &["PodScheduled", "Ready", "Initialized"];

/// `qosClass` does not change, terminated containers do not restart, and addresses are valid.
pub(super) fn pod_status_update(new: &Pod, old: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (spec, new, old) = (&old.spec, &new.status, &old.status);
    // The path of these errors is `metadata.conditions`, though conditions are in the status.
    let metadata = path.field("metadata");
    let conditions = metadata.field("conditions");
    for (index, condition) in new.conditions.iter().enumerate() {
        if !OWN_CONDITIONS.contains(&condition.type_.as_str()) {
            let at = conditions.index(index);
            cx.invalid_all(
                &at.field("Type"),
                &condition.type_,
                &constraint::qualified_name(&condition.type_),
            );
        }
    }
    let status = path.field("status");
    let node = new.nominated_node_name.as_str();
    if !node.is_empty() && node != old.nominated_node_name {
        cx.invalid_all(&status.field("nominatedNodeName"), node, &constraint::dns_subdomain(node));
    }
    rule::immutable(&new.qos_class, &old.qos_class, &status.field("qosClass"), cx);
    let policy = spec.restart_policy.as_str();
    // From the end, so that the first of several equal names counts.
    let init = spec.init_containers.iter().rev();
    let policies: BTreeMap<&str, Option<&str>> =
        init.map(|container| (container.name.as_str(), container.restart_policy.as_deref())).collect();
    let is_sidecar = |name: &str| policies.get(name) == Some(&Some("Always"));
    let at = status.field("containerStatuses");
    no_restart(&new.container_statuses, &old.container_statuses, policy, &|_| false, &at, cx);
    let at = status.field("initContainerStatuses");
    no_restart(&new.init_container_statuses, &old.init_container_statuses, policy, &is_sidecar, &at, cx);
    let (new_ones, old_ones) = (&new.ephemeral_container_statuses, &old.ephemeral_container_statuses);
    let at = status.field("ephemeralContainerStatuses");
    no_restart(new_ones, old_ones, "Never", &|_| false, &at, cx);
    let ips: Vec<&str> = new.pod_ips.iter().map(|ip| ip.ip.as_str()).collect();
    addresses(&ips, &status.field("podIPs"), cx);
    let ips: Vec<&str> = new.host_ips.iter().map(|ip| ip.ip.as_str()).collect();
    let hosts = status.field("hostIPs");
    if let Some(first) = ips.first().filter(|first| **first != new.host_ip) {
        let at = hosts.index(0);
        cx.push(FieldError::invalid(&at.field("ip"), *first, "must be equal to `hostIP`"));
    }
    addresses(&ips, &hosts, cx);
}

fn no_restart(
    new: &[ContainerStatus],
    old: &[ContainerStatus],
    policy: &str,
    is_sidecar: &dyn Fn(&str) -> bool,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    if policy == "Always" {
        return;
    }
    let mut running: BTreeMap<&str, usize> = BTreeMap::new();
    for new in new.iter().filter(|new| new.state.terminated.is_none()) {
        *running.entry(&new.name).or_default() += 1;
    }
    for (index, old) in old.iter().enumerate() {
        let Some(end) = &old.state.terminated else { continue };
        let may_restart = (end.exit_code != 0 && policy == "OnFailure") || is_sidecar(&old.name);
        let count = running.get(old.name.as_str()).copied().unwrap_or_default();
        for _ in 0..count {
            if may_restart || cx.is_full() {
                break;
            }
            let detail = "may not be transitioned to non-terminated state";
            cx.push(FieldError::forbidden(&path.index(index).field("state"), detail));
        }
    }
}

/// Addresses are valid, with at most one for each IP family.
fn addresses(ips: &[&str], path: &Path<'_>, cx: &mut Validation<'_>) {
    for (index, ip) in ips.iter().enumerate() {
        cx.invalid_all(&path.index(index), *ip, &constraint::ip(ip));
    }
    if ips.len() < 2 {
        return;
    }
    let families: Vec<Option<bool>> =
        ips.iter().map(|ip| ip.parse::<IpAddr>().ok().map(|ip| ip.is_ipv4())).collect();
    if !matches!(families[..], [Some(first), Some(second)] if first != second) {
        let shown: Vec<_> = ips.iter().map(|ip| serde_json::json!({"ip": ip})).collect();
        let detail = "may specify no more than one IP for each IP family";
        cx.push(FieldError::invalid(path, &Rendered(json(&shown)), detail));
    }
    let mut seen = BTreeSet::new();
    for (index, ip) in ips.iter().enumerate().filter(|(_, ip)| !seen.insert(**ip)) {
        let shown = Rendered(json(&serde_json::json!({"ip": ip})));
        cx.push(FieldError::duplicate(&path.index(index), &shown));
    }
}
