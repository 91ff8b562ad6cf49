//! The server as a library: it takes a configuration, resource tables and their behaviour, and runs.
//!
//! `Server::builder(config).resources(tables).run(stopping)` is all that a program needs beside a schema
//! folder; [`run`](crate::run) adds a command line. What the product's kinds can do, a user's kinds can do
//! through the same methods.
//!
//! Length: what a server is put together of stands in one place, in the order in which it is made.

use std::{
    net::{SocketAddr, TcpListener},
    pin::Pin,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, SystemTime},
};

use arc_swap::ArcSwap;
use axum::Router;
use futures_util::future::OptionFuture;
use orch_audit::counters::Counters;
use orch_auth::{
    authentication::{Authentication, Lasting},
    authenticator::{
        Authenticator, bootstrap_token::BootstrapTokenAuthenticator,
        service_account::ServiceAccountAuthenticator,
    },
    authorization::Authorization,
    authorizer::Authorizer,
    service_account::TokenIssuer,
};
use orch_controllers::{
    controller::{AnyController, Controller},
    leadership::Leadership,
    product::{self, own_service::OwnService, token_secrets::Signer, trust::Trust},
    replica::Replica,
    runner::Runner,
    selection,
};
use orch_kinds::{
    Services,
    sources::{
        AccountDirectory, bootstrap_secrets::BootstrapSecrets, flow_control::FlowControl, policies, standing,
    },
};
use orch_listener::{ListenError, Listener};
use orch_machinery::media_type::MediaTypes;
use orch_registry::{
    admission::{AdmissionChain, AdmissionPlugin},
    behaviour::{Behaviour, Behaviours},
    catalog::Catalog,
    core::Core,
    feature_gates::{AUTHORIZE_WITH_SELECTORS, HTTP2_DOS_MITIGATION, RESPONSE_COMPRESSION},
    objects::Objects,
    operation::{Operation, Operations, Review},
    read::index::CatalogIndexer,
};
use orch_runtime::{
    object::Kind,
    resource_def::{GroupVersionDef, ResourceDef},
};
use orch_storage::{Indexer, Sealing, Storage, SystemClock};
use rustls::ServerConfig;
use tokio::{sync::watch, task::JoinSet, time::timeout};
use uuid::Uuid;

use crate::{
    access::AccessControl,
    app::App,
    authenticators::{Asking, FollowedFile},
    authorizers,
    bootstrap::{
        self, Prepared, Site,
        logging::LostLines,
        open_files,
        service_manager::{self, READY},
    },
    config::{Config, InFlightLimits},
    documents::{
        self, Documents,
        discovery::Discovery,
        health::{Checks, Hook},
        issuer::{self, IssuerDocuments},
        openapi::OpenApi,
        root_paths::RootPaths,
        version::Version,
    },
    encryption::{self, FollowedKeys},
    fairness::{Fairness, MaxInFlight, Sharing},
    large_work::LargeWork,
    layers,
    limits::{Limits, MemoryLimit, Peer},
    measures,
    metrics::Metrics,
    probes,
    request::identity_headers::IdentityHeaders,
    shutdown::Steps,
    start_error::StartError,
    traces::Tracer,
    watch_review,
};

mod first_objects;
mod import;
mod migrate;
mod offline;

pub use import::{Imported, manifests};
pub use migrate::Migrated;

/// How long the first requests wait for controllers.
const CONTROLLER_PATIENCE: Duration = Duration::from_secs(2);

/// How long the end of the server waits for audit events that are not delivered yet.
const AUDIT_PATIENCE: Duration = Duration::from_secs(3);

/// How long it waits for spans.
const TRACE_PATIENCE: Duration = Duration::from_secs(1);

/// A server that is being put together. The product's own behaviour and plugins are in it already; its
/// controllers are added when it starts.
pub struct Server {
    config: Config,
    tables: Vec<&'static GroupVersionDef>,
    behaviours: Behaviours,
    operations: Operations,
    admission: Vec<Box<dyn AdmissionPlugin>>,
    controllers: Vec<Box<dyn AnyController>>,
    authorizers: Vec<Box<dyn Authorizer>>,
    router: Router,
    socket: Option<TcpListener>,
    lost_lines: Option<LostLines>,
}

