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
