//! `DefaultTolerationSeconds`: a pod stays for a while on a node that fails, unless the pod says otherwise.

use orch_api::core::v1::{Pod, Toleration};
use orch_auth::answer::Answer;
use orch_registry::admission::{AdmissionPlugin, AdmissionRequest, Admitted};
use orch_runtime::{
    resource_def::{FieldPath, ResourceDef},
    vocabulary::Vocabulary,
};

use super::{is, written};

/// How long a pod stays.
const TOLERATED_SECONDS: i64 = 300;
const NO_EXECUTE: &str = "NoExecute";

pub(crate) struct DefaultTolerationSeconds;

impl AdmissionPlugin for DefaultTolerationSeconds {
    fn name(&self) -> &'static str {
        "DefaultTolerationSeconds"
    }

    fn mutate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        let vocabulary = request.resource.vocabulary;
        if let Some(pod) = written(request) {
            tolerate_failing_nodes(pod, vocabulary);
        }
        Answer::Ready(Ok(()))
    }

    fn added_fields(&self, def: &ResourceDef) -> &'static [FieldPath] {
        if is::<Pod>(def) { &[&["spec", "tolerations"]] } else { &[] }
    }
}

fn tolerate_failing_nodes(pod: &mut Pod, vocabulary: &Vocabulary) {
    for fault in ["not-ready", "unreachable"] {
        let key = format!("node.{}/{fault}", vocabulary.label_domain);
        let applies = |toleration: &Toleration| {
            (toleration.key == key || toleration.key.is_empty())
                && (toleration.effect == NO_EXECUTE || toleration.effect.is_empty())
        };
        if !pod.spec.tolerations.iter().any(applies) {
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

#[cfg(test)]
mod tests {
    use orch_api::KUBERNETES;
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn pods_may_say_otherwise() {
        let not_ready = "node.kubernetes.io/not-ready";
        let unreachable = "node.kubernetes.io/unreachable";
        for (own, added) in [
            (json!([]), &[not_ready, unreachable][..]),
            (json!([{"key": "other", "operator": "Exists"}]), &[not_ready, unreachable]),
            (
                json!([{"key": not_ready, "operator": "Exists", "effect": "NoSchedule"}]),
                &[not_ready, unreachable],
            ),
            (json!([{"key": not_ready, "operator": "Exists", "effect": "NoExecute"}]), &[unreachable]),
            (json!([{"key": unreachable, "operator": "Exists"}]), &[not_ready]),
            (json!([{"operator": "Exists"}]), &[]),
        ] {
            let mut pod: Pod = from_value(json!({"spec": {"tolerations": own, "containers": []}})).unwrap();
            let before = pod.spec.tolerations.clone();
            tolerate_failing_nodes(&mut pod, &KUBERNETES);
            let (kept, new) = pod.spec.tolerations.split_at(before.len());
            assert_eq!(kept, before);
            let keys: Vec<&str> = new.iter().map(|toleration| toleration.key.as_str()).collect();
            assert_eq!(keys, added, "{own}");
            assert!(new.iter().all(|toleration| toleration.toleration_seconds == Some(300)));
        }
    }
}
