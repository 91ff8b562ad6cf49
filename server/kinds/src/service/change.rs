//! What does not change in a service. A second address and its family can come and go.

use orch_api::core::v1::ServiceSpec;
use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use super::{NONE, has_addresses, is_balanced, needs_health_port};

const SET_ONCE: &str = "may not change once set";

/// Reports forbidden changes: after those of metadata, before what is wrong with the new object.
pub(super) fn validate(new: &ServiceSpec, old: &ServiceSpec, violations: &mut Validation<'_>) {
    let mut of_metadata = violations.take_errors();
    let of_object = of_metadata.split_off(changes_of_metadata(&of_metadata));
    violations.prepend(of_metadata);
    let path = Path::ROOT.field("spec");
    let is_headless = [is_headless(new), is_headless(old)];
    if has_addresses(new) && has_addresses(old) {
        if is_headless != [true, true] {
            addresses(new, old, &path, violations);
        }
        if is_headless == [false, false] {
            families(new, old, &path, violations);
        }
    }
    class(new, old, &path, violations);
    health_port(new, old, &path, violations);
    for error in of_object {
        violations.push(error);
    }
}

/// How many errors are about changes of metadata. Errors of metadata come twice: from the rules for changes,
/// and then from those for the new object. The first one that repeats begins the second part.
fn changes_of_metadata(errors: &[FieldError]) -> usize {
    let is_end = |index: &usize| {
        let error = &errors[*index];
        !error.field.starts_with("metadata") || errors[..*index].contains(error)
    };
    (0..errors.len()).find(is_end).unwrap_or(errors.len())
}

/// The rules about the class alone are told here too, as in the reference.
fn class(new: &ServiceSpec, old: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("loadBalancerClass");
    let class = &new.load_balancer_class;
    if !is_balanced(new) {
        if class.is_some() {
            cx.push(FieldError::forbidden(&at, "may only be used when `type` is 'LoadBalancer'"));
        }
        return;
    }
    if is_balanced(old) && *class != old.load_balancer_class {
        cx.push(FieldError::invalid(&at, class, SET_ONCE));
    }
    for fault in class.iter().flat_map(|class| constraint::qualified_name(class)) {
        cx.push(FieldError::invalid(&at, class, &fault));
    }
}

fn health_port(new: &ServiceSpec, old: &ServiceSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let needs_port = needs_health_port(new) && needs_health_port(old);
    if needs_port && new.health_check_node_port != old.health_check_node_port {
        cx.push(FieldError::forbidden(&path.field("healthCheckNodePort"), "field is immutable"));
    }
}

fn is_headless(spec: &ServiceSpec) -> bool {
    matches!(spec.cluster_ips.as_slice(), [sole] if sole == NONE)
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
