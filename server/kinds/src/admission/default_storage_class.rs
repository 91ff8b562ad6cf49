//! `DefaultStorageClass`: a new claim that names no class gets the default one, if there is one.

use orch_api::core::v1::PersistentVolumeClaim;
use orch_auth::answer::Answer;
use orch_registry::admission::{AdmissionPlugin, AdmissionRequest, Admitted};
use orch_runtime::resource_def::{FieldPath, ResourceDef};

use super::{claim_class, created, is};
use crate::default_class;

pub(crate) struct DefaultStorageClass;

impl AdmissionPlugin for DefaultStorageClass {
    fn name(&self) -> &'static str {
        "DefaultStorageClass"
    }

    fn mutate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        let (objects, vocabulary) = (request.objects, request.resource.vocabulary);
        if let Some(claim) = created::<PersistentVolumeClaim>(request)
            && claim_class(claim, vocabulary).is_none()
            && let Some(class) = default_class::name(objects)
        {
            claim.spec.storage_class_name = Some(class);
        }
        Answer::Ready(Ok(()))
    }

    fn added_fields(&self, def: &ResourceDef) -> &'static [FieldPath] {
        if is::<PersistentVolumeClaim>(def) { &[&["spec", "storageClassName"]] } else { &[] }
    }
}

#[cfg(test)]
mod tests {
    use orch_api::storage::v1::StorageClass;
    use orch_runtime::Tree;
    use serde_json::json;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer, is_owned};

    fn claim(name: &str, class: &Tree) -> Tree {
        json!({
            "metadata": {"name": name},
            "spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
                "storageClassName": class,
            },
        })
    }

    #[tokio::test]
    async fn a_claim_without_a_class_gets_the_default_one() {
        let server = TestServer::start().await;
        let class = async |name: &str, mark: &str| {
            let class = json!({
                "metadata": {"name": name, "annotations": {mark: "true"}}, "provisioner": "example.com/disk",
            });
            server.create::<StorageClass>("", class).await.unwrap();
        };
        let given = async |name: &str, class: Tree| {
            server.create::<PersistentVolumeClaim>(NAMESPACE, claim(name, &class)).await.unwrap()
        };
        assert_eq!(given("none", Tree::Null).await["spec"].get("storageClassName"), None);
        class("usual", "storageclass.beta.kubernetes.io/is-default-class").await;
        class("other", "example.com/is-default-class").await;
        let usual = given("usual", Tree::Null).await;
        assert_eq!(usual["spec"]["storageClassName"], "usual");
        assert!(!is_owned(&usual, &["f:spec", "f:storageClassName"]));
        for (name, sent) in [("named", "other"), ("empty", "")] {
            assert_eq!(given(name, json!(sent)).await["spec"]["storageClassName"], sent);
        }
        // Of two that were made in the same second, the first one by name counts.
        class("a-later", "storageclass.kubernetes.io/is-default-class").await;
        assert_eq!(given("later", Tree::Null).await["spec"]["storageClassName"], "a-later");
    }
}
