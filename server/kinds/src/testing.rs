//! A server without HTTP for tests: all kinds with their behaviour and admission, over a store in memory; and
//! what CONTRIBUTING.md shows of both.

use std::sync::Arc;

use orch_api::{
    KUBERNETES,
    core::v1::{ConfigMap, Namespace},
};
use orch_auth::{
    answer::Answer,
    authorizer::Decision,
    user::{GROUP_MASTERS, UserInfo},
};
use orch_registry::{
    admission::{AdmissionChain, AdmissionConfig},
    behaviour::Behaviours,
    catalog::{Catalog, ServedResource},
    client::Client,
    context::{Access, Caller, RequestContext},
    continue_token::TokenKey,
    core::Core,
    error::Result,
    feature_gates::FeatureGates,
    objects::Objects,
    ranges::{AddressRange, PortRange, Ranges},
    read::index::CatalogIndexer,
    stored,
};
use orch_runtime::{Tree, object::Kind};
use orch_storage::{Body, Change, Indexer, Key, ManualClock, Object, Storage, Timestamp};
use serde_json::json;
use tokio::sync::watch;

use crate::{admission::recipe, behaviour_recipe};

/// The namespace that a new server has.
pub(crate) const NAMESPACE: &str = "n";

pub(crate) struct TestServer {
    pub(crate) core: Arc<Core>,
    pub(crate) client: Client,
    user: UserInfo,
    _stopping: watch::Sender<bool>,
}

impl TestServer {
    /// A server with one namespace. Services have 14 addresses, of which the server picks 13, and three node
    /// ports.
    pub(crate) async fn start() -> Self {
        Self::start_as(AdmissionConfig::default()).await
    }

    /// The same with an admission plugin that is off by default.
    pub(crate) async fn start_with_plugin(name: &str) -> Self {
        Self::start_as(AdmissionConfig { enabled: vec![name.to_owned()], disabled: Vec::new() }).await
    }

    async fn start_as(plugins: AdmissionConfig) -> Self {
        let ranges = Ranges {
            addresses: AddressRange::parse("10.0.0.0/28").unwrap(),
            ports: PortRange::parse("4000-4002").unwrap(),
        };
        let mut behaviours = Behaviours::default();
        crate::behaviours(&ranges, &mut behaviours);
        behaviours.register::<ConfigMap>(behaviour_recipe::ConfigMapBehaviour);
        let tables = orch_api::registry().iter().copied();
        let catalog = Arc::new(Catalog::of_served(&KUBERNETES, tables, &behaviours, |_| true));
        let storage = Storage::in_memory();
        let indexer: Arc<dyn Indexer> = Arc::new(CatalogIndexer::new(&catalog));
        storage.index_by(&indexer);
        let mut admission = crate::admission();
        admission.push(Box::new(recipe::Example));
        let admission = AdmissionChain::new(admission, &plugins).unwrap();
        let (sender, stopping) = watch::channel(false);
        let core = Arc::new(Core::new(
            Objects::new(catalog, storage),
            Arc::new(ManualClock::at(Timestamp(1_700_000_000_000))),
            FeatureGates::default(),
            admission,
            TokenKey::new(&[7; 32]),
            stopping,
        ));
        let client = Client::new(Arc::clone(&core), "test");
        let user = UserInfo::new("tester", [GROUP_MASTERS]);
        let server = TestServer { core, client, user, _stopping: sender };
        server.create::<Namespace>("", json!({"metadata": {"name": NAMESPACE}})).await.unwrap();
        server
    }

    pub(crate) fn resource<T: Kind>(&self) -> &Arc<ServedResource> {
        self.core.catalog().served(T::RESOURCE).unwrap()
    }

    /// Creates an object and returns it as it is stored.
    pub(crate) async fn create<T: Kind>(&self, namespace: &str, object: Tree) -> Result<Tree> {
        let resource = self.resource::<T>();
        let stored = self.client.create(resource, namespace, object).await?;
        Ok(tree_of(resource, &stored))
    }

    /// Stores an object as it stands, whether it is one of the kind or not.
    pub(crate) async fn store<T: Kind>(&self, namespace: &str, name: &str, object: &Tree) {
        const REVISION: &str = r#"{"revision":"#;
        let key = Key::new(self.resource::<T>().storage_name.clone(), namespace, name);
        let text = format!("{REVISION},{}", &object.to_string()[1..]);
        let body = Body::new(text.into_bytes(), REVISION.len());
        self.core.objects().storage().commit(Change::Create { key, body }).await.unwrap();
    }

    /// Applies a change to an object, on its main path or below it, and returns it as it is stored.
    pub(crate) async fn update<T: Kind>(
        &self,
        subresource: &str,
        namespace: &str,
        name: &str,
        change: impl FnOnce(&mut Tree),
    ) -> Result<Tree> {
        let resource = self.resource::<T>();
        let mut tree = self.client.get(resource, namespace, name)?.tree;
        change(&mut tree);
        let stored = self.client.update(resource, subresource, tree).await?;
        Ok(tree_of(resource, &stored.expect("these tests change no object that is being deleted")))
    }

    /// A request of somebody who may do everything.
    pub(crate) fn request(&self) -> RequestContext<'_> {
        RequestContext::new(&self.core, Caller { user: &self.user, access: &Everything }, "test")
    }
}

/// May do everything.
pub(crate) struct Everything;

impl Access for Everything {
    fn may<'a>(&'a self, _verb: &'a str) -> Answer<'a, Decision> {
        Answer::Ready(Decision::Allow { reason: "".into() })
    }
}

fn tree_of(resource: &ServedResource, object: &Object) -> Tree {
    stored::tree_of(resource, object).unwrap()
}

/// Whether a manager owns the field at this path (`f:spec`, `f:priority`).
pub(crate) fn is_owned(object: &Tree, path: &[&str]) -> bool {
    let mut entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    entries.any(|entry| {
        let found = path.iter().try_fold(&entry["fieldsV1"], |fields, name| fields.get(name));
        found.is_some()
    })
}
