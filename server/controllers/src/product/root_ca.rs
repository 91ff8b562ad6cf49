//! Gives each namespace a config map with the authorities that clients of this server trust, so that programs
//! in the namespace can reach it. One that somebody changes or deletes is as it was again; when the
//! authorities change, so do all of them.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use orch_api::core::v1::{ConfigMap, Namespace};
use orch_meta::meta::v1::ObjectMeta;
use orch_registry::{
    catalog::Catalog,
    client::Client,
    error::{ApiError, Result},
};
use orch_runtime::object::Kind;
use orch_storage::{Key, StoreError};

use super::trust::{FollowingTrust, Trust};
use crate::{
    account::Account,
    controller::{Action, AnyController, Context},
    key::ObjectKey,
    source::KeySource,
    trigger::{Changed, Trigger},
};

/// The key of the authorities.
const AUTHORITY: &str = "ca.crt";
/// The last part of the annotation that tells people what the config map is for.
const DESCRIPTION: &str = "description";
const TEXT: &str = "The authorities that the certificate of the API server is trusted by.";

/// See the module.
pub(super) struct RootCaPublisher {
    trust: Trust,
}

impl RootCaPublisher {
    /// Publishes these authorities.
    pub(super) fn new(trust: Trust) -> Self {
        RootCaPublisher { trust }
    }

    async fn publish(&self, namespace: &str, cx: &Context) -> Result<Action> {
        let namespaces = cx.api::<Namespace>()?;
        // A server without the kind publishes nothing.
        let Ok(maps) = cx.api::<ConfigMap>() else { return Ok(Action::Done) };
        let Some(authority) = self.trust.borrow().clone() else { return Ok(Action::Done) };
        let found = namespaces.lookup("", namespace)?;
        if found.is_none_or(|namespace| namespace.metadata.deletion_timestamp.is_some()) {
            return Ok(Action::Done);
        }
        let vocabulary = cx.client().core().vocabulary();
        let (name, description) = (vocabulary.root_ca_config_map, vocabulary.label(DESCRIPTION));
        let data = BTreeMap::from([(AUTHORITY.to_owned(), authority)]);
        let written = match maps.lookup(namespace, name)? {
            None => {
                let metadata = ObjectMeta {
                    name: name.to_owned(),
                    namespace: namespace.to_owned(),
                    annotations: [(description, TEXT.to_owned())].into(),
                    ..ObjectMeta::default()
                };
                maps.create(namespace, &ConfigMap { metadata, data, ..ConfigMap::default() }).await.map(drop)
            }
            Some(map) if map.data == data && map.metadata.annotations.contains_key(&description) => {
                return Ok(Action::Done);
            }
            Some(mut map) => {
                map.data = data;
                map.metadata.annotations.insert(description, TEXT.to_owned());
                maps.update(&map).await.map(drop)
            }
        };
        match written {
            // That change brings the key again.
            Ok(())
            | Err(ApiError::AlreadyExists { .. } | ApiError::Conflict { .. } | ApiError::NotFound { .. }) => {
                Ok(Action::Done)
            }
            // A namespace that has been deleted meanwhile takes no objects: the next run sees that.
            Err(error) => Err(error),
        }
    }
}

impl AnyController for RootCaPublisher {
    fn name(&self) -> &'static str {
        "root-ca-certificate-publisher-controller"
    }

    fn account(&self) -> Account {
        Account::ServiceAccount("root-ca-cert-publisher")
    }

    fn is_served(&self, catalog: &Catalog) -> bool {
        catalog.served(Namespace::RESOURCE).is_some()
    }

    fn begin(&self, client: &Client) -> Result<Box<dyn KeySource>, StoreError> {
        let catalog = client.core().catalog();
        let namespaces = catalog.served(Namespace::RESOURCE);
        let namespaces = namespaces.expect("a controller runs where its kind is served");
        let name = catalog.vocabulary.root_ca_config_map;
        let of_namespace = move |change: &Changed<'_>| {
            let object = change.after.or(change.before).map(|object| object.key());
            let named = object.filter(|key| *key.name == *name);
            named.map(|key| ObjectKey::new("", key.namespace.clone())).into_iter().collect()
        };
        let triggers = vec![Trigger::new(ConfigMap::RESOURCE, of_namespace)];
        Ok(Box::new(FollowingTrust::begin(namespaces, triggers, &self.trust, client)?))
    }

    fn reconcile<'a>(&'a self, key: &'a Key, cx: &'a Context) -> BoxFuture<'a, Result<Action>> {
        Box::pin(self.publish(&key.name, cx))
    }
}
