//! Secrets of bootstrap tokens, for authentication.

use std::sync::Arc;

use orch_api::core::v1::Secret;
use orch_auth::authenticator::bootstrap_token::{BootstrapToken, BootstrapTokens};
use orch_registry::{catalog::ServedResource, objects::Objects, stored};
use orch_runtime::{
    object::{Kind, typed_from_tree},
    vocabulary::Vocabulary,
};
use orch_storage::Object;

/// The newest state of the secrets of bootstrap tokens.
pub struct BootstrapSecrets {
    objects: Objects,
    secrets: Option<Arc<ServedResource>>,
}

/// The token that a secret makes; remembered with each state of it.
struct Remembered(Option<Arc<BootstrapToken>>);

impl BootstrapSecrets {
    /// Looks into these objects. Without secrets there are no tokens.
    pub fn new(objects: Objects) -> Self {
        let secrets = objects.catalog().served(Secret::RESOURCE).cloned();
        BootstrapSecrets { objects, secrets }
    }
}

impl BootstrapTokens for BootstrapSecrets {
    fn find(&self, secret_name: &str) -> Option<Arc<BootstrapToken>> {
        let secrets = self.secrets.as_ref()?;
        let vocabulary = self.objects.catalog().vocabulary;
        let snapshot = self.objects.snapshot(secrets);
        let object = snapshot.get(vocabulary.namespace_system, secret_name)?;
        let remembered = object.memo::<Remembered>(|object| Remembered(token(vocabulary, secrets, object)));
        remembered.0.clone()
    }
}

fn token(vocabulary: &Vocabulary, secrets: &ServedResource, object: &Object) -> Option<Arc<BootstrapToken>> {
    let secret: Secret = typed_from_tree(stored::tree_of(secrets, object).ok()?).ok()?;
    let is_token = secret.type_ == vocabulary.bootstrap_token_secret_type
        && secret.metadata.deletion_timestamp.is_none();
    let token = BootstrapToken::of_secret(&secret.metadata.name, &secret.data);
    token.filter(|_| is_token).map(Arc::new)
}

#[cfg(test)]
mod tests {
    use orch_api::core::v1::Namespace;
    use orch_registry::options::DeletionOptions;
    use serde_json::json;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer};

    const NAME: &str = "bootstrap-token-abc123";

    #[tokio::test]
    async fn a_secret_makes_a_token_while_it_has_the_type_and_is_not_deleted() {
        let server = TestServer::start().await;
        let system = json!({"metadata": {"name": "kube-system"}});
        server.create::<Namespace>("", system).await.unwrap();
        let tokens = BootstrapSecrets::new(server.core.objects().clone());
        let secrets = server.resource::<Secret>();
        for (kind, namespace, is_token) in [
            ("bootstrap.kubernetes.io/token", "kube-system", true),
            ("bootstrap.kubernetes.io/token", NAMESPACE, false),
            ("Opaque", "kube-system", false),
        ] {
            assert!(tokens.find(NAME).is_none());
            let secret = json!({
                "metadata": {"name": NAME, "finalizers": ["example.com/f"]}, "type": kind,
                "stringData": {
                    "token-id": "abc123", "token-secret": "0123456789abcdef",
                    "usage-bootstrap-authentication": "true",
                },
            });
            server.create::<Secret>(namespace, secret).await.unwrap();
            assert_eq!(tokens.find(NAME).is_some(), is_token, "{kind} in {namespace}");
            let options = DeletionOptions::default();
            server.client.delete(secrets, namespace, NAME, options).await.unwrap();
            assert!(tokens.find(NAME).is_none(), "{kind} in {namespace}");
            let mut freed = server.client.get(secrets, namespace, NAME).unwrap().tree;
            freed["metadata"]["finalizers"] = json!(null);
            server.client.update(secrets, "", freed).await.unwrap();
        }
    }
}
