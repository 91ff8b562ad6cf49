//! Addresses of services.

use std::net::IpAddr;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use super::NONE;
use crate::core::v1::ServiceSpec;

/// Addresses are such, of the families that the service has; those outside lead outside.
pub(super) fn addresses(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("clusterIPs");
    if value.type_ == "ExternalName" {
        if !value.cluster_ips.is_empty() || !value.cluster_ip.is_empty() {
            let shown = if value.cluster_ips.is_empty() {
                vec![value.cluster_ip.clone()]
            } else {
                value.cluster_ips.clone()
            };
            let detail = "may not be set for ExternalName services";
            cx.push(FieldError::invalid(&at, &Rendered(json(&shown)), detail));
        }
    } else {
        inside(value, &at, cx);
    }
    for (index, ip) in value.external_ips.iter().enumerate() {
        outside(ip, &path.field("externalIPs").index(index), cx);
    }
    for (index, range) in value.load_balancer_source_ranges.iter().enumerate() {
        let at = path.field("loadBalancerSourceRanges");
        cx.invalid_all(&at.index(index), range, &constraint::cidr(range.trim()));
    }
}

fn inside(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(first) = value.cluster_ips.first()
        && *first != value.cluster_ip
    {
        let detail = "first value must match `clusterIP`";
        cx.push(FieldError::invalid(path, &Rendered(json(&value.cluster_ips)), detail));
    }
    let is_headless = value.cluster_ips.iter().any(|ip| ip == NONE);
    if is_headless && value.cluster_ips.len() > 1 {
        let detail = "'None' must be the first and only value";
        cx.push(FieldError::invalid(path, &Rendered(json(&value.cluster_ips)), detail));
    }
    for (index, ip) in value.cluster_ips.iter().enumerate().filter(|(_, ip)| *ip != NONE) {
        cx.invalid_all(&path.index(index), ip, &constraint::ip(ip));
    }
}

/// Addresses by which nobody outside is reached.
fn outside(ip: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
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
