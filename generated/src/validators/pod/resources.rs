//! Resource requests and limits of containers.

use std::collections::BTreeMap;

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
    scalar::Quantity,
};

use crate::core::v1::ResourceRequirements;

const HUGE_PAGES: &str = "hugepages-";

/// No request exceeds its limit, and huge pages are whole: Rust, because messages show amounts of other
/// entries, and pages are counted in thousandths.
pub(super) fn container_resources(value: &ResourceRequirements, path: &Path<'_>, cx: &mut Validation<'_>) {
    let limits = path.field("limits");
    for (name, amount) in &value.limits {
        huge_pages(name, amount, &limits.key(name), cx);
    }
    let requests = path.field("requests");
    for (name, amount) in &value.requests {
        huge_pages(name, amount, &requests.key(name), cx);
        request_within(name, amount, &value.limits, path, cx);
    }
}

/// The overhead of a pod has the same rules as limits of a container.
pub(super) fn overhead(amounts: &BTreeMap<String, Quantity>, path: &Path<'_>, cx: &mut Validation<'_>) {
    for (name, amount) in amounts {
        huge_pages(name, amount, &path.field("limits").key(name), cx);
    }
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
