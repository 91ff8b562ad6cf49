//! The server as a library: configuration, resource tables and what belongs to them in, a running server out.
//!
//! `Server::builder(config).resources(tables).run(stopping)` is all that a server of one's own needs besides a schema
//! folder; [`run`](crate::run) does it with a command line around. Whatever the product's kinds may do, kinds of a
//! user's own may do through the same methods.

use std::{net::SocketAddr, pin::Pin, sync::Arc, time::SystemTime};

use arc_swap::ArcSwap;
use axum::Router;
use futures_util::FutureExt;
use orch_auth::{
    authenticator::{
        Authenticator, certificate::PeerCertificates, service_account::ServiceAccountAuthenticator,
    },
    authorization::Authorization,
    authorizer::Authorizer,
};
use orch_controllers::{
    controller::{AnyController, Controller},
    product::{self, system_namespaces},
    runner::Runner,
    selection,
    stats::Monitor,
};
use orch_kinds::{Services, sources::AccountDirectory};
use orch_listener::{ListenError, Listener};
use orch_machinery::media_type::MediaTypes;
use orch_registry::{
    admission::{AdmissionChain, AdmissionPlugin},
    behaviour::{Behaviour, Behaviours},
    catalog::Catalog,
    client::Client,
    core::Core,
    objects::Objects,
    operation::{Operation, Operations, Review},
    read::index::CatalogIndexer,
};
use orch_runtime::{
    object::Kind,
    resource_def::{GroupVersionDef, ResourceDef},
};
use orch_storage::{Indexer, Revision, Storage, SystemClock};
use tokio::{sync::watch, task::JoinSet};

use crate::{
    access::AccessControl,
    app::App,
    bootstrap::{self, Prepared, Site},
    config::Config,
    documents::{
        self, Documents,
        discovery::Discovery,
        health::{Checks, Probe},
        openapi::OpenApi,
        root_paths::RootPaths,
        version::Version,
    },
    layers,
    metrics::Metrics,
    start_error::StartError,
};

/// A server that is being put together. The product's own behaviour, plugins and controllers are in it already.
pub struct Server {
    config: Config,
    tables: Vec<&'static GroupVersionDef>,
    behaviours: Behaviours,
    operations: Operations,
    admission: Vec<Box<dyn AdmissionPlugin>>,
    controllers: Vec<Box<dyn AnyController>>,
    authorizers: Vec<Box<dyn Authorizer>>,
    router: Router,
}

/// A server that listens.
pub struct Running {
    app: Arc<App>,
    site: Site,
    listener: Listener,
    controllers: Runner,
    /// Reads files again.
    following: Pin<Box<dyn Future<Output = ()> + Send>>,
    stopping: watch::Receiver<bool>,
}

impl Server {
    /// A server with this configuration and no resources yet.
    pub fn builder(config: Config) -> Self {
        let mut behaviours = Behaviours::default();
        orch_kinds::behaviours(&config.kinds, &mut behaviours);
        Server {
            config,
            tables: Vec::new(),
            behaviours,
            operations: Operations::default(),
            admission: orch_kinds::admission(),
            controllers: product::controllers(),
            authorizers: Vec::new(),
            router: Router::new(),
        }
    }

    /// Serves these resources too; may be called for several crates.
    #[must_use]
    pub fn resources(mut self, tables: impl IntoIterator<Item = &'static GroupVersionDef>) -> Self {
        self.tables.extend(tables);
        self
    }

    /// Gives objects of the kind `T` this behaviour, in place of one that was given before.
    #[must_use]
    pub fn behaviour<T: Kind>(mut self, behaviour: impl Behaviour<T>) -> Self {
        self.behaviours.register(behaviour);
        self
    }

    /// Has POST to this sub-resource of objects of the kind `T` performed so.
    #[must_use]
    pub fn operation<T: Kind>(mut self, subresource: &'static str, operation: impl Operation) -> Self {
        self.operations.register::<T>(subresource, operation);
        self
    }

    /// Has questions of the virtual kind `T` answered so.
    #[must_use]
    pub fn review<T: Kind>(mut self, review: impl Review<T>) -> Self {
        self.operations.register_review(review);
        self
    }

    /// Asks this plugin about writes, after the product's own.
    #[must_use]
    pub fn admission(mut self, plugin: impl AdmissionPlugin) -> Self {
        self.admission.push(Box::new(plugin));
        self
    }

    /// Runs this controller too, unless `--controllers` says otherwise.
    #[must_use]
    pub fn controller(mut self, controller: impl Controller) -> Self {
        self.controllers.push(Box::new(controller));
        self
    }

