//! The pods that a daemon set makes.
//!
//! A pod is made for one node. Its affinity requires the node's name, as with the reference's controller, and
//! it is bound to the node at once: a server need not have a scheduler, and one that runs leaves bound pods
//! alone. A template that names a scheduler of its own, or has scheduling gates, gets pods that wait for
//! that scheduler.

use orch_api::{
    apps::v1::DaemonSet,
    core::v1::{Pod, PodSpec},
};
use orch_meta::meta::v1::{ObjectMeta, OwnerReference};
use orch_runtime::vocabulary::Vocabulary;

use super::{
    placement::{pin, tolerate},
    state::HASH_LABEL,
};

/// The scheduler of templates that name none.
const DEFAULT_SCHEDULER: &str = "default-scheduler";
/// Counts the changes of a set's template; other controllers read it from the label of its pods.
const GENERATION_ANNOTATION: &str = "deprecated.daemonset.template.generation";
const GENERATION_LABEL: &str = "pod-template-generation";

/// The specification of a set's pods, before they are made for a node.
pub(super) fn spec_of(set: &DaemonSet, vocabulary: &Vocabulary) -> PodSpec {
    let mut spec = set.spec.template.spec.clone();
    tolerate(&mut spec, vocabulary);
    spec
}

/// The pod for a node, with the label of its template.
pub(super) fn pod_for(
    node: &str,
    set: &DaemonSet,
    mut spec: PodSpec,
    owner: &OwnerReference,
    hash: &str,
) -> Pod {
    pin(&mut spec, node);
    let is_default = [DEFAULT_SCHEDULER, ""].contains(&spec.scheduler_name.as_str());
    if is_default && spec.scheduling_gates.is_empty() {
        node.clone_into(&mut spec.node_name);
    }
    let template = &set.spec.template.metadata;
    let mut labels = template.labels.clone();
    labels.insert(HASH_LABEL.to_owned(), hash.to_owned());
    if let Some(generation) = set.metadata.annotations.get(GENERATION_ANNOTATION) {
        labels.insert(GENERATION_LABEL.to_owned(), generation.clone());
    }
    let metadata = ObjectMeta {
        generate_name: format!("{}-", set.metadata.name),
        namespace: set.metadata.namespace.clone(),
        labels,
        annotations: template.annotations.clone(),
        finalizers: template.finalizers.clone(),
        owner_references: vec![owner.clone()],
        ..ObjectMeta::default()
    };
    Pod { metadata, spec, ..Pod::default() }
}

#[cfg(test)]
mod tests {
    use orch_api::ORCH;
    use serde_json::{Value, from_value, json};

    use super::*;

    fn made(template: &Value) -> Pod {
        let annotations = json!({GENERATION_ANNOTATION: "3"});
        let set: DaemonSet = from_value(json!({
            "metadata": {"name": "d", "namespace": "n", "annotations": annotations},
            "spec": {"template": template},
        }))
        .unwrap();
        pod_for("one", &set, spec_of(&set, &ORCH), &OwnerReference::default(), "h")
    }

    #[test]
    fn a_pod_is_made_for_a_node() {
        let containers = json!([{"name": "c", "image": "i"}]);
        let metadata = json!({"labels": {"app": "a"}, "annotations": {"x": "y"}});
        let pod = made(&json!({"metadata": metadata, "spec": {"containers": containers}}));
        assert_eq!((&*pod.metadata.generate_name, &*pod.metadata.namespace), ("d-", "n"));
        let labels = [("app", "a"), (HASH_LABEL, "h"), (GENERATION_LABEL, "3")];
        assert_eq!(pod.metadata.labels, labels.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
        assert_eq!(pod.metadata.annotations["x"], "y");
        assert_eq!((pod.metadata.owner_references.len(), &*pod.spec.node_name), (1, "one"));
        assert!(pod.spec.affinity.is_some() && !pod.spec.tolerations.is_empty());
    }

    #[test]
    fn pods_wait_for_a_scheduler_that_the_template_asks_for() {
        for (spec, node) in [
            (json!({}), "one"),
            (json!({"schedulerName": DEFAULT_SCHEDULER}), "one"),
            (json!({"schedulerName": "mine"}), ""),
            (json!({"schedulingGates": [{"name": "g"}]}), ""),
        ] {
            assert_eq!(made(&json!({"spec": spec})).spec.node_name, node, "{spec}");
        }
    }
}
