//! A server without HTTP for the tests of this crate: the product's kinds over a store in memory.

use std::{sync::Arc, time::Duration};

use orch_api::core::v1::Namespace;
use orch_auth::{
    authorization::Authorization,
    authorizer::{Authorizer, always_allow::AlwaysAllow},
};
use orch_kinds::sources::policies;
use orch_machinery::meta::{self, Meta};
use orch_registry::{
    admission::{AdmissionChain, AdmissionConfig},
    behaviour::Behaviours,
    catalog::{Catalog, ServedResource},
    client::Client,
    continue_token::{KEY_LENGTH, TokenKey},
    core::Core,
    feature_gates::FeatureGates,
    objects::Objects,
    options::DeletionOptions,
    ranges::{AddressRange, PortRange, Ranges},
    read::index::CatalogIndexer,
};
use orch_runtime::{Tree, object::Kind};
use orch_storage::{Indexer, Storage, SystemClock};
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use crate::{
    controller::AnyController,
    leadership::Leadership,
    product::{bootstrap_policy, system_namespaces},
    runner::{Runner, Running},
    stats::Monitor,
};

/// Where the tests make their objects.
pub(crate) const NAMESPACE: &str = "test";

/// Longer than any delay of a runner. Time is paused in tests, so it passes at once.
const LONGEST: Duration = Duration::from_mins(10);

/// A server, and whoever tests it.
pub(crate) struct Fixture {
    pub(crate) client: Client,
    pub(crate) stop: watch::Sender<bool>,
}

impl Fixture {
    /// With a namespace and nothing else.
    pub(crate) async fn new() -> Self {
        let ranges = Ranges {
            addresses: AddressRange::parse("10.0.0.0/24").unwrap(),
            ports: PortRange::parse("30000-32767").unwrap(),
        };
        let mut behaviours = Behaviours::default();
        orch_kinds::behaviours(&ranges, &mut behaviours);
        let tables = orch_api::registry().iter().copied();
        let catalog = Arc::new(Catalog::of_served(&orch_api::ORCH, tables, &behaviours, |_| true));
        let storage = Storage::in_memory();
        let indexer: Arc<dyn Indexer> = Arc::new(CatalogIndexer::new(&catalog));
        storage.index_by(&indexer);
        let fixture = Self::over(catalog, storage);
        fixture.create::<Namespace>(json!({"metadata": {"name": NAMESPACE}})).await;
        fixture
    }

    /// Another server over the same store.
    pub(crate) fn beside(&self) -> Self {
        let core = self.client.core();
        Self::over(Arc::clone(core.catalog()), core.storage().clone())
    }

    fn over(catalog: Arc<Catalog>, storage: Storage) -> Self {
        let (stop, stopping) = watch::channel(false);
        let core = Core::new(
            Objects::new(catalog, storage),
            Arc::new(SystemClock),
            FeatureGates::default(),
            AdmissionChain::new(orch_kinds::admission(), &AdmissionConfig::default()).unwrap(),
            TokenKey::new(&[0; KEY_LENGTH]),
            stopping,
        );
        Fixture { client: Client::new(Arc::new(core), "test"), stop }
    }

    /// Runs controllers that may do everything.
    pub(crate) fn start(&self, controllers: Vec<Box<dyn AnyController>>) -> (Running, Monitor) {
        let everybody: Arc<dyn Authorizer> = Arc::new(AlwaysAllow);
        self.start_under(&everybody, controllers)
    }

    /// Runs controllers that may do everything, as long as no other server runs them.
    pub(crate) fn start_as(
        &self,
        leadership: &Leadership,
        controllers: Vec<Box<dyn AnyController>>,
    ) -> Running {
        let everybody: Arc<dyn Authorizer> = Arc::new(AlwaysAllow);
        Runner::new(controllers).start(self.client.core(), &everybody, Some(leadership))
    }

    /// Runs controllers that may do what the roles and bindings of every server say, which are made first.
    pub(crate) async fn start_under_roles(
        &self,
        controllers: Vec<Box<dyn AnyController>>,
    ) -> (Running, Monitor) {
        self.start_under(&self.roles().await, controllers)
    }

    /// Makes the roles and bindings that every server has; who decides by them.
    pub(crate) async fn roles(&self) -> Arc<dyn Authorizer> {
        system_namespaces::ensure(&self.client).await.unwrap();
        bootstrap_policy::reconcile(&self.client).await.unwrap();
        let roles: Box<dyn Authorizer> = Box::new(policies::rbac(self.client.core().objects()));
        Arc::new(Authorization::new([], [roles]))
    }

    /// Runs controllers that may do what this authorizer allows.
    pub(crate) fn start_under(
        &self,
        authorizer: &Arc<dyn Authorizer>,
        controllers: Vec<Box<dyn AnyController>>,
    ) -> (Running, Monitor) {
        let runner = Runner::new(controllers);
        let monitor = runner.monitor();
        (runner.start(self.client.core(), authorizer, None), monitor)
    }

    pub(crate) fn resource<T: Kind>(&self) -> &Arc<ServedResource> {
        self.client.core().catalog().served(T::RESOURCE).unwrap()
    }

    /// Makes an object, in its namespace if it names one.
    pub(crate) async fn create<T: Kind>(&self, mut object: Tree) {
        let resource = self.resource::<T>();
        meta::set_type(&mut object, resource.def.kind, &resource.api_version);
        let namespace = Meta::of(&object).namespace().to_owned();
        self.client.create(resource, &namespace, object).await.unwrap();
    }

    /// Changes an object. The answer does not matter: the change may let the object go.
    pub(crate) async fn change<T: Kind>(
        &self,
        name: (&str, &str),
        subresource: &str,
        how: impl Fn(&mut Tree),
    ) {
        let resource = self.resource::<T>();
        let mut object = self.client.get(resource, name.0, name.1).unwrap().tree;
        how(&mut object);
        let _ = self.client.update(resource, subresource, object).await;
    }

    pub(crate) async fn delete<T: Kind>(&self, (namespace, name): (&str, &str)) {
        let resource = self.resource::<T>();
        self.client.delete(resource, namespace, name, DeletionOptions::default()).await.unwrap();
    }

    pub(crate) fn exists<T: Kind>(&self, (namespace, name): (&str, &str)) -> bool {
        self.client.snapshot(self.resource::<T>()).get(namespace, name).is_some()
    }

    /// Waits until something holds; returns how long that took.
    pub(crate) async fn until(&self, what: &str, holds: impl Fn() -> bool) -> Duration {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < LONGEST, "never: {what}");
            sleep(Duration::from_millis(1)).await;
        }
        begun.elapsed()
    }

    /// Lets so much time pass that whatever is going to happen at once has happened.
    pub(crate) async fn settle(&self) {
        sleep(Duration::from_millis(100)).await;
    }

    /// Stops the server and waits for its controllers.
    pub(crate) async fn finish(&self, running: Running) -> Duration {
        let begun = Instant::now();
        self.stop.send_replace(true);
        running.ended().await;
        begun.elapsed()
    }
}
