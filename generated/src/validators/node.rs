//! Nodes: taints, addresses, amounts, pod CIDRs, and fields that cannot change.

use std::{collections::HashSet, net::IpAddr};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
    rule,
};

use crate::core::v1::{Node, NodeAddress, Taint};

const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Taints are unique, amounts are not negative, and there is one pod CIDR at most for each IP family.
pub fn node(value: &Node, path: &Path<'_>, cx: &mut Validation<'_>) {
    taints(&value.spec.taints, path, cx);
    let status = path.field("status");
    for (field, amounts) in [("capacity", &value.status.capacity), ("allocatable", &value.status.allocatable)]
    {
        let at = status.field(field);
        for (resource, amount) in amounts {
            let at = at.field(resource);
            rule::not_negative(amount, &at, cx);
            if is_whole_number(resource, cx.vocabulary.label_domain) && !amount.is_whole() {
                cx.push(FieldError::invalid(&at, &amount.to_string(), "must be an integer"));
            }
        }
    }
    pod_cidrs(&value.spec.pod_cidrs, &path.field("spec").field("podCIDRs"), cx);
}

/// Addresses are unique, pod CIDRs and the provider's ID are set only once, and the external ID does not
/// change. Taints are checked here again, so an update reports each of their errors twice.
pub fn node_update(new: &Node, old: &Node, path: &Path<'_>, cx: &mut Validation<'_>) {
    addresses(&new.status.addresses, &path.field("status").field("addresses"), cx);
    let spec = path.field("spec");
    let (ranges, old_ranges) = (&new.spec.pod_cidrs, &old.spec.pod_cidrs);
    let changed = match old_ranges.len() {
        0 => 0,
        len if len != ranges.len() => 1,
        _ => ranges.iter().zip(old_ranges).filter(|(new, old)| new != old).count(),
    };
    for _ in 0..changed {
        let detail = "node updates may not change podCIDR except from \"\" to valid";
        cx.push(FieldError::forbidden(&spec.field("podCIDRs"), detail));
    }
    if !old.spec.provider_id.is_empty() && new.spec.provider_id != old.spec.provider_id {
        let detail = "node updates may not change providerID except from \"\" to valid";
        cx.push(FieldError::forbidden(&spec.field("providerID"), detail));
    }
    taints(&new.spec.taints, path, cx);
    if new.spec.external_id != old.spec.external_id {
        cx.push(FieldError::forbidden(&spec.field("externalID"), "may not be updated"));
    }
}

fn addresses(addresses: &[NodeAddress], path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut seen = HashSet::new();
    for (index, address) in addresses.iter().enumerate() {
        if !seen.insert((&address.type_, &address.address)) {
            cx.push(FieldError::duplicate(&path.index(index), &Rendered(json(address))));
        }
    }
}

/// Whether amounts are whole numbers: pods, and resources with a prefix outside the product.
fn is_whole_number(resource: &str, domain: &str) -> bool {
    resource == "pods" || (resource.contains('/') && !resource.contains(&format!("{domain}/")))
}

/// The path of these errors is `metadata.taints`, though taints are in the spec.
fn taints(taints: &[Taint], path: &Path<'_>, cx: &mut Validation<'_>) {
    let metadata = path.field("metadata");
    let path = metadata.field("taints");
    let mut seen = HashSet::new();
    for (index, taint) in taints.iter().enumerate() {
        let at = path.index(index);
        cx.invalid_all(&at.field("key"), &taint.key, &constraint::qualified_name(&taint.key));
        let faults = constraint::label_value(&taint.value);
        if !faults.is_empty() {
            cx.push(FieldError::invalid(&at.field("value"), &taint.value, &faults.join(";")));
        }
        let effect = at.field("effect");
        if taint.effect.is_empty() {
            cx.push(FieldError::required(&effect, ""));
        } else if !EFFECTS.contains(&taint.effect.as_str()) {
            cx.push(FieldError::not_supported(&effect, &taint.effect, EFFECTS));
        }
        if !seen.insert((&taint.key, &taint.effect)) {
            let mut error = FieldError::duplicate(&at, &Rendered(json(taint)));
            error.body.push_str(": taints must be unique by key and effect pair");
            cx.push(error);
        }
    }
}

fn pod_cidrs(cidrs: &[String], path: &Path<'_>, cx: &mut Validation<'_>) {
    for (index, cidr) in cidrs.iter().enumerate() {
        cx.invalid_all(&path.index(index), cidr, &constraint::cidr(cidr));
    }
    let is_v6 = |cidr: &String| {
        let address = cidr.split_once('/').map_or(cidr.as_str(), |(address, _)| address);
        address.parse().is_ok_and(|address: IpAddr| address.is_ipv6())
    };
    let families: HashSet<bool> = cidrs.iter().map(is_v6).collect();
    if families.len() < cidrs.len() {
        let detail = "may specify no more than one CIDR for each IP family";
        cx.push(FieldError::invalid(path, &Rendered(json(&cidrs)), detail));
    }
    let mut seen = HashSet::new();
    for (index, cidr) in cidrs.iter().enumerate().filter(|(_, cidr)| !seen.insert(*cidr)) {
        cx.push(FieldError::duplicate(&path.index(index), cidr));
    }
}