/// A server that listens.
pub struct Running {
    parts: Parts,
    listener: Listener,
    /// For new connections.
    tls: Arc<ArcSwap<ServerConfig>>,
}

/// Where requests come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// The configured address. Data is where the configuration says.
    Address,
    /// This process. Data is in memory.
    Process,
}

/// A server that is put together, without what brings it requests.
pub(crate) struct Parts {
    pub app: Arc<App>,
    pub site: Site,
    /// Where other servers may have the same store: which of them this is.
    replica: Option<Replica>,
    controllers: Runner,
    /// Reads certificates and tokens again when their files change, and ends watches.
    following: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Probes wait for it.
    informers: Hook,
    shutdown: Steps,
    /// Becomes true when the server is to stop.
    told: watch::Receiver<bool>,
    /// Tells all parts to stop.
    stop: watch::Sender<bool>,
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
            controllers: Vec::new(),
            authorizers: Vec::new(),
            router: Router::new(),
            socket: None,
            lost_lines: None,
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

    /// Performs this operation at POST to this sub-resource of objects of the kind `T`.
    #[must_use]
    pub fn operation<T: Kind>(mut self, subresource: &'static str, operation: impl Operation) -> Self {
        self.operations.register::<T>(subresource, operation);
        self
    }

    /// Answers questions of the virtual kind `T` with this review.
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

    /// Serves these routes on paths outside the API, with the same authentication and authorization. The
    /// caller is an extension of the request, [`RouteCaller`](crate::routes::RouteCaller).
    #[must_use]
    pub fn router(mut self, router: Router) -> Self {
        self.router = self.router.merge(router);
        self
    }

    /// Answers clients of this socket, which listens already, instead of binding the configured address.
    #[must_use]
    pub fn socket(mut self, socket: TcpListener) -> Self {
        self.socket = Some(socket);
        self
    }

    /// Keeps keys and certificates in this directory.
    pub(crate) fn store_in(&mut self, directory: &std::path::Path) {
        directory.clone_into(&mut self.config.storage.data_dir);
    }

    /// Shows how many lines of the log were lost.
    pub(crate) fn count_lost_lines(mut self, lost: LostLines) -> Self {
        self.lost_lines = Some(lost);
        self
    }

    /// Serves until `stopping` becomes true and every request is finished.
    ///
    /// # Errors
    /// What keeps the server from starting, or from closing its store.
    pub async fn run(self, stopping: watch::Receiver<bool>) -> Result<(), StartError> {
        let running = Box::pin(self.start(stopping)).await?;
        running.parts.site.announce(running.address())?;
        running.serve().await
    }

    /// Opens the store, prepares everything and listens. Connections wait until [`Running::serve`].
    ///
    /// # Errors
    /// What keeps the server from starting.
    pub async fn start(self, told: watch::Receiver<bool>) -> Result<Running, StartError> {
        let (parts, tls, listener) = Box::pin(self.assemble(told, Entrance::Address)).await?;
        Ok(Running { parts, listener: listener.expect("it has an address"), tls })
    }

