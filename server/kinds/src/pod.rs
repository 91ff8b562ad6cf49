//! `Pod`: its first status and its quality of service, how long it may take to end, and the containers that
//! are added while it runs.

mod affinity;
mod app_armor;
mod quality_of_service;

use std::collections::BTreeMap;

use orch_api::{
    core::v1::{EphemeralContainer, Pod, PodCondition, PodIP, PodStatus},
    validators::profiles_of_pod,
};
use orch_machinery::{gated::GatedFields, meta::Meta, table::RowCondition};
use orch_registry::behaviour::{Behaviour, WriteInfo};
use orch_runtime::{
    Tree, constraint,
    field_error::{FieldError, Validation},
    object::SetDefaults,
    path::Path,
    resource_def::FieldPath,
    scalar::Time,
    type_def::TypeDef,
};

use crate::{gated_pods, status_alone::WRITABLE_METADATA};

/// How long containers may take to end where a pod does not say.
const DEFAULT_GRACE_SECONDS: i64 = 30;
const EPHEMERAL_CONTAINERS: &str = "ephemeralcontainers";

/// The error for a change that is not allowed in a pod, as the schema has it.
const POD_MAY_CHANGE: &str = "pod updates may not change fields other than \
    `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

const NO_HOSTNAME: &str = "this is used in the Pod's hostname, which can result in surprising behavior; \
    a DNS label is recommended";

pub(crate) struct PodBehaviour;

impl Behaviour<Pod> for PodBehaviour {
    fn kept_metadata(&self, subresource: &str) -> &'static [FieldPath] {
        match subresource {
            // Old agents on nodes send owners back damaged.
            "status" => &[&["metadata", "ownerReferences"], &["metadata", "deletionTimestamp"]],
            EPHEMERAL_CONTAINERS => WRITABLE_METADATA,
            _ => &[],
        }
    }

    fn keeps_owners(&self, subresource: &str) -> bool {
        subresource == EPHEMERAL_CONTAINERS
    }

    fn is_found_by_controller(&self) -> bool {
        true
    }

    fn drop_gated(&self, pod: &mut Tree, old: Option<&Tree>, gated: &GatedFields, def: &'static TypeDef) {
        gated_pods::drop_gated("/spec", pod, old, gated, def);
    }

    fn prepare(&self, pod: &mut Pod, old: Option<&Pod>, write: &WriteInfo<'_>) {
        match old {
            None => begin_status(pod, write.now),
            Some(old) => keep_spec(pod, old, write.subresource),
        }
        match_addresses(&mut pod.status);
        end_in_time(pod);
        // What containers request by default counts for the quality of service.
        SetDefaults::set_defaults(pod);
        if pod.status.qos_class.is_empty() {
            quality_of_service::class_of(&pod.spec).clone_into(&mut pod.status.qos_class);
        }
    }

    fn adds_items(&self, pod: &Pod, write: &WriteInfo<'_>) -> bool {
        affinity::adds_items(pod) || app_armor::adds_items(pod, write.vocabulary)
    }

    fn complete(&self, pod: &mut Pod, write: &WriteInfo<'_>) -> Vec<String> {
        affinity::complete(pod);
        app_armor::complete(pod, write.vocabulary)
    }

    /// Rust, because what may change depends on the path.
    fn validate(&self, pod: &Pod, old: Option<&Pod>, write: &WriteInfo<'_>, violations: &mut Validation<'_>) {
        let Some(old) = old else { return validate_new(pod, violations) };
        let mirror = write.vocabulary.label("config.mirror");
        if write.subresource == EPHEMERAL_CONTAINERS && old.metadata.annotations.contains_key(&mirror) {
            // Nothing else is told.
            violations.take_errors();
            let detail = "static pods do not support ephemeral containers";
            violations.push(FieldError::forbidden(&Path::ROOT.key(""), detail));
        } else if write.subresource == EPHEMERAL_CONTAINERS {
            validate_added_containers(pod, old, violations);
        } else if pod.spec.ephemeral_containers != old.spec.ephemeral_containers {
            refuse_ephemeral_containers(violations);
        }
    }

    fn warns_of_change(&self, _pod: &Tree, _old: &Tree) -> bool {
        false
    }

    fn may_be_removed(&self, pod: &Tree) -> bool {
        Meta::of(pod).deletion_grace_period_seconds().unwrap_or_default() == 0
    }

    fn row_condition(&self, pod: &Tree) -> Option<RowCondition> {
        let (reason, message) = match pod.pointer("/status/phase").and_then(Tree::as_str)? {
            "Succeeded" => ("Succeeded", "The pod has completed successfully."),
            "Failed" => ("Failed", "The pod failed."),
            _ => return None,
        };
        Some(RowCondition { type_: "Completed", reason, message })
    }

    fn grace_period(&self, pod: &Tree, asked: Option<i64>) -> Option<i64> {
        let text = |pointer: &str| pod.pointer(pointer).and_then(Tree::as_str).unwrap_or_default();
        let has_ended = matches!(text("/status/phase"), "Succeeded" | "Failed");
        if text("/spec/nodeName").is_empty() || has_ended {
            return Some(0);
        }
        let own = pod.pointer("/spec/terminationGracePeriodSeconds").and_then(Tree::as_i64);
        asked.or(own).or(Some(DEFAULT_GRACE_SECONDS))
    }
}

