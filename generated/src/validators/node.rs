//! Nodes: taints, addresses, amounts and ranges of addresses, and what stays once it is given.

use std::{collections::HashSet, net::IpAddr};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use crate::core::v1::{Node, Taint};

const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Taints and addresses are not told twice, amounts are not negative, and there is one range for each IP family at most.
/// Taints are reported below `metadata`: that is where clients expect them.
pub fn node(value: &Node, path: &Path<'_>, cx: &mut Validation<'_>) {
    taints(&value.spec.taints, &path.field("metadata").field("taints"), cx);
    let status = path.field("status");
    let at = status.field("addresses");
    let mut addresses = HashSet::new();
    for (index, address) in value.status.addresses.iter().enumerate() {
        if !addresses.insert((&address.type_, &address.address)) {
            cx.push(FieldError::duplicate(&at.index(index), &Rendered(json(address))));
        }
    }
    for (field, amounts) in [("capacity", &value.status.capacity), ("allocatable", &value.status.allocatable)]
    {
        let at = status.field(field);
        for (resource, amount) in amounts {
            super::quantity_not_negative(amount, &at.field(resource), cx);
        }
    }
    ranges(&value.spec.pod_cidrs, &path.field("spec").field("podCIDRs"), cx);
}

/// Ranges and the provider's name are given once, and what nobody uses any more stays as it is.
pub fn node_update(new: &Node, old: &Node, path: &Path<'_>, cx: &mut Validation<'_>) {
    let spec = path.field("spec");
    let (new, old) = (&new.spec, &old.spec);
    if !old.pod_cidrs.is_empty() && new.pod_cidrs != old.pod_cidrs {
        let detail = "node updates may not change podCIDR except from \"\" to valid";
        cx.push(FieldError::forbidden(&spec.field("podCIDRs"), detail));
    }
    if !old.provider_id.is_empty() && new.provider_id != old.provider_id {
        let detail = "node updates may not change providerID except from \"\" to valid";
        cx.push(FieldError::forbidden(&spec.field("providerID"), detail));
    }
    if new.external_id != old.external_id {
        let detail = "node updates may only change labels, taints, or capacity";
        cx.push(FieldError::forbidden(path, detail));
    }
}

fn taints(taints: &[Taint], path: &Path<'_>, cx: &mut Validation<'_>) {
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

fn ranges(ranges: &[String], path: &Path<'_>, cx: &mut Validation<'_>) {
    for (index, range) in ranges.iter().enumerate() {
        cx.invalid_all(&path.index(index), range, &constraint::cidr(range));
    }
    let is_v6 = |range: &String| {
        let address = range.split_once('/').map_or(range.as_str(), |(address, _)| address);
        address.parse().is_ok_and(|address: IpAddr| address.is_ipv6())
    };
    let families: HashSet<bool> = ranges.iter().map(is_v6).collect();
    if families.len() < ranges.len() {
        let detail = "may specify no more than one CIDR for each IP family";
        cx.push(FieldError::invalid(path, &Rendered(json(&ranges)), detail));
    }
}
