//! `DefaultStorageClass`: a new claim that names no class gets the default one, if there is one.

use orch_api::{core::v1::PersistentVolumeClaim, storage::v1::StorageClass};
use orch_auth::answer::Answer;
use orch_registry::{
    admission::{AdmissionPlugin, AdmissionRequest, Admitted},
    catalog::ServedResource,
    objects::Objects,
    stored,
};
use orch_runtime::{
    object::Kind,
    resource_def::{FieldPath, ResourceDef},
    vocabulary::Vocabulary,
};
use orch_storage::Object;

use super::{claim_class, created, is};

pub(crate) struct DefaultStorageClass;

impl AdmissionPlugin for DefaultStorageClass {
    fn name(&self) -> &'static str {
        "DefaultStorageClass"
    }

    fn mutate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        let (objects, vocabulary) = (request.objects, request.resource.vocabulary);
        if let Some(claim) = created::<PersistentVolumeClaim>(request)
            && claim_class(claim, vocabulary).is_none()
            && let Some(class) = default(objects)
        {
            claim.spec.storage_class_name = Some(class);
        }
        Answer::Ready(Ok(()))
    }

    fn added_fields(&self, def: &ResourceDef) -> &'static [FieldPath] {
        if is::<PersistentVolumeClaim>(def) { &[&["spec", "storageClassName"]] } else { &[] }
    }
}

/// When a class was made that is marked as the default, and its name; remembered with each state of a class.
struct Marked(Option<(String, String)>);

/// Of several classes that are marked as default, the youngest one, and the first one by name among these.
fn default(objects: &Objects) -> Option<String> {
    // A server without the kind has no classes.
    let classes = objects.catalog().served(StorageClass::RESOURCE)?;
    let snapshot = objects.snapshot(classes);
    let mut youngest: Option<&(String, String)> = None;
    for object in snapshot.iter() {
        let marked = object.memo::<Marked>(|object| Marked(marked(classes, object))).0.as_ref();
        if let Some((made, name)) = marked
            && youngest.is_none_or(|(other, first)| made > other || made == other && name < first)
        {
            youngest = marked;
        }
    }
    youngest.map(|(_, name)| name.clone())
}

fn marked(classes: &ServedResource, object: &Object) -> Option<(String, String)> {
    let tree = stored::tree_of(classes, object).ok()?;
    let metadata = &tree["metadata"];
    let is_marked = marks(classes.vocabulary).iter().any(|key| metadata["annotations"][key] == "true");
    let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
    is_marked.then(|| (text("creationTimestamp"), text("name")))
}

/// The annotations that mark the default class.
fn marks(vocabulary: &Vocabulary) -> [String; 2] {
    let domain = vocabulary.label_domain;
    ["", "beta."].map(|stage| format!("storageclass.{stage}{domain}/is-default-class"))
}

#[cfg(test)]
mod tests {
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
