//! Warnings for pods and pod templates: values that are accepted, but are most likely mistakes.
//!
//! Texts and order are part of the API contract: selection of nodes, annotations, volumes, containers, ports,
//! affinity.

mod container;
mod volume;

use std::collections::{BTreeMap, BTreeSet};

use orch_runtime::{
    field_error::{Shown, Validation},
    path::Path,
};

use crate::{
    core::v1::{Affinity, PodAffinityTerm, PodSpec, WeightedPodAffinityTerm},
    validators::{fractional_bytes::warn_of_fractional_resources, node_label},
};

const MATCHES_NO_POD: &str = "a null labelSelector results in matching no pod";
const USE_SECCOMP_FIELD: &str = r#"non-functional in v1.27+; use the "seccompProfile" field instead"#;

/// Warns about the pod at `path`, or about the pod template if `is_template` is set.
pub(super) fn warn(
    spec: &PodSpec,
    annotations: &BTreeMap<String, String>,
    is_template: bool,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let (at, metadata) = (path.field("spec"), path.field("metadata"));
    let annotated = Annotated { annotations, path: &metadata.field("annotations") };
    warn_of_node_selection(spec, &at, cx);
    annotated.deprecated(cx);
    for (index, item) in spec.volumes.iter().enumerate() {
        volume::warn(item, &at.field("volumes").index(index), cx);
    }
    volume::warn_of_overlaps(&spec.volumes, cx);
    warn_of_duplicates(spec, &at, cx);
    warn_of_fractional_resources(&spec.overhead, &at.field("overhead"), cx);
    let security = spec.security_context.as_ref();
    if security.is_none_or(|security| security.seccomp_profile.is_none()) {
        annotated.warn(
            &format!("seccomp.security.alpha.{}/pod", cx.vocabulary.label_domain),
            USE_SECCOMP_FIELD,
            cx,
        );
    }
    let has_app_armor = security.is_some_and(|security| security.app_armor_profile.is_some());
    container::warn(spec, &annotated, is_template && !has_app_armor, &at, cx);
    container::warn_of_ports(spec, &at, cx);
    if spec.termination_grace_period_seconds.is_some_and(|seconds| seconds < 0) {
        let text = "must be >= 0; negative values are invalid and will be treated as 1";
        cx.warn(&at.field("terminationGracePeriodSeconds"), text);
    }
    if let Some(affinity) = &spec.affinity {
        warn_of_affinity(affinity, &at.field("affinity"), cx);
    }
}

/// The annotations of a pod, and their path.
struct Annotated<'a> {
    annotations: &'a BTreeMap<String, String>,
    path: &'a Path<'a>,
}

impl Annotated<'_> {
    /// Warns of an annotation if it exists.
    fn warn(&self, key: &str, text: &str, cx: &mut Validation<'_>) {
        if self.annotations.contains_key(key) {
            cx.warn(&self.path.key(key), text);
        }
    }

    fn deprecated(&self, cx: &mut Validation<'_>) {
        let domain = cx.vocabulary.label_domain;
        for (name, since, field) in [
            (format!("scheduler.alpha.{domain}/critical-pod"), "v1.16", "priorityClassName"),
            (format!("security.alpha.{domain}/sysctls"), "v1.11", "sysctls"),
            (format!("security.alpha.{domain}/unsafe-sysctls"), "v1.11", "sysctls"),
        ] {
            let text = format!(r#"non-functional in {since}+; use the "{field}" field instead"#);
            self.warn(&name, &text, cx);
        }
    }
}