    /// Asks this authorizer too: before the configured modes, and after the rule that `system:masters` may do
    /// everything. May be called several times.
    #[must_use]
    pub fn authorizer(mut self, authorizer: impl Authorizer + 'static) -> Self {
        self.authorizers.push(Box::new(authorizer));
        self
    }

    /// Answers paths that are none of the API's by these routes, under the same authentication and authorization. The
    /// caller is an extension of the request, [`RouteCaller`](crate::routes::RouteCaller).
    #[must_use]
    pub fn router(mut self, router: Router) -> Self {
        self.router = self.router.merge(router);
        self
    }

    /// Serves until `stopping` becomes true and every request is finished.
    ///
    /// # Errors
    /// What keeps the server from starting, or from closing its store.
    pub async fn run(self, stopping: watch::Receiver<bool>) -> Result<(), StartError> {
        let running = Box::pin(self.start(stopping)).await?;
        running.site.announce(running.address())?;
        running.serve().await
    }

    /// Opens the store, prepares everything and listens; connections wait until [`Running::serve`].
    ///
    /// # Errors
    /// What keeps the server from starting.
    pub async fn start(mut self, stopping: watch::Receiver<bool>) -> Result<Running, StartError> {
        let started = SystemTime::now();
        self.check()?;
        let admission = AdmissionChain::new(std::mem::take(&mut self.admission), &self.config.admission)
            .map_err(|(flag, problem)| StartError::configuration(flag, problem))?;
        let chosen = selection::select(std::mem::take(&mut self.controllers), &self.config.controllers)
            .map_err(|problem| StartError::configuration("--controllers", problem))?;
        let Prepared { authentication, tokens, continue_key, tls, sources, site } =
            bootstrap::prepare(&self.config)?;
        // Before the store is opened: a port in use is found out at no cost.
        let listener = Listener::bind(self.config.serving.listener(), tls)
            .await
            .map_err(|error| cannot_listen(&error))?;
        let storage = bootstrap::open_storage(&self.config).await?;
        let created = storage.current_revision() == Revision::FIRST;

        let catalog = Arc::new(self.catalog());
        let indexer: Arc<dyn Indexer> = Arc::new(CatalogIndexer::new(&catalog));
        storage.index_by(&indexer);
        let objects = Objects::new(Arc::clone(&catalog), storage.clone());
        let tokens = Arc::new(tokens);
        let directory = Box::new(AccountDirectory::new(objects.clone()));
        let vocabulary = self.config.vocabulary;
        let accounts: Arc<dyn Authenticator> =
            Arc::new(ServiceAccountAuthenticator::new(Arc::clone(&tokens), directory, vocabulary));
        let authentication = authentication.with(Box::new(Arc::clone(&accounts)));
        let access = AccessControl {
            authentication: Arc::new(ArcSwap::from_pointee(authentication)),
            authorization: Arc::new(Authorization::new(
                &self.config.authorization,
                std::mem::take(&mut self.authorizers),
            )),
        };
        let services = Services {
            authorization: Arc::clone(&access.authorization),
            authentication: Arc::clone(&access.authentication),
            tokens,
        };
        orch_kinds::operations(&services, &mut self.operations);
        let following = bootstrap::follow(
            sources,
            Arc::clone(&access.authentication),
            accounts,
            listener.tls(),
            stopping.clone(),
        )?;

        let gates = self.config.feature_gates.clone();
        let media_types = Arc::new(MediaTypes::new(orch_meta::VOCABULARIES, |gate| gates.is_on(gate)));
        let core = Arc::new(Core::new(
            objects,
            Arc::new(SystemClock),
            gates,
            admission,
            continue_key,
            stopping.clone(),
        ));
        system_namespaces::ensure(&Client::new(Arc::clone(&core), env!("CARGO_PKG_NAME"))).await.map_err(
            |error| StartError::Runtime(format!("cannot create the system namespaces: {error:?}")),
        )?;
        if created {
            forget_creation(&storage).await?;
        }
        let controllers = Runner::new(chosen);

        let metrics = Metrics::new(vocabulary, started);
        count_objects(&metrics, &catalog, &storage);
        metrics.show_controllers(controllers.monitor());
        let health = checks(&storage, &stopping);
        check_controllers(&health, &controllers.monitor());
        let documents = Documents {
            discovery: Discovery::new(&catalog, listener.local_address().to_string()),
            openapi: OpenApi::new(Arc::clone(&catalog), Arc::clone(&media_types)),
            root_paths: RootPaths::new(
                &catalog,
                documents::LISTED.iter().map(|path| (*path).to_owned()).chain(health.paths()),
            ),
            health,
            metrics: metrics.clone(),
            version: Version::new(),
            core: Arc::clone(&core),
        };
        let app = Arc::new(App {
            core,
            access,
            operations: self.operations,
            documents: documents::router(documents, self.router),
            media_types,
            meta_groups: catalog.meta_groups(),
            metrics,
            request_timeout: self.config.serving.request_timeout,
        });
        Ok(Running { app, site, listener, controllers, following: Box::pin(following), stopping })
    }

