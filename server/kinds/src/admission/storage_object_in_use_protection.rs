//! `StorageObjectInUseProtection`: new volumes and claims get the finalizer that keeps them while they are in
//! use; see [`volume_protection`].

use orch_api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use orch_auth::answer::Answer;
use orch_registry::admission::{AdmissionPlugin, AdmissionRequest, Admitted};
use orch_runtime::resource_def::ResourceDef;

use super::{created, is};
use crate::volume_protection;

pub(crate) struct StorageObjectInUseProtection;

impl AdmissionPlugin for StorageObjectInUseProtection {
    fn name(&self) -> &'static str {
        "StorageObjectInUseProtection"
    }

    fn mutate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        let vocabulary = request.resource.vocabulary;
        if let Some(volume) = created::<PersistentVolume>(request) {
            add(&mut volume.metadata.finalizers, volume_protection::volume_finalizer(vocabulary));
        } else if let Some(claim) = created::<PersistentVolumeClaim>(request) {
            add(&mut claim.metadata.finalizers, volume_protection::claim_finalizer(vocabulary));
        }
        Answer::Ready(Ok(()))
    }

    fn adds_items(&self, def: &ResourceDef) -> bool {
        is::<PersistentVolume>(def) || is::<PersistentVolumeClaim>(def)
    }
}

fn add(finalizers: &mut Vec<String>, finalizer: String) {
    if !finalizers.contains(&finalizer) {
        finalizers.push(finalizer);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer, is_owned};

    #[tokio::test]
    async fn new_volumes_and_claims_have_the_finalizer() {
        let server = TestServer::start().await;
        let volume = json!({
            "metadata": {"name": "v"},
            "spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/v"},
            },
        });
        let volume = server.create::<PersistentVolume>("", volume).await.unwrap();
        assert_eq!(volume["metadata"]["finalizers"], json!(["kubernetes.io/pv-protection"]));
        assert!(!is_owned(&volume, &["f:metadata", "f:finalizers"]));
        let own = "kubernetes.io/pvc-protection";
        for (name, sent, expected) in [
            ("a", json!([]), json!([own])),
            ("b", json!(["example.com/f"]), json!(["example.com/f", own])),
            ("c", json!([own]), json!([own])),
        ] {
            let claim = json!({
                "metadata": {"name": name, "finalizers": sent},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            });
            let claim = server.create::<PersistentVolumeClaim>(NAMESPACE, claim).await.unwrap();
            assert_eq!(claim["metadata"]["finalizers"], expected);
            // Who sends finalizers owns these, and not the one that is added.
            for finalizer in expected.as_array().unwrap() {
                let of_set = format!("v:{finalizer}");
                let is_sent = sent.as_array().unwrap().contains(finalizer);
                assert_eq!(is_owned(&claim, &["f:metadata", "f:finalizers", &of_set]), is_sent, "{claim}");
            }
        }
    }
}
