//! `Pod`: what is filled in when it is created, how long it may take to end, and the containers that are added while it
//! runs.

mod priority;
mod quality;

use orch_api::{
    core::v1::{Pod, Toleration},
    validators::POD_MAY_CHANGE,
};
use orch_machinery::meta::Meta;
use orch_runtime::{
    Tree, constraint,
    field_error::{FieldError, Validation},
    object::{ApiObject, SetDefaults},
    path::Path,
    resource_def::FieldPath,
    vocabulary::Vocabulary,
};

use super::{Change, Hooks, WRITABLE_METADATA};
use crate::app::App;

/// How long containers may take to end where a pod does not say.
const DEFAULT_GRACE_SECONDS: i64 = 30;
/// How long a pod stays on a node that fails, where it does not say.
const TOLERATED_SECONDS: i64 = 300;
const NO_EXECUTE: &str = "NoExecute";
const EPHEMERAL_CONTAINERS: &str = "ephemeralcontainers";

const NO_HOSTNAME: &str = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is \
    recommended";

pub(super) struct PodHooks;

impl Hooks for PodHooks {
    fn kept_metadata(&self, subresource: &str) -> &'static [FieldPath] {
        match subresource {
            // Old agents on nodes send these back damaged.
            "status" => &[&["metadata", "ownerReferences"]],
            EPHEMERAL_CONTAINERS => WRITABLE_METADATA,
            _ => &[],
        }
    }

    fn admit(&self, app: &App, object: &mut dyn ApiObject) -> Result<(), String> {
        let Some(pod) = object.as_any_mut().downcast_mut::<Pod>() else { return Ok(()) };
        priority::assign(app, pod)
    }

    fn prepare(&self, object: &mut dyn ApiObject, old: Option<&dyn ApiObject>, change: &Change<'_>) {
        let Some(pod) = object.as_any_mut().downcast_mut::<Pod>() else { return };
        let old = old.and_then(|old| old.as_any().downcast_ref::<Pod>());
        match (old, change.subresource) {
            (None, _) => {
                tolerate_failing_nodes(pod, change.vocabulary);
                "Pending".clone_into(&mut pod.status.phase);
            }
            (Some(_), "") => tolerate_failing_nodes(pod, change.vocabulary),
            (Some(old), EPHEMERAL_CONTAINERS) => {
                let ephemeral = std::mem::take(&mut pod.spec.ephemeral_containers);
                pod.spec.clone_from(&old.spec);
                pod.spec.ephemeral_containers = ephemeral;
            }
            _ => {}
        }
        let spec = &mut pod.spec;
        if let Some(old) = old {
            spec.priority = spec.priority.or(old.spec.priority);
            if spec.preemption_policy.is_none() {
                spec.preemption_policy.clone_from(&old.spec.preemption_policy);
            }
        }
        SetDefaults::set_defaults(pod);
        if pod.status.qos_class.is_empty() {
            quality::of(&pod.spec).clone_into(&mut pod.status.qos_class);
        }
    }

    fn validate(
        &self,
        object: &dyn ApiObject,
        old: Option<&dyn ApiObject>,
        change: &Change<'_>,
        cx: &mut Validation<'_>,
    ) {
        let Some(pod) = object.as_any().downcast_ref::<Pod>() else { return };
        let old = old.and_then(|old| old.as_any().downcast_ref::<Pod>());
        let spec = Path::ROOT.field("spec");
        let at = spec.field("ephemeralContainers");
        let containers = &pod.spec.ephemeral_containers;
        let Some(old) = old else {
            if !containers.is_empty() {
                cx.push(FieldError::forbidden(&at, "cannot be set on create"));
            }
            let faults = constraint::dns_label(&pod.metadata.name);
            if !faults.is_empty() {
                let metadata = Path::ROOT.field("metadata");
                cx.warn(&metadata.field("name"), format_args!("{NO_HOSTNAME}: [{}]", faults.join(" ")));
            }
            return;
        };
        let before = &old.spec.ephemeral_containers;
        if change.subresource != EPHEMERAL_CONTAINERS {
            if containers != before {
                cx.push(FieldError::forbidden(&spec, POD_MAY_CHANGE));
            }
            return;
        }
        for kept in before {
            let fault = match containers.iter().find(|container| container.name == kept.name) {
                None => "removed",
                Some(container) if container != kept => "changed",
                Some(_) => continue,
            };
            let detail = format!("existing ephemeral containers {:?} may not be {fault}\n", kept.name);
            cx.push(FieldError::forbidden(&at, &detail));
        }
    }

    fn added_fields(&self) -> &'static [FieldPath] {
        &[
            &["spec", "priority"],
            &["spec", "preemptionPolicy"],
            &["spec", "priorityClassName"],
            &["spec", "tolerations"],
        ]
    }

    fn may_be_removed(&self, tree: &Tree) -> bool {
        Meta::of(tree).deletion_grace_period_seconds().unwrap_or_default() == 0
    }

    fn grace_period(&self, tree: &Tree, asked: Option<i64>) -> Option<i64> {
        let text = |pointer: &str| tree.pointer(pointer).and_then(Tree::as_str).unwrap_or_default();
        let has_ended = matches!(text("/status/phase"), "Succeeded" | "Failed");
        if text("/spec/nodeName").is_empty() || has_ended {
            return Some(0);
        }
        let own = tree.pointer("/spec/terminationGracePeriodSeconds").and_then(Tree::as_i64);
        asked.or(own).or(Some(DEFAULT_GRACE_SECONDS))
    }
}

/// A pod stays for a while on a node that fails, unless it says otherwise.
fn tolerate_failing_nodes(pod: &mut Pod, vocabulary: &Vocabulary) {
    for fault in ["not-ready", "unreachable"] {
        let key = format!("node.{}/{fault}", vocabulary.label_domain);
        let is_meant = |toleration: &Toleration| {
            (toleration.key == key || toleration.key.is_empty())
                && (toleration.effect == NO_EXECUTE || toleration.effect.is_empty())
        };
        if !pod.spec.tolerations.iter().any(is_meant) {
            pod.spec.tolerations.push(Toleration {
                key,
                operator: "Exists".to_owned(),
                effect: NO_EXECUTE.to_owned(),
                toleration_seconds: Some(TOLERATED_SECONDS),
                ..Toleration::default()
            });
        }
    }
}