/// A new pod waits for a node, and says so where a gate keeps it from getting one.
fn begin_status(pod: &mut Pod, now: Time) {
    "Pending".clone_into(&mut pod.status.phase);
    if !pod.spec.scheduling_gates.is_empty() {
        pod.status.conditions.push(PodCondition {
            type_: "PodScheduled".to_owned(),
            status: "False".to_owned(),
            reason: "SchedulingGated".to_owned(),
            message: "Scheduling is blocked due to non-empty scheduling gates".to_owned(),
            last_transition_time: Some(now),
            ..PodCondition::default()
        });
    }
}

/// Makes `podIP` the first of `podIPs`; where they differ, `podIP` counts.
fn match_addresses(status: &mut PodStatus) {
    match status.pod_ips.first() {
        Some(first) if status.pod_ip.is_empty() => status.pod_ip.clone_from(&first.ip),
        Some(first) if first.ip == status.pod_ip => {}
        _ if status.pod_ip.is_empty() => {}
        _ => status.pod_ips = vec![PodIP { ip: status.pod_ip.clone() }],
    }
}

/// A negative grace period counts as one second.
fn end_in_time(pod: &mut Pod) {
    if let Some(seconds) = &mut pod.spec.termination_grace_period_seconds
        && *seconds < 0
    {
        *seconds = 1;
    }
}

/// What an update keeps of the specification: the priority where the client leaves it out, and on the path
/// for ephemeral containers everything else.
fn keep_spec(pod: &mut Pod, old: &Pod, subresource: &str) {
    let spec = &mut pod.spec;
    if subresource == EPHEMERAL_CONTAINERS {
        let ephemeral = std::mem::take(&mut spec.ephemeral_containers);
        spec.clone_from(&old.spec);
        spec.ephemeral_containers = ephemeral;
    }
    spec.priority = spec.priority.or(old.spec.priority);
    if spec.preemption_policy.is_none() {
        spec.preemption_policy.clone_from(&old.spec.preemption_policy);
    }
}

/// Rust, because no rule of a schema is about new objects alone.
fn validate_new(pod: &Pod, violations: &mut Validation<'_>) {
    if !pod.spec.ephemeral_containers.is_empty() {
        let spec = Path::ROOT.field("spec");
        violations.push(FieldError::forbidden(&spec.field("ephemeralContainers"), "cannot be set on create"));
    }
    if !pod.spec.scheduling_gates.is_empty() && !pod.spec.node_name.is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        violations.push(FieldError::forbidden(&Path::ROOT.field("spec").field("nodeName"), detail));
    }
    profiles_of_pod(pod, &Path::ROOT, violations);
    warn_of_name(pod, violations);
}

/// Warns of a name that is no host name, before all other warnings: Rust, because it is about new pods alone.
fn warn_of_name(pod: &Pod, violations: &mut Validation<'_>) {
    let faults = constraint::dns_label(&pod.metadata.name);
    if faults.is_empty() {
        return;
    }
    let others = violations.take_warnings();
    let metadata = Path::ROOT.field("metadata");
    violations.warn(&metadata.field("name"), format_args!("{NO_HOSTNAME}: [{}]", faults.join(" ")));
    for warning in others {
        violations.warn(&Path::ROOT, warning);
    }
}

/// Ephemeral containers change on their own path only. Another change that is not allowed is told in the same
/// words, and where the number of containers changes, nothing else is told: Rust, because it depends on the
/// path, and on what is told already.
fn refuse_ephemeral_containers(violations: &mut Validation<'_>) {
    let spec = Path::ROOT.field("spec");
    let lists = ["containers", "initContainers"];
    if !violations.has_error_at(&spec) && !lists.iter().any(|list| violations.has_error_at(&spec.field(list)))
    {
        violations.push(FieldError::forbidden(&spec, POD_MAY_CHANGE));
    }
}

/// Ephemeral containers can be added, but not removed or changed: Rust, because it depends on the path.
fn validate_added_containers(pod: &Pod, old: &Pod, violations: &mut Validation<'_>) {
    let spec = Path::ROOT.field("spec");
    // From the end, so that the first of several equal names counts.
    let containers = pod.spec.ephemeral_containers.iter().rev();
    let containers: BTreeMap<&str, &EphemeralContainer> =
        containers.map(|container| (container.name.as_str(), container)).collect();
    for kept in &old.spec.ephemeral_containers {
        let fault = match containers.get(kept.name.as_str()) {
            None => "removed",
            Some(container) if *container != kept => "changed",
            Some(_) => continue,
        };
        let detail = format!("existing ephemeral containers {:?} may not be {fault}\n", kept.name);
        violations.push(FieldError::forbidden(&spec.field("ephemeralContainers"), &detail));
    }
}
