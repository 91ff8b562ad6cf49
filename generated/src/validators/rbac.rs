//! Roles and bindings: rules and subjects.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Order, Rendered, Validation, json},
    path::Path,
    resource_def::Scope,
};

use super::label_selector::label_selector;
use crate::{
    kinds::rbac::{SUBJECT_GROUP, SUBJECT_SERVICE_ACCOUNT, SUBJECT_USER, group},
    rbac::v1::{
        AggregationRule, ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
    },
};

/// Every rule of a role is about resources.
pub fn role(value: &Role, path: &Path<'_>, cx: &mut Validation<'_>) {
    rules(value.rules.as_deref(), Scope::Namespaced, path, cx);
}

/// Every rule is about resources or about paths, and an aggregation rule has selectors.
pub fn cluster_role(value: &ClusterRole, path: &Path<'_>, cx: &mut Validation<'_>) {
    rules(value.rules.as_deref(), Scope::Cluster, path, cx);
    if let Some(rule) = &value.aggregation_rule {
        aggregation_rule(rule, &path.field("aggregationRule"), cx);
    }
}

/// The reference to the role and the subjects are valid.
pub fn role_binding(value: &RoleBinding, path: &Path<'_>, cx: &mut Validation<'_>) {
    binding(&value.role_ref, &value.subjects, Scope::Namespaced, path, cx);
}

/// The reference to the cluster role and the subjects are valid.
pub fn cluster_role_binding(value: &ClusterRoleBinding, path: &Path<'_>, cx: &mut Validation<'_>) {
    binding(&value.role_ref, &value.subjects, Scope::Cluster, path, cx);
}

fn rules(rules: Option<&[PolicyRule]>, scope: Scope, path: &Path<'_>, cx: &mut Validation<'_>) {
    let path = path.field("rules");
    for (index, rule) in rules.unwrap_or_default().iter().enumerate() {
        policy_rule(rule, scope, &path.index(index), cx);
    }
}

fn policy_rule(rule: &PolicyRule, scope: Scope, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !rule.non_resource_urls.is_empty() {
        path_rule(rule, scope, &path.field("nonResourceURLs"), cx);
    }
}

/// A rule about paths that are not resources.
fn path_rule(rule: &PolicyRule, scope: Scope, path: &Path<'_>, cx: &mut Validation<'_>) {
    let urls = || Rendered(json(&rule.non_resource_urls));
    if scope == Scope::Namespaced {
        let detail = "namespaced rules cannot apply to non-resource URLs";
        cx.push(FieldError::invalid(path, &urls(), detail));
    }
    if !(rule.api_groups.is_empty() && rule.resources.is_empty() && rule.resource_names.is_empty()) {
        let detail = "rules cannot apply to both regular resources and non-resource URLs";
        cx.push(FieldError::invalid(path, &urls(), detail));
    }
    for (index, url) in rule.non_resource_urls.iter().enumerate() {
        let stem = if url == "*" { "" } else { url.strip_suffix("/*").unwrap_or(url) };
        if stem.contains('*') {
            let detail = "'*' may only be the full, final step of the path";
            cx.push(FieldError::invalid(&path.index(index), url, detail));
        }
    }
}

fn aggregation_rule(rule: &AggregationRule, path: &Path<'_>, cx: &mut Validation<'_>) {
    let selectors = path.field("clusterRoleSelectors");
    for (index, selector) in rule.cluster_role_selectors.iter().enumerate() {
        label_selector(selector, &selectors.index(index), cx);
    }
}

fn binding(role_ref: &RoleRef, subjects: &[Subject], scope: Scope, path: &Path<'_>, cx: &mut Validation<'_>) {
    role_reference(role_ref, scope, &path.field("roleRef"), cx);
    let list = path.field("subjects");
    for (index, subject) in subjects.iter().enumerate() {
        binding_subject(subject, scope, &list.index(index), cx);
    }
    cx.arrange(path, ORDER);
}

/// The order in which errors of a binding are reported.
const ORDER: &[Order] = &[
    Order::of("metadata"),
    Order::of("roleRef"),
    Order::with("subjects", &[Order::of("name"), Order::of("*")]),
];

fn role_reference(role_ref: &RoleRef, scope: Scope, path: &Path<'_>, cx: &mut Validation<'_>) {
    api_group_is(&role_ref.api_group, &group(cx.vocabulary), path, cx);
    let kinds: &[&str] = match scope {
        Scope::Namespaced => &["Role", "ClusterRole"],
        Scope::Cluster => &["ClusterRole"],
    };
    if !kinds.contains(&role_ref.kind.as_str()) {
        cx.push(FieldError::not_supported(&path.field("kind"), &role_ref.kind, kinds));
    }
    cx.arrange(path, &[Order::of("apiGroup"), Order::of("kind"), Order::of("name")]);
}

fn binding_subject(subject: &Subject, scope: Scope, path: &Path<'_>, cx: &mut Validation<'_>) {
    match subject.kind.as_str() {
        SUBJECT_SERVICE_ACCOUNT => {
            if !subject.name.is_empty() {
                let faults = constraint::dns_subdomain(&subject.name);
                cx.invalid_all(&path.field("name"), &subject.name, &faults);
            }
            api_group_is(&subject.api_group, "", path, cx);
            if scope == Scope::Cluster && subject.namespace.is_empty() {
                cx.push(FieldError::required(&path.field("namespace"), ""));
            }
        }
        SUBJECT_USER | SUBJECT_GROUP => api_group_is(&subject.api_group, &group(cx.vocabulary), path, cx),
        other => {
            let kinds = [SUBJECT_SERVICE_ACCOUNT, SUBJECT_USER, SUBJECT_GROUP];
            cx.push(FieldError::not_supported(&path.field("kind"), other, &kinds));
        }
    }
}

/// The API group is the expected one.
fn api_group_is(given: &str, group: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    if given != group {
        cx.push(FieldError::not_supported(&path.field("apiGroup"), given, &[group]));
    }
}
