//! Flow schemas: their rules, and the two flow schemas with a fixed spec.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Order, Rendered, Validation, json},
    path::Path,
};

use super::{EXEMPT, condition_types};
use crate::flowcontrol::v1::{
    FlowSchema, FlowSchemaSpec, NonResourcePolicyRule, PolicyRulesWithSubjects, ResourcePolicyRule,
    ServiceAccountSubject, Subject,
};

const ALL: &str = "*";
const MAX_PRECEDENCE: i32 = 10_000;
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

/// The spec is valid; flow schemas that the server relies on have their fixed spec.
pub fn flow_schema(value: &FlowSchema, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (name, at) = (&value.metadata.name, path.field("spec"));
    spec(name, &value.spec, &at, cx);
    if FlowSchema::mandatory_spec(name).is_some_and(|fixed| fixed != value.spec) {
        let detail = format!("spec of '{name}' must equal the fixed value");
        cx.push(FieldError::invalid(&at, &Rendered(json(&value.spec)), &detail));
    }
    let types = value.status.conditions.iter().map(|condition| condition.type_.as_str());
    condition_types(types, &path.field("status"), cx);
}

fn spec(name: &str, spec: &FlowSchemaSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    precedence(name, spec.matching_precedence, &path.field("matchingPrecedence"), cx);
    let level = &spec.priority_level_configuration.name;
    let reference = path.field("priorityLevelConfiguration");
    let at = reference.field("name");
    if level.is_empty() {
        cx.push(FieldError::required(&at, "must reference a priority level"));
    } else {
        cx.invalid_all(&at, level, &constraint::dns_subdomain(level));
    }
    let rules = path.field("rules");
    for (index, rule) in spec.rules.iter().enumerate() {
        policy_rules(rule, &rules.index(index), cx);
    }
    cx.arrange(path, ORDER);
}

/// The order in which errors of a flow schema are reported.
const ORDER: &[Order] = &[
    Order::of("matchingPrecedence"),
    Order::of("distinguisherMethod"),
    Order::of("priorityLevelConfiguration"),
    Order::with("rules", &[Order::with("subjects", &[Order::of("*")]), Order::of("*")]),
];

fn precedence(name: &str, value: i32, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value <= 0 {
        cx.push(FieldError::invalid(path, &value, "must be a positive value"));
    }
    if value > MAX_PRECEDENCE {
        cx.push(FieldError::invalid(path, &value, &format!("must not be greater than {MAX_PRECEDENCE}")));
    }
    if (value == EXEMPT_PRECEDENCE) != (name == EXEMPT) {
        let detail = "only the schema named 'exempt' may have matchingPrecedence 1";
        cx.push(FieldError::invalid(path, &value, detail));
    }
}

fn policy_rules(rules: &PolicyRulesWithSubjects, path: &Path<'_>, cx: &mut Validation<'_>) {
    let subjects = path.field("subjects");
    if rules.subjects.is_empty() {
        cx.push(FieldError::required(&subjects, "subjects must contain at least one value"));
    }
    for (index, value) in rules.subjects.iter().enumerate() {
        subject(value, &subjects.index(index), cx);
    }
    if rules.resource_rules.is_empty() && rules.non_resource_rules.is_empty() {
        let detail = "at least one of resourceRules and nonResourceRules has to be non-empty";
        cx.push(FieldError::required(path, detail));
    }
    let at = path.field("resourceRules");
    for (index, rule) in rules.resource_rules.iter().enumerate() {
        resource_rule(rule, &at.index(index), cx);
    }
    let at = path.field("nonResourceRules");
    for (index, rule) in rules.non_resource_rules.iter().enumerate() {
        path_rule(rule, &at.index(index), cx);
    }
}

