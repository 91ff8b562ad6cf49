//! Resource requests and limits of containers.

use std::collections::BTreeMap;

use orch_runtime::{
    constraint,
    field_error::{FieldError, Rendered, Validation},
    path::Path,
    scalar::Quantity,
};

use crate::core::v1::ResourceRequirements;

const HUGE_PAGES: &str = "hugepages-";

/// What quotas count besides the resources of containers.
const OF_QUOTAS: [&str; 17] = [
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

/// No request exceeds its limit, and huge pages are whole: Rust, because messages show amounts of other
/// entries, and pages are counted in thousandths.
pub(super) fn container_resources(value: &ResourceRequirements, path: &Path<'_>, cx: &mut Validation<'_>) {
    let limits = path.field("limits");
    for (name, amount) in &value.limits {
        resource_name(name, &limits.key(name), cx);
        huge_pages(name, amount, &limits.key(name), cx);
    }
    let requests = path.field("requests");
    for (name, amount) in &value.requests {
        resource_name(name, &requests.key(name), cx);
        huge_pages(name, amount, &requests.key(name), cx);
        request_within(name, amount, &value.limits, path, cx);
    }
}

/// The overhead of a pod has the same rules as limits of a container.
pub(super) fn overhead(amounts: &BTreeMap<String, Quantity>, path: &Path<'_>, cx: &mut Validation<'_>) {
    for (name, amount) in amounts {
        let limits = path.field("limits");
        resource_name(name, &limits.key(name), cx);
        huge_pages(name, amount, &limits.key(name), cx);
    }
}

/// Containers have resources of this name: Rust, because errors show the name without quotes.
fn resource_name(name: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    let is_extended = || !name.starts_with("requests.") && is_qualified(&format!("requests.{name}"));
    let mut faults = constraint::qualified_name(name);
    if !name.contains('/') && !is_of_containers(name) {
        let is_known = name.starts_with("requests.hugepages-") || OF_QUOTAS.contains(&name);
        if faults.is_empty() && !is_known {
            faults.push("must be a standard resource type or fully qualified".to_owned());
        }
        faults.push("must be a standard resource for containers".to_owned());
    } else if !is_native(name, cx.vocabulary.label_domain) && !is_extended() {
        faults.push("doesn't follow extended resource name standard".to_owned());
    }
    cx.invalid_all(path, &Rendered(name.to_owned()), &faults);
}

/// A request is no more than its limit: Rust, because the message shows the amount of the limit.
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

/// Huge pages are whole: Rust, because the size of a page is a part of the name of the resource.
fn huge_pages(name: &str, amount: &Quantity, path: &Path<'_>, cx: &mut Validation<'_>) {
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

/// Whether a resource without a prefix is one of containers.
fn is_of_containers(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with(HUGE_PAGES)
}

fn is_qualified(name: &str) -> bool {
    constraint::qualified_name(name).is_empty()
}