    /// Puts a server together; one with an address listens there from now on.
    pub(crate) async fn assemble(
        mut self,
        told: watch::Receiver<bool>,
        entrance: Entrance,
    ) -> Result<(Parts, Arc<ArcSwap<ServerConfig>>, Option<Listener>), StartError> {
        let started = SystemTime::now();
        let (stop, stopping) = watch::channel(false);
        self.check_tables()?;
        let mut admission = self.admission_chain()?;
        let files = authorizers::Files::read(&self.config.authorization, self.config.vocabulary)?;
        let Asking { mut lasting, followed } =
            Asking::read(&self.config.authentication, self.config.vocabulary)?;
        let encryption = encryption::read(&self.config.storage.encryption, self.config.vocabulary)?;
        let audited = Arc::new(Counters::default());
        let audit = bootstrap::start_audit(&self.config, &audited)?;
        let tracer = self.config.observation.tracing_file.as_deref();
        let tracer = tracer.map(|file| Tracer::of_file(file, self.config.vocabulary)).transpose()?;
        open_files::raise_limit();
        // First of all, so that a server whose port is in use leaves nothing behind.
        let listener = match entrance {
            Entrance::Address => Some(self.listen().await.map_err(|error| cannot_listen(&error))?),
            Entrance::Process => None,
        };
        let address = listener.as_ref().map_or(self.config.serving.address, Listener::local_address);
        let own_service = OwnService::new(&self.config.kinds.service_network, address.port());
        // What controllers need of the data directory comes later: a wrong flag leaves nothing there.
        let (trust, signer) = (watch::Sender::new(None), Signer::default());
        let controllers = self.runner(own_service.clone(), trust.subscribe(), Arc::clone(&signer))?;
        if let Entrance::Address = entrance {
            Box::pin(bootstrap::share_keys(&self.config, &(encryption.clone() as Arc<dyn Sealing>))).await?;
        }
        let Prepared { authentication, tokens, continue_key, tls, authority, sources, site } =
            bootstrap::prepare(&self.config)?;
        trust.send_replace(authority);
        let tls = Arc::new(ArcSwap::new(tls));
        let storage = match entrance {
            Entrance::Address => bootstrap::open_storage(&self.config, encryption.clone()).await?,
            Entrance::Process => Storage::in_memory(),
        };
        let objects = self.objects(&storage);

        let tokens = Arc::clone(signer.get_or_init(|| tokens));
        // Those that need nobody else first.
        lasting.methods.splice(..0, self.authenticators_over_objects(&objects, &tokens));
        let rbac = Arc::new(policies::rbac(&objects));
        let modes = authorizers::Modes::new(&self.config.authorization, files, &objects, &rbac)?;
        let access = self.access(authentication, &lasting, &modes);
        admission.guard(orch_kinds::guard(rbac, Arc::clone(&access.authorization)));
        let issuer = self.issuer_documents(&tokens, address);
        self.add_product_operations(&access, Arc::clone(&tokens));
        let authentication = Arc::clone(&access.authentication);
        let certificate_ends = sources.certificate_ends();
        let shown = Arc::clone(&tls);
        let following =
            bootstrap::follow(sources, address, authentication, lasting, shown, trust, stopping.clone())?;

        let gates = self.config.feature_gates.clone();
        let clock = Arc::new(SystemClock);
        let core = Core::new(objects, clock, gates, admission, continue_key, stopping.clone());
        let core = Arc::new(core.with_min_watch_time(self.config.serving.min_request_timeout));
        first_objects::create(&core, &own_service).await?;

        let metrics = measures::of_server(started, &core, controllers.monitor());
        metrics.show_tokens(tokens);
        measures::show_tokens(&metrics, Arc::clone(&access.authentication));
        if let Some(lost) = &self.lost_lines {
            metrics.show(lost.counter());
        }
        metrics.show(certificate_ends);
        metrics.show_decisions(modes.decisions());
        let following = self.following(following, followed, modes, &metrics, &stopping);
        let keys = FollowedKeys::of(&self.config.storage.encryption, self.config.vocabulary, &encryption);
        let keys = keys.map(|keys| keys.follow(storage.clone(), metrics.clone(), stopping.clone()));
        encryption::warn_of_unknown(&encryption.keyring(), core.catalog());
        metrics.show_encryption(encryption);
        core.measure(metrics.meter(&core));
        metrics.show_gates(&core.gates().listed(&self.tables));
        metrics.show_audit(audited);
        if let Some(tracer) = &tracer {
            measures::show_traces(&metrics, tracer);
        }
        if let Some(listener) = &listener {
            measures::show_handshakes(&metrics, listener.failed_handshakes());
        }
        measures::show_store(&metrics, &self.config.storage, &storage);
        let health = probes::checks(&self.config.serving, &storage, &told, &controllers.monitor());
        let informers = health.register_hook("generic-apiserver-start-informers");
        let shutdown = Steps::of(&self.config.serving);
        let standing = standing::standing(core.objects());
        let app = self.app(core, access, metrics, health, issuer, address);
        let app = Arc::new(App { audit, tracer, ..app });
        let watches = watch_review::follow(Arc::clone(&app), standing, stopping);
        let following = Box::pin(async move {
            tokio::join!(following, watches, OptionFuture::from(keys));
        });
        let replica = storage.is_shared().then(|| {
            let host = bootstrap::host_name().unwrap_or_else(|| address.ip().to_string());
            Replica::new(&host, &address.to_string(), &Uuid::new_v4().to_string())
        });
        let parts = Parts { app, site, replica, controllers, following, informers, shutdown, told, stop };
        Ok((parts, tls, listener))
    }

