//! Services: ports, addresses, and what each type may have.

mod address;
mod port;
mod traffic;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::ServiceSpec;

const NONE: &str = "None";
/// The longest time that a client stays with a pod, in seconds.
const MAX_AFFINITY_SECONDS: i32 = 86_400;

/// What the type needs is there, what it cannot have is not, and ports and addresses are such.
pub fn service_spec(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let is_headless = value.cluster_ip == NONE;
    let is_name = value.type_ == "ExternalName";
    if value.ports.is_empty() && !is_headless && !is_name {
        cx.push(FieldError::required(&path.field("ports"), ""));
    }
    if is_headless && matches!(value.type_.as_str(), "LoadBalancer" | "NodePort") {
        let detail = format!("may not be set to 'None' for {} services", value.type_);
        cx.push(FieldError::invalid(&path.field("clusterIPs").index(0), NONE, &detail));
    }
    if is_name {
        external_name(value, path, cx);
    }
    port::ports(value, &path.field("ports"), cx);
    affinity(value, path, cx);
    address::addresses(value, path, cx);
    traffic::policies(value, path, cx);
    doubts(value, is_headless, cx);
}

fn external_name(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("externalName");
    let name = value.external_name.strip_suffix('.').unwrap_or(&value.external_name);
    if name.is_empty() {
        cx.push(FieldError::required(&at, ""));
    } else {
        cx.invalid_all(&at, &value.external_name, &constraint::dns_subdomain(name));
    }
}

fn affinity(value: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("sessionAffinityConfig");
    let seconds =
        value.session_affinity_config.as_ref().and_then(|config| config.client_ip.as_ref()?.timeout_seconds);
    if let Some(seconds) = seconds
        && !(1..=MAX_AFFINITY_SECONDS).contains(&seconds)
    {
        let client = at.field("clientIP");
        let detail = format!("must be greater than 0 and less than {MAX_AFFINITY_SECONDS}");
        cx.push(FieldError::invalid(&client.field("timeoutSeconds"), &seconds, &detail));
    }
}

/// What the type makes no use of.
fn doubts(value: &ServiceSpec, is_headless: bool, cx: &mut Validation<'_>) {
    let is_name = value.type_ == "ExternalName";
    for (is_ignored, text) in [
        (
            is_headless && !value.load_balancer_ip.is_empty(),
            "spec.loadBalancerIP is ignored for headless services",
        ),
        (is_headless && !value.external_ips.is_empty(), "spec.externalIPs is ignored for headless services"),
        (
            is_headless && value.session_affinity != NONE,
            "spec.SessionAffinity is ignored for headless services",
        ),
        (
            is_name && !value.external_ips.is_empty(),
            r#"spec.externalIPs is ignored when spec.type is "ExternalName""#,
        ),
        (
            !is_name && !value.external_name.is_empty(),
            r#"spec.externalName is ignored when spec.type is not "ExternalName""#,
        ),
    ] {
        if is_ignored {
            cx.warn(&Path::ROOT, text);
        }
    }
}
