//! Flow schemas: their rules, and the two flow schemas with a fixed spec.

use orch_runtime::{
    field_error::{FieldError, Order, Rendered, Validation, json},
    path::Path,
};

use super::EXEMPT;
use crate::flowcontrol::v1::{FlowSchema, PolicyRulesWithSubjects};

const ALL: &str = "*";
/// The precedence of the exempt flow schema.
const EXEMPT_PRECEDENCE: i32 = 1;

/// Verbs of requests for resources.
const RESOURCE_VERBS: &[&str] =
    &["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
/// Verbs of requests for other paths: HTTP methods, and the verbs of resources.
const PATH_VERBS: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "head",
    "list",
    "options",
    "patch",
    "post",
    "proxy",
    "put",
    "update",
    "watch",
];

/// Verbs and paths of rules are known; flow schemas that the server relies on have their fixed spec.
pub fn flow_schema(value: &FlowSchema, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (name, spec, at) = (&value.metadata.name, &value.spec, path.field("spec"));
    if (spec.matching_precedence == EXEMPT_PRECEDENCE) != (name == EXEMPT) {
        let detail = "only the schema named 'exempt' may have matchingPrecedence 1";
        cx.push(FieldError::invalid(&at.field("matchingPrecedence"), &spec.matching_precedence, detail));
    }
    let rules = at.field("rules");
    for (index, rule) in spec.rules.iter().enumerate() {
        policy_rules(rule, &rules.index(index), cx);
    }
    cx.arrange(&at, ORDER);
    if FlowSchema::mandatory_spec(name).is_some_and(|fixed| fixed != *spec) {
        let detail = format!("spec of '{name}' must equal the fixed value");
        cx.push(FieldError::invalid(&at, &Rendered(json(spec)), &detail));
    }
}

/// The order in which errors of a flow schema are reported.
const ORDER: &[Order] = &[
    Order::of("matchingPrecedence"),
    Order::of("distinguisherMethod"),
    Order::of("priorityLevelConfiguration"),
    Order::with("rules", &[Order::with("subjects", &[Order::of("*")]), Order::of("*")]),
];

fn policy_rules(rules: &PolicyRulesWithSubjects, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("resourceRules");
    for (index, rule) in rules.resource_rules.iter().enumerate() {
        verbs(&rule.verbs, RESOURCE_VERBS, &at.index(index).field("verbs"), cx);
    }
    let at = path.field("nonResourceRules");
    for (index, rule) in rules.non_resource_rules.iter().enumerate() {
        let at = at.index(index);
        verbs(&rule.verbs, PATH_VERBS, &at.field("verbs"), cx);
        urls(&rule.non_resource_urls, &at.field("nonResourceURLs"), cx);
    }
}

/// All verbs are known, or `*` stands for them. One error shows the list.
fn verbs(verbs: &[String], known: &[&str], path: &Path<'_>, cx: &mut Validation<'_>) {
    let is_known = |verb: &String| known.contains(&verb.as_str());
    if !verbs.iter().any(|verb| verb == ALL) && !verbs.iter().all(is_known) {
        cx.push(FieldError::not_supported(path, &Rendered(json(&verbs)), known));
    }
}

fn urls(urls: &[String], path: &Path<'_>, cx: &mut Validation<'_>) {
    if urls.iter().any(|url| url == ALL) {
        return;
    }
    for (index, url) in urls.iter().enumerate() {
        if let Some(fault) = url_fault(url) {
            cx.push(FieldError::invalid(&path.index(index), url, fault));
        }
    }
}

fn url_fault(url: &str) -> Option<&'static str> {
    if url.is_empty() {
        Some("must not be empty")
    } else if !url.starts_with('/') {
        Some("must start with slash")
    } else if url.contains(' ') {
        Some("must not contain white-space")
    } else if url.contains("//") {
        Some("must not contain double slash")
    } else if url.strip_suffix("/*").unwrap_or(url).contains('*') {
        Some("wildcard can only do suffix matching")
    } else {
        None
    }
}
