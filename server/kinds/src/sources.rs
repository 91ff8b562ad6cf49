//! The stored objects that other crates look up without knowing kinds or the registry. Nothing else gives
//! `orch-auth` its objects.

pub mod bootstrap_secrets;
pub mod flow_control;
pub mod node_graph;
pub mod policies;
pub mod standing;

use std::sync::Arc;

use orch_api::core::v1::{Node, Pod, Secret, ServiceAccount};
use orch_auth::service_account::{Directory, Found, Kind as BoundKind, TokenDigest};
use orch_machinery::meta::Meta;
use orch_registry::{catalog::ServedResource, objects::Objects, stored};
use orch_runtime::{
    Tree, TreeMap,
    object::{Kind, typed_from_tree},
    resource_def::ResourceDef,
    scalar::Time,
};
use orch_storage::Object;

use crate::token_secret::{self, TOKEN, account_of, is_ended};

/// The kinds that tokens of service accounts are bound to.
const BOUND: [BoundKind; 4] = [BoundKind::ServiceAccount, BoundKind::Pod, BoundKind::Secret, BoundKind::Node];

/// The row of the resource table of a kind that tokens are bound to.
pub(crate) fn resource_of(kind: BoundKind) -> &'static ResourceDef {
    match kind {
        BoundKind::ServiceAccount => ServiceAccount::RESOURCE,
        BoundKind::Pod => Pod::RESOURCE,
        BoundKind::Secret => Secret::RESOURCE,
        BoundKind::Node => Node::RESOURCE,
    }
}

/// The newest state of the objects that tokens of service accounts are bound to.
pub struct AccountDirectory {
    objects: Objects,
    /// Those of the kinds that are served. Every request with a token asks, so they are looked up once.
    resources: Vec<(BoundKind, Arc<ServedResource>)>,
}

/// What authentication asks of an object; remembered with each state of it. `None` for one that cannot be
/// read: no token is valid because of it.
struct Remembered(Option<Found>);

impl AccountDirectory {
    /// Looks into these objects.
    pub fn new(objects: Objects) -> Self {
        let served = |kind| Some((kind, Arc::clone(objects.catalog().served(resource_of(kind))?)));
        let resources = BOUND.into_iter().filter_map(served).collect();
        AccountDirectory { objects, resources }
    }
}

impl Directory for AccountDirectory {
    fn find(&self, kind: BoundKind, namespace: &str, name: &str) -> Option<Found> {
        let (_, resource) = self.resources.iter().find(|(of, _)| *of == kind)?;
        let snapshot = self.objects.snapshot(resource);
        let object = snapshot.get(namespace, name)?;
        object.memo::<Remembered>(|object| Remembered(found(object))).0.clone()
    }

    fn token_held(&self, namespace: &str, secret: &str) -> Option<TokenDigest> {
        let (_, resource) = self.resources.iter().find(|(of, _)| *of == BoundKind::Secret)?;
        let snapshot = self.objects.snapshot(resource);
        let object = snapshot.get(namespace, secret)?;
        object.memo(|object| HeldToken(held_token(resource, object))).0
    }
}

/// The token in a secret; remembered with each state of it. `None` where the secret is of another type, or
/// says that its token is not valid any more.
struct HeldToken(Option<TokenDigest>);

fn held_token(resource: &ServedResource, object: &Object) -> Option<TokenDigest> {
    let vocabulary = resource.vocabulary;
    let [name, uid] = token_secret::annotations(vocabulary);
    let ended = token_secret::ended_label(vocabulary);
    let secret = part_of(
        object,
        &[
            &["type"],
            &["metadata", "labels", &ended],
            &["metadata", "annotations", &name],
            &["metadata", "annotations", &uid],
            &["data", TOKEN],
        ],
    );
    let secret: Secret = typed_from_tree(secret.ok()?).ok()?;
    let is_held = account_of(&secret, vocabulary).is_some() && !is_ended(&secret, vocabulary);
    secret.data.get(TOKEN).filter(|_| is_held).map(|token| TokenDigest::of(&token.0))
}

fn found(object: &Object) -> Option<Found> {
    let tree = part_of(object, &[&["metadata", "uid"], &["metadata", "deletionTimestamp"]]).ok()?;
    let meta = Meta::of(&tree);
    let deleted_at = meta.deletion_timestamp().and_then(|text| text.parse::<Time>().ok());
    Some(Found { uid: meta.uid().to_owned(), deleted_at: deleted_at.map(Time::as_unix_seconds) })
}

/// What an object has at these paths and nothing else: the rest may be large.
///
/// # Errors
/// Why it cannot be read, for the log.
pub(crate) fn part_of(object: &Object, paths: &[&[&str]]) -> Result<Tree, String> {
    let bytes = object.value().map_err(|corrupt| corrupt.detail.to_string())?;
    let mut part = Tree::Object(TreeMap::new());
    for (path, value) in paths.iter().zip(stored::values_at(bytes, paths)?) {
        if let Some(value) = value {
            *path.iter().fold(&mut part, |place, name| &mut place[*name]) = value;
        }
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use orch_registry::options::DeletionOptions;
    use serde_json::json;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer};

    #[tokio::test]
    async fn objects_are_found_as_they_are_now() {
        let server = TestServer::start().await;
        let directory = AccountDirectory::new(server.core.objects().clone());
        assert_eq!(directory.find(BoundKind::Secret, NAMESPACE, "s"), None);
        let secret = json!({"metadata": {"name": "s", "finalizers": ["example.com/f"]}});
        let secret = server.create::<Secret>(NAMESPACE, secret).await.unwrap();
        let uid = secret["metadata"]["uid"].as_str().unwrap().to_owned();
        let found = Found { uid, deleted_at: None };
        assert_eq!(directory.find(BoundKind::Secret, NAMESPACE, "s"), Some(found.clone()));
        assert_eq!(directory.find(BoundKind::Pod, NAMESPACE, "s"), None);

        let secrets = server.resource::<Secret>();
        server.client.delete(secrets, NAMESPACE, "s", DeletionOptions::default()).await.unwrap();
        let deleted = Found { deleted_at: Some(1_700_000_000), ..found };
        assert_eq!(directory.find(BoundKind::Secret, NAMESPACE, "s"), Some(deleted));
    }

    /// Only what is asked is read of it: the rest could not be.
    #[tokio::test]
    async fn of_a_large_secret_a_few_values_are_read() {
        let server = TestServer::start().await;
        let directory = AccountDirectory::new(server.core.objects().clone());
        let annotation = |key: &str| format!("kubernetes.io/service-account.{key}");
        let text = json!({
            "metadata": {"uid": "u", "annotations": {annotation("name"): "robot", "x": {"no": "text"}}},
            "type": "kubernetes.io/service-account-token",
            "data": {"token": "c2VjcmV0", "x": ["no text"]},
        });
        server.store::<Secret>(NAMESPACE, "s", &text).await;
        let found = Found { uid: "u".to_owned(), deleted_at: None };
        assert_eq!(directory.find(BoundKind::Secret, NAMESPACE, "s"), Some(found));
        assert!(directory.token_held(NAMESPACE, "s") == Some(TokenDigest::of(b"secret")));
    }
}