    /// What the configuration says about tables that are known only here.
    fn check(&self) -> Result<(), StartError> {
        let Config { vocabulary, enablement, feature_gates, .. } = &self.config;
        enablement
            .check(vocabulary, &self.tables)
            .map_err(|problem| StartError::configuration("--runtime-config", problem))?;
        feature_gates
            .check(&self.tables)
            .map_err(|problem| StartError::configuration("--feature-gates", problem))
    }

    fn catalog(&self) -> Catalog {
        let Config { vocabulary, enablement, .. } = &self.config;
        let is_served = |def: &ResourceDef| enablement.serves(vocabulary, def);
        Catalog::of_served(vocabulary, self.tables.iter().copied(), &self.behaviours, is_served)
    }
}

impl Running {
    /// Where it listens; tells the port where any free one was asked for.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_address()
    }

    /// Answers requests until the server is to stop, finishes them, and closes the store.
    ///
    /// # Errors
    /// Where the store cannot be closed.
    pub async fn serve(self) -> Result<(), StartError> {
        let Running { app, site, listener, controllers, following, stopping } = self;
        let mut tasks = JoinSet::new();
        tasks.spawn(following);
        tasks.spawn(controllers.start(&app.core).ended());
        let handler = {
            let app = Arc::clone(&app);
            move |request, connection| layers::handle(Arc::clone(&app), connection, request)
        };
        listener.serve(PeerCertificates::new, handler, stopping).await;
        while tasks.join_next().await.is_some() {}
        let closed = app.core.storage().shutdown().await;
        // The data directory is another process's from here on.
        drop(site);
        closed.map_err(|error| StartError::Runtime(format!("cannot close the store: {error}")))
    }
}

/// A check for each controller: whether it runs, and whether what it does succeeds.
fn check_controllers(checks: &Checks, monitor: &Monitor) {
    for name in monitor.names() {
        let monitor = monitor.clone();
        checks.register(format!("controller/{name}"), &[Probe::Ready], move || monitor.health(name));
    }
}

fn cannot_listen(error: &ListenError) -> StartError {
    let flag = match error {
        ListenError::AddressInUse(_) | ListenError::PermissionDenied(_) => "--secure-port",
        ListenError::AddressNotAvailable(_) | ListenError::Other { .. } => "--bind-address",
    };
    StartError::caused(flag, error)
}

/// History begins when the server is first complete: a version from before that was never given to anybody, and whoever
/// asks for one has it from other data.
async fn forget_creation(storage: &Storage) -> Result<(), StartError> {
    let complete = storage.current_revision();
    let forgotten = storage.compact(complete).await;
    forgotten.map_err(|error| StartError::Runtime(format!("cannot begin the history: {error}")))
}

/// The checks behind the probes, under the names that clients know.
fn checks(storage: &Storage, stopping: &watch::Receiver<bool>) -> Checks {
    let checks = Checks::new();
    checks.register("log", Probe::ALL, || Ok(()));
    let store = storage.clone();
    checks.register("etcd", Probe::ALL, move || match store.barrier().now_or_never() {
        Some(Err(error)) => Err(error.to_string()),
        _ => Ok(()),
    });
    let stopping = stopping.clone();
    checks.register("shutdown", &[Probe::Ready], move || {
        if *stopping.borrow() { Err("the server is shutting down".to_owned()) } else { Ok(()) }
    });
    // The system namespaces are made before anything listens, so the hook has always run.
    checks.register_hook("start-system-namespaces-controller").finish();
    checks
}

fn count_objects(metrics: &Metrics, catalog: &Arc<Catalog>, storage: &Storage) {
    let (catalog, storage) = (Arc::clone(catalog), storage.clone());
    metrics.count_objects(move || {
        let stored = catalog.resources().filter(|resource| resource.def.stored);
        stored
            .map(|resource| {
                let count = storage.snapshot(&resource.storage_name).len();
                (resource.group_resource.clone(), count as u64)
            })
            .collect()
    });
}
