//! Resource requests and limits of containers.

use std::collections::{BTreeMap, BTreeSet};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
    scalar::Quantity,
};

use crate::core::v1::ResourceRequirements;

/// Resources of quotas: they need no prefix, but containers cannot have them.
const QUOTAS: &[&str] = &[
    "configmaps",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
    "requests.storage",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
    "storage",
];
/// Resources of containers that need no prefix.
const STANDARD: &[&str] = &["cpu", "memory", "ephemeral-storage"];
const HUGE_PAGES: &str = "hugepages-";

/// Names and amounts are valid, and no request exceeds its limit.
pub(super) fn container_resources(value: &ResourceRequirements, path: &Path<'_>, cx: &mut Validation<'_>) {
    let limits = path.field("limits");
    for (name, amount) in &value.limits {
        resource(name, amount, &limits.key(name), cx);
    }
    let requests = path.field("requests");
    for (name, amount) in &value.requests {
        resource(name, amount, &requests.key(name), cx);
        request_within(name, amount, &value.limits, path, cx);
    }
    let names: Vec<&String> = value.limits.keys().chain(value.requests.keys()).collect();
    let has_huge_pages = names.iter().any(|name| name.starts_with(HUGE_PAGES));
    if has_huge_pages && !names.iter().any(|name| matches!(name.as_str(), "cpu" | "memory")) {
        cx.push(FieldError::forbidden(path, "HugePages require cpu or memory"));
    }
}

/// The overhead of a pod has the same rules as limits of a container.
pub(super) fn overhead(amounts: &BTreeMap<String, Quantity>, path: &Path<'_>, cx: &mut Validation<'_>) {
    let limits = amounts.clone();
    container_resources(&ResourceRequirements { limits, ..ResourceRequirements::default() }, path, cx);
}

/// The claims that a container uses exist in its pod.
pub(super) fn claims(
    value: &ResourceRequirements,
    of_pod: &BTreeSet<&str>,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let resources = path.field("resources");
    let claims = resources.field("claims");
    if !value.claims.is_empty() {
        cx.relocate_to_items(&claims, "name");
    }
    for (index, claim) in value.claims.iter().enumerate() {
        let at = claims.index(index);
        if !claim.name.is_empty() && !of_pod.contains(claim.name.as_str()) {
            cx.push(FieldError::not_found(&at, &claim.name));
        }
    }
}

fn request_within(
    name: &str,
    amount: &Quantity,
    limits: &BTreeMap<String, Quantity>,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let requests = path.field("requests");
    let domain = cx.vocabulary.label_domain;
    let can_exceed = is_native(name, domain) && !name.starts_with(HUGE_PAGES);
    let relation = match limits.get(name) {
        None if can_exceed => return,
        None => {
            let detail = "Limit must be set for non overcommitable resources";
            return cx.push(FieldError::required(&path.field("limits"), detail));
        }
        Some(limit) if !can_exceed && amount != limit => "must be equal to",
        Some(limit) if amount > limit => "must be less than or equal to",
        Some(_) => return,
    };
    let detail = format!("{relation} {name} limit of {}", limits[name]);
    cx.push(FieldError::invalid(&requests, &amount.to_string(), &detail));
}

fn resource(name: &str, amount: &Quantity, path: &Path<'_>, cx: &mut Validation<'_>) {
    let domain = cx.vocabulary.label_domain;
    let faults = constraint::qualified_name(name);
    let is_standard = STANDARD.contains(&name) || name.starts_with(HUGE_PAGES);
    cx.invalid_all(path, name, &faults);
    if !name.contains('/') {
        if !is_standard {
            if faults.is_empty() && !QUOTAS.contains(&name) && !name.starts_with("requests.hugepages-") {
                let detail = "must be a standard resource type or fully qualified";
                cx.push(FieldError::invalid(path, name, detail));
            }
            cx.push(FieldError::invalid(path, name, "must be a standard resource for containers"));
        }
    } else if !is_native(name, domain) && !is_extended(name) {
        cx.push(FieldError::invalid(path, name, "doesn't follow extended resource name standard"));
    }
    if amount.sign() < 0 {
        let detail = "must be greater than or equal to 0";
        cx.push(FieldError::invalid(path, &amount.to_string(), detail));
    } else if !is_native(name, domain) && !amount.is_whole() {
        cx.push(FieldError::invalid(path, &amount.to_string(), "must be an integer"));
    }
    let page = name.strip_prefix(HUGE_PAGES).and_then(|page| page.parse::<Quantity>().ok());
    if page.is_some_and(|page| !is_multiple(amount, &page)) {
        let detail = format!("{amount} is not positive integer multiple of {name}");
        cx.push(FieldError::invalid(path, &amount.to_string(), &detail));
    }
}

/// Whether an amount is a positive multiple of the page size.
fn is_multiple(amount: &Quantity, page: &Quantity) -> bool {
    let (amount, page) = (amount.milli_value(), page.milli_value());
    page > 0 && amount > 0 && amount % page == 0
}

/// Whether a resource has no prefix, or one of the product.
fn is_native(name: &str, domain: &str) -> bool {
    !name.contains('/') || name.contains(&format!("{domain}/"))
}

/// Whether a name is valid for an extended resource.
fn is_extended(name: &str) -> bool {
    !name.starts_with("requests.") && constraint::qualified_name(&format!("requests.{name}")).is_empty()
}
