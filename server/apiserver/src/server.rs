//! The server as a library: configuration and resource tables in, a running server out.
//!
//! `Server::builder(config).resources(tables).run(stopping)` is all that a server of one's own needs besides a schema
//! folder; [`bootstrap::main_with`] does it with a command line around.

use std::{net::SocketAddr, pin::Pin, sync::Arc, time::SystemTime};

use arc_swap::ArcSwap;
use futures_util::FutureExt;
use orch_auth::{
    authenticator::{Authenticator, service_account::ServiceAccountAuthenticator},
    authorization::Authorization,
    authorizer::Authorizer,
};
use orch_runtime::resource_def::{GroupVersionDef, ResourceDef};
use orch_storage::{Indexer, Revision, Storage, SystemClock};
use tokio::{
    sync::{Mutex, RwLock, watch},
    task::JoinSet,
};

use crate::{
    account_directory::AccountDirectory,
    app::App,
    bootstrap::{self, Prepared, Site},
    catalog::Catalog,
    config::Config,
    controllers::{namespace_content, system_namespaces, volume_protection},
    discovery::Discovery,
    health::{Checks, Probe},
    layers,
    listener::Listener,
    metrics::Metrics,
    openapi::OpenApi,
    registry::index::CatalogIndexer,
    root_paths::RootPaths,
    start_error::StartError,
    version::Version,
};

/// Paths that are answered besides discovery and health, for the list at `/`.
const DOCUMENTS: &[&str] = &["/metrics", "/openapi/v3", "/version"];

/// A server that is being put together.
pub struct Server {
    config: Config,
    tables: Vec<&'static GroupVersionDef>,
    authorizers: Vec<Box<dyn Authorizer>>,
}

/// A server that listens.
pub struct Running {
    app: Arc<App>,
    site: Site,
    listener: Listener,
    /// Reads files again.
    following: Pin<Box<dyn Future<Output = ()> + Send>>,
    stopping: watch::Receiver<bool>,
}

impl Server {
    /// A server with this configuration and no resources yet.
    pub fn builder(config: Config) -> Self {
        Server { config, tables: Vec::new(), authorizers: Vec::new() }
    }

    /// Serves these resources too; may be called for several crates.
    #[must_use]
    pub fn resources(mut self, tables: impl IntoIterator<Item = &'static GroupVersionDef>) -> Self {
        self.tables.extend(tables);
        self
    }

    /// Asks this authorizer too: before the configured modes, and after the rule that `system:masters` may do
    /// everything. May be called several times.
    #[must_use]
    pub fn authorizer(mut self, authorizer: impl Authorizer + 'static) -> Self {
        self.authorizers.push(Box::new(authorizer));
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
    pub async fn start(self, stopping: watch::Receiver<bool>) -> Result<Running, StartError> {
        let started = SystemTime::now();
        let (vocabulary, enablement) = (self.config.vocabulary, self.config.enablement.clone());
        enablement
            .check(vocabulary, &self.tables)
            .map_err(|problem| StartError::configuration("--runtime-config", problem))?;
        let feature_gates = self.config.feature_gates.clone();
        feature_gates
            .check(&self.tables)
            .map_err(|problem| StartError::configuration("--feature-gates", problem))?;
        let Prepared { authentication, tokens, continue_key, tls, sources, site } =
            bootstrap::prepare(&self.config)?;
        // Before the store is opened: a port in use is found out at no cost.
        let listener = Listener::bind(&self.config.serving, tls).await?;
        let storage = bootstrap::open_storage(&self.config).await?;
        let created = storage.current_revision() == Revision::FIRST;
        let is_served = |def: &ResourceDef| enablement.serves(vocabulary, def);
        let catalog = Arc::new(Catalog::of_served(vocabulary, self.tables, is_served));
        let indexer: Arc<dyn Indexer> = Arc::new(CatalogIndexer::new(&catalog));
        storage.index_by(&indexer);
        let tokens = Arc::new(tokens);
        let directory = AccountDirectory::new(Arc::clone(&catalog), storage.clone());
        let accounts: Arc<dyn Authenticator> =
            Arc::new(ServiceAccountAuthenticator::new(Arc::clone(&tokens), Box::new(directory), vocabulary));
        let health = checks(&storage, &stopping);
        let documents = DOCUMENTS.iter().map(|path| (*path).to_owned());
        let metrics = Metrics::new(vocabulary, started);
        count_objects(&metrics, &catalog, &storage);
        let app = Arc::new(App {
            discovery: Discovery::new(&catalog, listener.local_address().to_string()),
            openapi: OpenApi::new(Arc::clone(&catalog)),
            root_paths: RootPaths::new(&catalog, documents.chain(health.paths())),
            catalog,
            storage,
            clock: Arc::new(SystemClock),
            authentication: ArcSwap::from_pointee(authentication.with(Box::new(Arc::clone(&accounts)))),
            tokens,
            authorization: Authorization::new(&self.config.authorization, self.authorizers),
            health,
            metrics,
            version: Version::new(),
            continue_key,
            namespace_gate: Arc::new(RwLock::new(())),
            feature_gates,
            service_network: self.config.service_network,
            node_ports: self.config.node_ports.clone(),
            allocation: Arc::new(Mutex::new(())),
            request_timeout: self.config.serving.request_timeout,
            stopping: stopping.clone(),
        });
        system_namespaces::ensure(&app).await.map_err(|error| {
            StartError::Runtime(format!("cannot create the system namespaces: {error:?}"))
        })?;
        if created {
            forget_creation(&app.storage).await?;
        }
        let following =
            bootstrap::follow(sources, Arc::clone(&app), accounts, listener.tls(), stopping.clone())?;
        Ok(Running { app, site, listener, following: Box::pin(following), stopping })
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
        let Running { app, site, listener, following, stopping } = self;
        let mut controllers = JoinSet::new();
        controllers.spawn(following);
        controllers.spawn(system_namespaces::run(Arc::clone(&app)));
        controllers.spawn(namespace_content::run(Arc::clone(&app)));
        controllers.spawn(volume_protection::run(Arc::clone(&app)));
        let handler = {
            let app = Arc::clone(&app);
            move |request, connection| layers::handle(Arc::clone(&app), connection, request)
        };
        listener.serve(handler, stopping).await;
        while controllers.join_next().await.is_some() {}
        let closed = app.storage.shutdown().await;
        // The data directory is another process's from here on.
        drop(site);
        closed.map_err(|error| StartError::Runtime(format!("cannot close the store: {error}")))
    }
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