    /// Binds the configured address, or takes the socket that there is, whose address counts from here on.
    async fn listen(&mut self) -> Result<Listener, ListenError> {
        let serving = &mut self.config.serving;
        let max_connections = open_files::affordable_connections(serving.max_connections);
        let Some(socket) = self.socket.take() else {
            return Listener::bind(serving.listener(max_connections)).await;
        };
        if let Ok(address) = socket.local_addr() {
            serving.address = address;
        }
        Listener::adopt(serving.listener(max_connections), socket)
    }

    /// How the server is shared out among requests.
    fn sharing(&self, core: &Core, metrics: &Metrics) -> Sharing {
        let InFlightLimits { reading, mutating, is_fair } = self.config.in_flight;
        if !is_fair {
            return Sharing::Plain(MaxInFlight::new(reading, mutating));
        }
        let source = FlowControl::new(core.objects());
        let fairness = Arc::new(Fairness::new(source, reading + mutating, orch_meta::VOCABULARIES));
        metrics.show_fairness(&fairness);
        Sharing::Fair(fairness)
    }

    /// Follows the files of issuers and of authorizers too, if there are any.
    fn following(
        &self,
        sources: impl Future<Output = ()> + Send + 'static,
        issuers: Option<FollowedFile>,
        modes: authorizers::Modes,
        metrics: &Metrics,
        stopping: &watch::Receiver<bool>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let issuers = issuers.map(|file| file.follow(metrics.clone(), stopping.clone()));
        let authorizers = self.config.authorization.file.clone().map(|file| {
            authorizers::follow(file, self.config.vocabulary, modes, metrics.clone(), stopping.clone())
        });
        Box::pin(async move {
            tokio::join!(sources, OptionFuture::from(issuers), OptionFuture::from(authorizers));
        })
    }

    /// Checks the parts of the configuration that name kinds and feature gates: which exist is known only
    /// here.
    fn check_tables(&self) -> Result<(), StartError> {
        let Config { vocabulary, enablement, feature_gates, .. } = &self.config;
        enablement
            .check(vocabulary, &self.tables)
            .map_err(|problem| StartError::configuration("--runtime-config", problem))?;
        feature_gates
            .check(&self.tables)
            .map_err(|problem| StartError::configuration("--feature-gates", problem))
    }

    /// The admission plugins that are on.
    fn admission_chain(&mut self) -> Result<AdmissionChain, StartError> {
        AdmissionChain::new(std::mem::take(&mut self.admission), &self.config.admission)
            .map_err(|(flag, problem)| StartError::configuration(flag, problem))
    }

    /// The controllers that are on, not running yet.
    fn runner(
        &mut self,
        own_service: OwnService,
        trust: Trust,
        signer: Signer,
    ) -> Result<Runner, StartError> {
        let Config { storage, vocabulary, .. } = &self.config;
        let event_ttl = storage.event_ttl;
        let settings = product::Settings { own_service, trust, signer, event_ttl, vocabulary };
        let mut controllers = product::controllers(settings);
        controllers.append(&mut self.controllers);
        let chosen = selection::select(controllers, &self.config.controllers)
            .map_err(|problem| StartError::configuration("--controllers", problem))?;
        Ok(Runner::new(chosen))
    }

    /// The kinds that are served, over the store, which indexes their objects from here on.
    fn objects(&self, storage: &Storage) -> Objects {
        let Config { vocabulary, enablement, .. } = &self.config;
        let is_served = |def: &ResourceDef| enablement.serves(vocabulary, def);
        let tables = self.tables.iter().copied();
        let catalog = Arc::new(Catalog::of_served(vocabulary, tables, &self.behaviours, is_served));
        let indexer: Arc<dyn Indexer> = Arc::new(CatalogIndexer::new(&catalog));
        storage.index_by(&indexer);
        Objects::new(catalog, storage.clone())
    }