/// The member for the subject's kind is given, and no other.
fn subject(value: &Subject, path: &Path<'_>, cx: &mut Validation<'_>) {
    let members = [
        ("ServiceAccount", "serviceAccount", value.service_account.is_some()),
        ("User", "user", value.user.is_some()),
        ("Group", "group", value.group.is_some()),
    ];
    let kind = value.kind.as_str();
    let Some((_, own, given)) = members.iter().find(|(of, ..)| *of == kind) else {
        cx.push(FieldError::not_supported(&path.field("kind"), kind, &["Group", "ServiceAccount", "User"]));
        return;
    };
    if !given {
        let detail = format!("{own} is required when subject kind is '{kind}'");
        cx.push(FieldError::required(&path.field(own), &detail));
    } else if let Some(account) = &value.service_account {
        service_account(account, &path.field(own), cx);
    }
    for (of, field, _) in members.iter().filter(|(of, _, given)| *given && *of != kind) {
        let detail = format!("{field} is forbidden when subject kind is not '{of}'");
        cx.push(FieldError::forbidden(&path.field(field), &detail));
    }
}

fn service_account(value: &ServiceAccountSubject, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !value.name.is_empty() && value.name != ALL {
        cx.invalid_all(&path.field("name"), &value.name, &constraint::dns_subdomain(&value.name));
    }
    let at = path.field("namespace");
    if value.namespace.is_empty() {
        cx.push(FieldError::required(&at, "must specify namespace for service account"));
    } else {
        cx.invalid_all(&at, &value.namespace, &constraint::dns_label(&value.namespace));
    }
}

fn resource_rule(rule: &ResourcePolicyRule, path: &Path<'_>, cx: &mut Validation<'_>) {
    verbs(&rule.verbs, RESOURCE_VERBS, &path.field("verbs"), cx);
    let detail = "resource rules must supply at least one api group";
    values_or_wildcard(&rule.api_groups, detail, "api groups", &path.field("apiGroups"), cx);
    let detail = "resource rules must supply at least one resource";
    values_or_wildcard(&rule.resources, detail, "resources", &path.field("resources"), cx);
    let (namespaces, at) = (rule.namespaces.as_deref().unwrap_or_default(), path.field("namespaces"));
    if namespaces.is_empty() && rule.cluster_scope {
        return;
    }
    let detail = "resource rules that are not cluster scoped must supply at least one namespace";
    if values_or_wildcard(namespaces, detail, "namespaces", &at, cx) {
        for (index, namespace) in namespaces.iter().enumerate() {
            for fault in constraint::dns_label(namespace) {
                let detail = format!("each member of this list must be '*' or a DNS-1123 label; {fault}");
                cx.push(FieldError::invalid(&at.index(index), namespace, &detail));
            }
        }
    }
}

fn path_rule(rule: &NonResourcePolicyRule, path: &Path<'_>, cx: &mut Validation<'_>) {
    verbs(&rule.verbs, PATH_VERBS, &path.field("verbs"), cx);
    let at = path.field("nonResourceURLs");
    let detail = "nonResourceURLs must contain at least one value";
    if values_or_wildcard(&rule.non_resource_urls, detail, "non-resource URLs", &at, cx) {
        for (index, url) in rule.non_resource_urls.iter().enumerate() {
            if let Some(fault) = url_fault(url) {
                cx.push(FieldError::invalid(&at.index(index), url, fault));
            }
        }
    }
}

fn verbs(verbs: &[String], known: &[&str], path: &Path<'_>, cx: &mut Validation<'_>) {
    if values_or_wildcard(verbs, "verbs must contain at least one value", "verbs", path, cx)
        && verbs.iter().any(|verb| !known.contains(&verb.as_str()))
    {
        cx.push(FieldError::not_supported(path, &Rendered(json(&verbs)), known));
    }
}

/// A list is not empty, and `*` is its only value. Returns whether the values need checks of their own.
fn values_or_wildcard(
    values: &[String],
    missing: &str,
    what: &str,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) -> bool {
    let everything = values.iter().any(|value| value == ALL);
    if values.is_empty() {
        cx.push(FieldError::required(path, missing));
    } else if everything && values.len() > 1 {
        let detail = format!("if '*' is present, must not specify other {what}");
        cx.push(FieldError::invalid(path, &Rendered(json(&values)), &detail));
    }
    !values.is_empty() && !everything
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