/// Warns of deprecated labels by which nodes are selected, and of spread constraints without a label
/// selector.
fn warn_of_node_selection(spec: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let selector = path.field("nodeSelector");
    for label in spec.node_selector.keys() {
        if let Some(text) = node_label::deprecation(label, cx.vocabulary) {
            cx.warn(&selector.key(label), text);
        }
    }
    if let Some(affinity) = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref()) {
        let at = path.field("affinity");
        let at = at.field("nodeAffinity");
        let required = at.field("requiredDuringSchedulingIgnoredDuringExecution");
        let terms = required.field("nodeSelectorTerms");
        let given = affinity.required_during_scheduling_ignored_during_execution.iter();
        for (index, term) in given.flat_map(|selector| &selector.node_selector_terms).enumerate() {
            node_label::warn_of_term(term, &terms.index(index), cx);
        }
        let preferred = at.field("preferredDuringSchedulingIgnoredDuringExecution");
        for (index, term) in affinity.preferred_during_scheduling_ignored_during_execution.iter().enumerate()
        {
            let at = preferred.index(index);
            node_label::warn_of_term(&term.preference, &at.field("preference"), cx);
            node_label::warn_of_values(&term.preference, &at.field("preference"), cx);
        }
    }
    let spreads = path.field("topologySpreadConstraints");
    for (index, spread) in spec.topology_spread_constraints.iter().enumerate() {
        let at = spreads.index(index);
        if let Some(text) = node_label::deprecation(&spread.topology_key, cx.vocabulary) {
            cx.warn(&at.field("topologyKey"), format_args!("{} is {text}", spread.topology_key));
        }
        if spread.label_selector.is_none() {
            cx.warn(&at.field("labelSelector"), MATCHES_NO_POD);
        }
    }
}

/// Warns of duplicates, and of pull secrets without a name.
fn warn_of_duplicates(spec: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let mut seen = BTreeSet::new();
    for (index, alias) in spec.host_aliases.iter().enumerate() {
        if !seen.insert(&alias.ip) {
            let list = path.field("hostAliases");
            cx.warn(&list.index(index).field("ip"), format_args!("duplicate ip {}", alias.ip.shown()));
        }
    }
    let mut seen = BTreeSet::new();
    for (index, secret) in spec.image_pull_secrets.iter().enumerate() {
        if !seen.insert(&secret.name) {
            let list = path.field("imagePullSecrets");
            cx.warn(&list.index(index).field("name"), format_args!("duplicate name {}", secret.name.shown()));
        }
    }
    for (index, _) in spec.image_pull_secrets.iter().enumerate().filter(|(_, secret)| secret.name.is_empty())
    {
        let list = path.field("imagePullSecrets");
        cx.warn(&list.index(index).field("name"), "invalid empty name \"\"");
    }
}

/// Warns of affinity terms without a label selector, which match no pod.
fn warn_of_affinity(affinity: &Affinity, path: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(near) = &affinity.pod_affinity {
        let at = path.field("podAffinity");
        required_terms(&near.required_during_scheduling_ignored_during_execution, &at, cx);
        preferred_terms(&near.preferred_during_scheduling_ignored_during_execution, &at, cx);
    }
    if let Some(apart) = &affinity.pod_anti_affinity {
        let at = path.field("podAntiAffinity");
        required_terms(&apart.required_during_scheduling_ignored_during_execution, &at, cx);
        preferred_terms(&apart.preferred_during_scheduling_ignored_during_execution, &at, cx);
    }
}

fn required_terms(terms: &[PodAffinityTerm], path: &Path<'_>, cx: &mut Validation<'_>) {
    let list = path.field("requiredDuringSchedulingIgnoredDuringExecution");
    for (index, _) in terms.iter().enumerate().filter(|(_, term)| term.label_selector.is_none()) {
        cx.warn(&list.index(index).field("labelSelector"), MATCHES_NO_POD);
    }
}

fn preferred_terms(terms: &[WeightedPodAffinityTerm], path: &Path<'_>, cx: &mut Validation<'_>) {
    let list = path.field("preferredDuringSchedulingIgnoredDuringExecution");
    let is_null = |term: &WeightedPodAffinityTerm| term.pod_affinity_term.label_selector.is_none();
    for (index, _) in terms.iter().enumerate().filter(|(_, term)| is_null(term)) {
        let at = list.index(index);
        cx.warn(&at.field("podAffinityTerm").field("labelSelector"), MATCHES_NO_POD);
    }
}
