//! `PersistentVolumeClaimResize`: a claim grows only once it has a volume, and where its class allows it.

use orch_api::{
    core::v1::{PersistentVolumeClaim, PersistentVolumeClaimPhase},
    storage::v1::StorageClass,
};
use orch_auth::answer::Answer;
use orch_registry::{
    admission::{AdmissionPlugin, AdmissionRequest, Admitted},
    error::ApiError,
    objects::Objects,
    stored,
};
use orch_runtime::{object::Kind, resource_def::Verb, vocabulary::Vocabulary};

use super::{claim_class, written};

const STORAGE: &str = "storage";

pub(crate) struct PersistentVolumeClaimResize;

impl AdmissionPlugin for PersistentVolumeClaimResize {
    fn name(&self) -> &'static str {
        "PersistentVolumeClaimResize"
    }

    fn validate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        let (objects, resource, name) = (request.objects, request.resource, request.name);
        let old = request.old.and_then(|old| old.as_any().downcast_ref::<PersistentVolumeClaim>());
        let (Verb::Update, Some(old)) = (request.operation, old) else { return Answer::Ready(Ok(())) };
        let Some(new) = written::<PersistentVolumeClaim>(request) else { return Answer::Ready(Ok(())) };
        let fault = fault(new, old, objects, resource.vocabulary);
        Answer::Ready(fault.map_or(Ok(()), |why| Err(ApiError::not_admitted(resource, name, why))))
    }
}

/// Why a claim may not grow; `None` where it does not, or may.
fn fault(
    new: &PersistentVolumeClaim,
    old: &PersistentVolumeClaim,
    objects: &Objects,
    vocabulary: &Vocabulary,
) -> Option<&'static str> {
    let wanted = |claim: &PersistentVolumeClaim| {
        claim.spec.resources.requests.get(STORAGE).cloned().unwrap_or_default()
    };
    if wanted(new) <= wanted(old) {
        return None;
    }
    if old.status.phase != Some(PersistentVolumeClaimPhase::Bound) {
        return Some("Only bound persistent volume claims can be expanded");
    }
    let class = claim_class(new, vocabulary).filter(|class| !class.is_empty());
    let allows = class
        .is_some_and(|class| claim_class(old, vocabulary) == Some(class) && allows_expansion(objects, class));
    let refused = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc \
                   must support resize";
    (!allows).then_some(refused)
}

fn allows_expansion(objects: &Objects, name: &str) -> bool {
    // A server without the kind has no classes.
    let Some(classes) = objects.catalog().served(StorageClass::RESOURCE) else { return false };
    let snapshot = objects.snapshot(classes);
    let class = snapshot.get("", name).and_then(|class| stored::tree_of(classes, class).ok());
    class.is_some_and(|class| class["allowVolumeExpansion"] == true)
}

#[cfg(test)]
mod tests {
    use orch_runtime::Tree;
    use serde_json::json;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer};

    #[tokio::test]
    async fn bound_claims_grow_where_their_class_allows_it() {
        let server = TestServer::start().await;
        for (name, allows) in [("grows", json!(true)), ("fixed", json!(false)), ("silent", Tree::Null)] {
            let class = json!({
                "metadata": {"name": name}, "provisioner": "example.com/disk", "allowVolumeExpansion": allows,
            });
            server.create::<StorageClass>("", class).await.unwrap();
        }
        let refused = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc \
                       must support resize";
        for (class, expected) in [
            ("grows", None),
            ("fixed", Some(refused)),
            ("silent", Some(refused)),
            ("gone", Some(refused)),
            ("", Some(refused)),
        ] {
            let name = format!("c-{class}x");
            let claim = json!({
                "metadata": {"name": name},
                "spec": {
                    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
                    "storageClassName": class,
                },
            });
            server.create::<PersistentVolumeClaim>(NAMESPACE, claim).await.unwrap();
            let bind =
                |tree: &mut Tree| tree["status"] = json!({"phase": "Bound", "capacity": {"storage": "1Gi"}});
            server.update::<PersistentVolumeClaim>("status", NAMESPACE, &name, bind).await.unwrap();
            let grow = |tree: &mut Tree| tree["spec"]["resources"]["requests"]["storage"] = json!("2Gi");
            let grown = server.update::<PersistentVolumeClaim>("", NAMESPACE, &name, grow).await;
            match expected {
                None => assert_eq!(grown.unwrap()["spec"]["resources"]["requests"]["storage"], "2Gi"),
                Some(why) => assert!(format!("{:?}", grown.unwrap_err()).contains(why), "{class}"),
            }
            let label = |tree: &mut Tree| tree["metadata"]["labels"] = json!({"a": "b"});
            server.update::<PersistentVolumeClaim>("", NAMESPACE, &name, label).await.unwrap();
        }
    }
}
