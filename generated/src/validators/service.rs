//! Services: what does not change. A second address and its family can come and go.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use crate::core::v1::ServiceSpec;

const SET_ONCE: &str = "may not change once set";

/// What a service has keeps its place: Rust, because lists are compared item by item, and what is wrong shows
/// the whole list.
pub fn service_spec_update(new: &ServiceSpec, old: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let has_addresses = [new, old].iter().all(|spec| spec.type_ != "ExternalName");
    let is_headless = [is_headless(new), is_headless(old)];
    if has_addresses && is_headless != [true, true] {
        addresses(new, old, path, cx);
    }
    if has_addresses && is_headless == [false, false] {
        families(new, old, path, cx);
    }
    class(new, old, path, cx);
    health_port(new, old, path, cx);
}

/// The rules about the class alone are told here too, as in the reference.
fn class(new: &ServiceSpec, old: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("loadBalancerClass");
    let class = &new.load_balancer_class;
    if new.type_ != "LoadBalancer" {
        if class.is_some() {
            cx.push(FieldError::forbidden(&at, "may only be used when `type` is 'LoadBalancer'"));
        }
        return;
    }
    if old.type_ == new.type_ && *class != old.load_balancer_class {
        cx.push(FieldError::invalid(&at, class, SET_ONCE));
    }
    for fault in class.iter().flat_map(|class| constraint::qualified_name(class)) {
        cx.push(FieldError::invalid(&at, class, &fault));
    }
}

fn health_port(new: &ServiceSpec, old: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let has_check =
        |spec: &ServiceSpec| spec.type_ == "LoadBalancer" && spec.external_traffic_policy == "Local";
    if has_check(new) && has_check(old) && new.health_check_node_port != old.health_check_node_port {
        cx.push(FieldError::forbidden(&path.field("healthCheckNodePort"), "field is immutable"));
    }
}

fn is_headless(spec: &ServiceSpec) -> bool {
    matches!(spec.cluster_ips.as_slice(), [sole] if sole == "None")
}

fn addresses(new: &ServiceSpec, old: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (now, before) = (&new.cluster_ips, &old.cluster_ips);
    let at = path.field("clusterIPs");
    let refuse = |index: usize, detail: &str| FieldError::invalid(&at.index(index), &shown(now), detail);
    if now.len() == before.len() {
        let changed = (0..now.len()).filter(|index| now[*index] != before[*index]);
        changed.for_each(|index| cx.push(refuse(index, SET_ONCE)));
        return;
    }
    if now.is_empty() {
        cx.push(refuse(0, "primary clusterIP can not be unset"));
    }
    if is_first_changed(now, before) {
        cx.push(refuse(0, SET_ONCE));
    }
    if before.len() > 1 && now.len() == 1 {
        policy_of_one(new, "clusterIP", path, cx);
    }
}

fn families(new: &ServiceSpec, old: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (now, before) = (&new.ip_families, &old.ip_families);
    let at = path.field("ipFamilies");
    let first = at.index(0);
    if now.len() == before.len() {
        let changed = now.iter().zip(before).filter(|(now, before)| now != before);
        changed.for_each(|_| cx.push(FieldError::invalid(&first, &shown(now), SET_ONCE)));
        return;
    }
    if now.len() < before.len() && new.cluster_ips.is_empty() {
        cx.push(FieldError::invalid(&first, &shown(now), "primary ipFamily can not be unset"));
    }
    if is_first_changed(now, before) {
        // The addresses are shown here, not the families.
        cx.push(FieldError::invalid(&first, &shown(&new.cluster_ips), SET_ONCE));
    }
    if before.len() > 1 && now.len() == 1 {
        policy_of_one(new, "ipFamily", path, cx);
    }
}

fn is_first_changed(now: &[String], before: &[String]) -> bool {
    matches!((now.first(), before.first()), (Some(now), Some(before)) if now != before)
}

/// The second one goes only with the policy that says so.
fn policy_of_one(new: &ServiceSpec, what: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if new.ip_family_policy.as_deref() != Some("SingleStack") {
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {what}");
        cx.push(FieldError::invalid(&path.field("ipFamilyPolicy"), &new.ip_family_policy, &detail));
    }
}

fn shown(list: &[String]) -> Rendered {
    Rendered(json(&list))
}