    /// Who makes a request, as far as objects say so: the tokens of service accounts that exist, and
    /// bootstrap tokens.
    fn authenticators_over_objects(
        &self,
        objects: &Objects,
        tokens: &Arc<TokenIssuer>,
    ) -> Vec<Arc<dyn Authenticator>> {
        let directory = Box::new(AccountDirectory::new(objects.clone()));
        let vocabulary = self.config.vocabulary;
        let accounts = ServiceAccountAuthenticator::new(Arc::clone(tokens), directory, vocabulary);
        let mut authenticators: Vec<Arc<dyn Authenticator>> = vec![Arc::new(accounts)];
        if self.config.authentication.bootstrap_tokens {
            let secrets = Box::new(BootstrapSecrets::new(objects.clone()));
            authenticators.push(Arc::new(BootstrapTokenAuthenticator::new(secrets)));
        }
        authenticators
    }

    fn access(
        &mut self,
        authentication: Authentication,
        lasting: &Lasting,
        modes: &authorizers::Modes,
    ) -> AccessControl {
        let authentication = authentication.with(lasting);
        let authorizers = std::mem::take(&mut self.authorizers);
        AccessControl {
            authentication: Arc::new(ArcSwap::from_pointee(authentication)),
            authorization: Arc::new(Authorization::new(
                authorizers,
                [Box::new(Arc::clone(&modes.current)) as Box<dyn Authorizer>],
            )),
            shows_selectors: self.config.feature_gates.is_on(&AUTHORIZE_WITH_SELECTORS),
            vocabulary: self.config.vocabulary,
        }
    }

    fn add_product_operations(&mut self, access: &AccessControl, tokens: Arc<TokenIssuer>) {
        let services = Services {
            authorization: Arc::clone(&access.authorization),
            authentication: Arc::clone(&access.authentication),
            tokens,
        };
        // The user's own are added last: the last one of a name answers.
        let mut operations = Operations::default();
        orch_kinds::operations(&services, &mut operations);
        operations.extend(std::mem::take(&mut self.operations));
        self.operations = operations;
    }

    /// How others verify the tokens of service accounts. `address` is where the server listens.
    fn issuer_documents(&self, tokens: &Arc<TokenIssuer>, address: SocketAddr) -> Option<IssuerDocuments> {
        let Config { serving, authentication, .. } = &self.config;
        let own = || bootstrap::url(address, serving.external_hostname.as_deref()) + issuer::KEYS;
        let keys_url = authentication.tokens.keys_url.clone().unwrap_or_else(own);
        let documents = IssuerDocuments::new(Arc::clone(tokens), keys_url);
        if documents.is_none() {
            let issuer = tokens.issuer();
            tracing::warn!(issuer, "others cannot look up the keys of tokens: the issuer is no https URL");
        }
        documents
    }

