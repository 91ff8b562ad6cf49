//! Addresses of services.

use std::net::IpAddr;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use super::{NONE, traffic::SOURCE_RANGES};
use crate::core::v1::ServiceSpec;

/// Addresses are valid and fit the IP families; external addresses are reachable from outside.
pub(super) fn addresses(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("clusterIPs");
    if value.type_ != "ExternalName" {
        cluster_ips(value, &at, cx);
    }
    for (index, ip) in value.external_ips.iter().enumerate() {
        external_ip(ip, &path.field("externalIPs").index(index), cx);
    }
    for (index, range) in value.load_balancer_source_ranges.iter().enumerate() {
        let at = path.field(SOURCE_RANGES);
        cx.invalid_all(&at.index(index), range.trim(), &constraint::cidr(range.trim()));
    }
}

fn cluster_ips(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let shown = Rendered(json(&value.cluster_ips));
    let ips = &value.cluster_ips;
    match ips.first() {
        Some(_) if value.cluster_ip.is_empty() => {
            cx.push(FieldError::invalid(path, &shown, "must be empty when `clusterIP` is not specified"));
        }
        Some(first) if *first != value.cluster_ip => {
            cx.push(FieldError::invalid(path, &shown, "first value must match `clusterIP`"));
        }
        _ => {}
    }
    let is_headless = ips.first().is_some_and(|ip| ip == NONE);
    if is_headless && ips.len() > 1 {
        cx.push(FieldError::invalid(path, &shown, "'None' must be the first and only value"));
    }
    for (index, ip) in ips.iter().enumerate().skip(usize::from(is_headless)) {
        cx.invalid_all(&path.index(index), ip, &constraint::ip(ip));
    }
    if ips.len() > 2 {
        cx.push(FieldError::invalid(path, &shown, "may only hold up to 2 values"));
    }
    let parsed: Vec<IpAddr> = ips.iter().filter_map(|ip| ip.parse().ok()).collect();
    if parsed.len() != ips.len() {
        return;
    }
    if let [first, second, ..] = parsed[..]
        && (parsed.len() > 2 || first.is_ipv4() == second.is_ipv4())
    {
        let detail = "may specify no more than one IP for each IP family";
        cx.push(FieldError::invalid(path, &shown, detail));
    }
    for (index, (ip, family)) in parsed.iter().zip(&value.ip_families).enumerate() {
        let expected = if ip.is_ipv4() { "IPv4" } else { "IPv6" };
        if matches!(family.as_str(), "IPv4" | "IPv6") && family != expected {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            cx.push(FieldError::invalid(&path.index(index), &ips[index], &detail));
        }
    }
}

/// An external address is not unspecified, loopback or link-local.
fn external_ip(ip: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    let Ok(address) = ip.parse::<IpAddr>() else {
        return cx.invalid_all(path, ip, &constraint::ip(ip));
    };
    let (is_link_local, is_link_local_multicast) = match address {
        IpAddr::V4(v4) => (v4.is_link_local(), matches!(v4.octets(), [224, 0, 0, _])),
        IpAddr::V6(v6) => (v6.segments()[0] & 0xffc0 == 0xfe80, v6.segments()[0] & 0xff0f == 0xff02),
    };
    for (is_special, what) in [
        (address.is_unspecified(), format!("may not be unspecified ({address})")),
        (address.is_loopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned()),
        (is_link_local, "may not be in the link-local range (169.254.0.0/16, fe80::/10)".to_owned()),
        (
            is_link_local_multicast,
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".to_owned(),
        ),
    ] {
        if is_special {
            cx.push(FieldError::invalid(path, ip, &what));
        }
    }
}
