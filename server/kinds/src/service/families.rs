//! The address families of a service: which ones it has, and whether the network has them too.

use std::net::IpAddr;

use orch_api::core::v1::{Service, ServiceSpec};
use orch_registry::ranges::AddressRange;
use orch_runtime::{
    field_error::{FieldError, Reason, Rendered, Validation, json},
    object::ApiObject,
    path::Path,
};

use super::{NONE, has_addresses};

const SINGLE: &str = "SingleStack";
const PREFER_DUAL: &str = "PreferDualStack";
const REQUIRE_DUAL: &str = "RequireDualStack";

/// Where rules about addresses and families report what is wrong, in the order in which they are told.
const RELATED: [&str; 4] = ["", "spec.ipFamilies", "spec.ipFamilyPolicy", "spec.clusterIPs"];
/// The place of the addresses in that order.
const ADDRESSES: usize = 3;
/// What the rules about `clusterIP` and the list together say.
const OF_BOTH: &str = "`clusterIP`";
/// Part of the message of the rule that forbids `None` for some types: that rule is told with all others.
const OF_TYPES: &str = "may not be set to 'None' for ";

/// Fills in the families of addresses and the policy of families. Where they do not fit together, or the
/// network does not have them, that is reported alone: nothing can be allocated then.
pub(super) fn fill(
    service: &mut Service,
    old: Option<&ServiceSpec>,
    network: &AddressRange,
    violations: &mut Validation<'_>,
) {
    if !has_addresses(&service.spec) || old.is_some_and(|old| stays_preferred(&service.spec, old)) {
        return;
    }
    fill_policy(&mut service.spec, old);
    report_related_faults(service, violations);
    if !violations.is_empty() {
        return;
    }
    let spec = &mut service.spec;
    if let Some(old) = old {
        release_second(spec, old, violations);
    }
    refuse_two_of_single(spec, violations);
    infer_families(spec, network, violations);
    if !violations.is_empty() {
        return;
    }
    if spec.cluster_ip == NONE && spec.selector.is_empty() {
        fill_families_of_others(spec, network);
        return;
    }
    refuse_unknown_families(spec, network, violations);
    if violations.is_empty() && spec.ip_families.is_empty() {
        spec.ip_families = vec![network.family().to_owned()];
    }
}

/// Whether a service that prefers two families stays as it is: it keeps the families that it got when the
/// network had fewer.
fn stays_preferred(new: &ServiceSpec, old: &ServiceSpec) -> bool {
    let prefers = |policy: &Option<String>| policy.as_deref() == Some(PREFER_DUAL);
    prefers(&new.ip_family_policy)
        && (prefers(&old.ip_family_policy) || old.ip_family_policy.is_none())
        && new.type_ == old.type_
        && new.cluster_ips == old.cluster_ips
        && new.ip_families == old.ip_families
}

/// Whoever makes the endpoints of a service without address and selector chooses their families, so all are
/// allowed unless the client says otherwise (KEP-563, "headless services without selectors").
fn fill_policy(spec: &mut ServiceSpec, old: Option<&ServiceSpec>) {
    if spec.ip_family_policy.is_some() {
        return;
    }
    let kept = old.and_then(|old| old.ip_family_policy.clone());
    let is_of_others = spec.cluster_ip == NONE && spec.selector.is_empty();
    let chosen = || if is_of_others { REQUIRE_DUAL } else { SINGLE }.to_owned();
    spec.ip_family_policy = Some(kept.unwrap_or_else(chosen));
}

/// What the schema says of addresses, families and their policy: first how `clusterIP` goes with the list.
/// Where it has more to say than is kept, everything.
fn report_related_faults(service: &Service, violations: &mut Validation<'_>) {
    let mut all = Validation::new(violations.vocabulary);
    service.validate(&mut all);
    // Where there are so many, errors of addresses may be among those that were dropped: nothing is filled
    // in.
    let is_full = all.is_full();
    let place = |error: &FieldError| if is_full { Some(Place::default()) } else { place(error) };
    let mut related: Vec<(Place, FieldError)> =
        all.into_errors().into_iter().filter_map(|error| Some((place(&error)?, error))).collect();
    related.sort_by_key(|(place, _)| *place);
    for (_, error) in related {
        violations.push(error);
    }
}

/// The sort key of an error: the position of its field in [`RELATED`], the index of the family, and
/// duplicates after others.
type Place = (usize, usize, bool);