    /// What answers requests. `address` is where the server listens.
    fn app(
        self,
        core: Arc<Core>,
        access: AccessControl,
        metrics: Metrics,
        health: Checks,
        issuer: Option<IssuerDocuments>,
        address: SocketAddr,
    ) -> App {
        let sharing = self.sharing(&core, &metrics);
        let catalog = Arc::clone(core.catalog());
        let gates = core.gates().clone();
        let media_types = Arc::new(MediaTypes::new(orch_meta::VOCABULARIES, |gate| gates.is_on(gate)));
        let of_issuer = issuer.iter().flat_map(|_| [issuer::CONFIGURATION, issuer::KEYS]);
        let listed = documents::LISTED.iter().copied().chain(of_issuer).map(str::to_owned);
        let listed = listed.chain(health.paths());
        let documents = Documents {
            discovery: Discovery::new(&catalog, &media_types, address.to_string()),
            openapi: OpenApi::new(Arc::clone(&catalog), Arc::clone(&media_types)),
            root_paths: RootPaths::new(&catalog, listed),
            health,
            issuer,
            metrics: metrics.clone(),
            fairness: sharing.fairness().cloned(),
            profiles: self.config.observation.profiles,
            version: Version::new(),
            core: Arc::clone(&core),
        };
        let proxy = self.config.authentication.proxy.as_ref();
        App {
            core,
            access,
            audit: None,
            tracer: None,
            operations: self.operations,
            documents: documents::router(documents, self.router),
            identity_headers: IdentityHeaders::new(proxy.map(|proxy| &proxy.headers)),
            media_types,
            meta_groups: catalog.meta_groups(),
            metrics,
            large_work: LargeWork::new(),
            open_watches: Arc::default(),
            limits: Limits::new(&self.config.client_limits),
            sharing,
            memory: MemoryLimit::new(self.config.serving.memory_limit),
            compresses: gates.is_on(&RESPONSE_COMPRESSION),
            closes_unauthenticated: gates.is_on(&HTTP2_DOS_MITIGATION),
            draining: AtomicBool::new(false),
            request_timeout: self.config.serving.request_timeout,
        }
    }
}

impl Running {
    /// Where it listens. The port is the real one, also where the configuration says 0.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_address()
    }

    /// Answers requests until the server is to stop, finishes them, and closes the store.
    ///
    /// # Errors
    /// Where the store cannot be closed.
    pub async fn serve(self) -> Result<(), StartError> {
        let Running { parts, listener, tls } = self;
        let answering = async |app: Arc<App>, stopping| {
            let handler = move |request, connection| layers::handle(Arc::clone(&app), connection, request);
            service_manager::tell(READY);
            listener.serve(tls, Peer::new, handler, stopping).await;
        };
        parts.run(answering).await
    }
}

impl Parts {
    /// Runs the controllers and everything else that the server does by itself, while `answering` answers
    /// requests. That ends when its second argument becomes true.
    pub(crate) async fn run(
        self,
        answering: impl AsyncFnOnce(Arc<App>, watch::Receiver<bool>),
    ) -> Result<(), StartError> {
        let Parts { app, site, replica, controllers, following, informers, shutdown, told, stop } = self;
        let (mut tasks, stopping) = (JoinSet::new(), stop.subscribe());
        tasks.spawn(following);
        if let Some(fairness) = app.sharing.fairness() {
            tasks.spawn(Arc::clone(fairness).adjust(stopping.clone()));
        }
        tasks.spawn({
            let app = Arc::clone(&app);
            async move { shutdown.lead(told, &app.draining, || app.metrics.count_in_flight(), stop).await }
        });
        let leadership = replica.as_ref().map(|replica| Leadership::of(replica.holder.as_str()));
        if let Some(replica) = replica {
            tasks.spawn(replica.announce(Arc::clone(&app.core)));
        }
        let monitor = controllers.monitor();
        let authorizer: Arc<dyn Authorizer> = app.access.authorization.clone();
        tasks.spawn(controllers.start(&app.core, &authorizer, leadership.as_ref()).ended());
        informers.finish();
        // The first caller finds a server that is ready. One that does not become so says why at `/readyz`.
        let _ = timeout(CONTROLLER_PATIENCE, monitor.all_watch()).await;
        Box::pin(answering(Arc::clone(&app), stopping)).await;
        while tasks.join_next().await.is_some() {}
        if let Some(audit) = &app.audit {
            audit.backends().flush(AUDIT_PATIENCE).await;
        }
        if let Some(tracer) = &app.tracer {
            tracer.flush(TRACE_PATIENCE).await;
        }
        let closed = app.core.storage().shutdown().await;
        // From here on another process can use the data directory.
        drop(site);
        closed.map_err(|error| StartError::Runtime(format!("cannot close the store: {error}")))
    }
}

fn cannot_listen(error: &ListenError) -> StartError {
    let flag = match error {
        ListenError::AddressInUse(_) | ListenError::PermissionDenied(_) => "--secure-port",
        ListenError::AddressNotAvailable(_) | ListenError::Other { .. } => "--bind-address",
    };
    StartError::caused(flag, error)
}