fn place(error: &FieldError) -> Option<Place> {
    let (field, item) = error.field.split_once('[').unwrap_or((&error.field, ""));
    let place = RELATED.iter().position(|related| *related == field)?;
    if error.body.contains(OF_TYPES) {
        return None;
    }
    Some(match place {
        ADDRESSES if error.body.contains(OF_BOTH) => (0, 0, false),
        ADDRESSES => (ADDRESSES, 0, false),
        _ => {
            let item = item.trim_end_matches(']').parse().unwrap_or_default();
            (place, item, error.reason == Reason::Duplicate)
        }
    })
}

/// The policy of one family says that the second one goes, unless the client changes addresses or families
/// too. Without that policy it cannot go.
fn release_second(spec: &mut ServiceSpec, old: &ServiceSpec, violations: &mut Validation<'_>) {
    if is_single(spec) {
        if spec.cluster_ips == old.cluster_ips {
            spec.cluster_ips.truncate(1);
        }
        if spec.ip_families == old.ip_families {
            spec.ip_families.truncate(1);
        }
        return;
    }
    let is_less = |new: &[String], old: &[String]| !new.is_empty() && new.len() < old.len();
    if is_less(&spec.cluster_ips, &old.cluster_ips) {
        refuse_policy(spec, "must be 'SingleStack' to release the secondary cluster IP", violations);
    }
    if is_less(&spec.ip_families, &old.ip_families) {
        refuse_policy(spec, "must be 'SingleStack' to release the secondary IP family", violations);
    }
}

fn refuse_two_of_single(spec: &ServiceSpec, violations: &mut Validation<'_>) {
    for (values, what) in [(&spec.cluster_ips, "cluster IPs"), (&spec.ip_families, "IP families")] {
        if is_single(spec) && values.len() == 2 {
            let detail =
                format!("must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified");
            refuse_policy(spec, &detail, violations);
        }
    }
}

/// Addresses that the client asks for say which families they are of: Rust, because the network has only
/// some.
fn infer_families(spec: &mut ServiceSpec, network: &AddressRange, violations: &mut Validation<'_>) {
    let at = Path::ROOT.field("spec");
    let at = at.field("clusterIPs");
    if spec.cluster_ip == NONE {
        return;
    }
    let shown = Rendered(json(&spec.cluster_ips));
    for index in spec.ip_families.len()..spec.cluster_ips.len() {
        let family = match spec.cluster_ips[index].parse() {
            Ok(IpAddr::V4(_)) => "IPv4",
            _ => "IPv6",
        };
        if family == network.family() {
            spec.ip_families.push(family.to_owned());
        } else {
            let detail = format!("{family} is not configured on this cluster");
            violations.push(FieldError::invalid(&at.index(index), &shown, &detail));
        }
    }
}

fn fill_families_of_others(spec: &mut ServiceSpec, network: &AddressRange) {
    if spec.ip_families.is_empty() {
        spec.ip_families.push(network.family().to_owned());
    }
    if !is_single(spec) && spec.ip_families.len() == 1 {
        let other = if spec.ip_families[0] == "IPv4" { "IPv6" } else { "IPv4" };
        spec.ip_families.push(other.to_owned());
    }
}

/// Rust, because it depends on the network.
fn refuse_unknown_families(spec: &ServiceSpec, network: &AddressRange, violations: &mut Validation<'_>) {
    if spec.ip_family_policy.as_deref() == Some(REQUIRE_DUAL) {
        refuse_policy(spec, "this cluster is not configured for dual-stack services", violations);
    }
    let at = Path::ROOT.field("spec");
    let at = at.field("ipFamilies");
    for (index, family) in spec.ip_families.iter().enumerate() {
        if family != network.family() {
            violations.push(FieldError::invalid(&at.index(index), family, "not configured on this cluster"));
        }
    }
}

fn is_single(spec: &ServiceSpec) -> bool {
    spec.ip_family_policy.as_deref() == Some(SINGLE)
}

/// Rust, because it depends on the network, and nothing is allocated then.
fn refuse_policy(spec: &ServiceSpec, detail: &str, violations: &mut Validation<'_>) {
    let at = Path::ROOT.field("spec");
    violations.push(FieldError::invalid(&at.field("ipFamilyPolicy"), &spec.ip_family_policy, detail));
}
