//! Putting a server together, in the order in which its parts need each other.
//!
//! What can be wrong with flags and files is found first; then the port is bound; then keys and data are
//! opened. So a server that cannot start leaves nothing behind.

use std::{net::SocketAddr, sync::Arc, time::SystemTime};

use arc_swap::ArcSwap;
use orch_audit::{auditor::Auditor, counters::Counters};
use orch_auth::rbac::authorizer::Rbac;
use orch_config::{Config, start_error::StartError};
use orch_controllers::{
    product::{self, own_service::OwnService, token_secrets::Signer, trust::Trust},
    replica::Replica,
    runner::Runner,
    selection,
};
use orch_encryption::encryption::Encryption;
use orch_http::{app::App, metrics::Metrics, shutdown::Steps, traces::Tracer, watch_review};
use orch_kinds::sources::{policies, standing};
use orch_listener::{ListenError, Listener};
use orch_registry::{
    admission::AdmissionChain, catalog::Catalog, continue_token::TokenKey, core::Core, objects::Objects,
    read::index::CatalogIndexer, stored::completed,
};
use orch_runtime::resource_def::ResourceDef;
use orch_settings::followed_files::FollowedFiles;
use orch_storage::{Indexer, Sealing, Storage, SystemClock};
use rustls::ServerConfig;
use tokio::sync::watch;
use uuid::Uuid;

use super::{Entrance, Server, first_objects, follower::Follower, left_behind, parts::Parts};
use crate::{
    authenticators::{Asking, FollowedFile},
    authorizers,
    bootstrap::{self, InForce, Prepared, open_files, signals},
    encryption::{self, FollowedKeys, SealShared},
    measures::{self, Measured},
    probes,
};

/// What is read from files before anything listens.
struct FromFiles {
    authorizers: authorizers::Files,
    asking: Asking,
    encryption: (Arc<Encryption>, FollowedFiles),
    audit: Option<Auditor>,
    audited: Arc<Counters>,
    tracer: Option<Tracer>,
}

impl FromFiles {
    fn read(config: &Config) -> Result<Self, StartError> {
        let vocabulary = config.vocabulary;
        let audited = Arc::new(Counters::default());
        let tracer = config.observation.tracing_file.as_deref();
        Ok(Self {
            authorizers: authorizers::Files::read(&config.authorization, vocabulary)?,
            asking: Asking::read(&config.authentication, vocabulary)?,
            encryption: encryption::read(&config.storage.encryption, vocabulary)?,
            audit: bootstrap::start_audit(config, &audited)?,
            audited,
            tracer: tracer.map(|file| Tracer::of_file(file, vocabulary)).transpose()?,
        })
    }
}

/// What a server has before it is decided who may do what: its port, its keys and its data.
struct Opened {
    listener: Option<Listener>,
    address: SocketAddr,
    own_service: OwnService,
    controllers: Runner,
    prepared: Prepared,
    trust: watch::Sender<Option<String>>,
    objects: Objects,
}

impl Server {
    /// Puts a server together; one with an address listens there from now on.
    pub(crate) async fn assemble(
        mut self,
        told: watch::Receiver<bool>,
        entrance: Entrance,
    ) -> Result<(Parts, Arc<ArcSwap<ServerConfig>>, Option<Listener>), StartError> {
        let started = SystemTime::now();
        // Before the first file is read: what a hangup during the start asks for is done after it.
        let (hangup, hangup_of_log) = (signals::hangup()?, signals::hangup()?);
        let (stop, stopping) = watch::channel(false);
        self.check_tables()?;
        let mut admission = self.admission_chain()?;
        let FromFiles { authorizers, asking, encryption, audit, audited, tracer } =
            FromFiles::read(&self.config)?;
        let (encryption, key_files) = encryption;
        let Asking { mut lasting, followed: issuers } = asking;
        let Opened { listener, address, own_service, controllers, prepared, trust, objects } =
            Box::pin(self.open(entrance, &encryption)).await?;
        let Prepared { authentication, tokens, continue_key, tls, sources, site, .. } = prepared;
        let (tls, storage) = (Arc::new(ArcSwap::new(tls)), objects.storage().clone());

        // Those that need nobody else first.
        lasting.methods.splice(..0, self.authenticators_over_objects(&objects, &tokens));
        let rbac = Arc::new(policies::rbac(&objects));
        let modes = self.modes(authorizers, &objects, &rbac)?;
        let access = self.access(authentication, &lasting, &modes);
        admission.guard(orch_kinds::guard(rbac, Arc::clone(&access.authorization)));
        let issuer = self.issuer_documents(&tokens, address);
        self.add_product_operations(&access, Arc::clone(&tokens));
        let certificate_ends = sources.certificate_ends();
        let authentication = Arc::clone(&access.authentication);
        let in_force = InForce { authentication, lasting, tls: Arc::clone(&tls), trust };
        let sources = bootstrap::follow(sources, address, in_force, hangup, stopping.clone());

        let core = self.core(objects, admission, continue_key, &stopping);
        left_behind::warn(&core);
        first_objects::create(&core, &own_service).await?;
        if let Entrance::Address = entrance {
            Box::pin(bootstrap::seal_keys(&self.config, &(encryption.clone() as Arc<dyn Sealing>))).await?;
        }

        let metrics = measures::of_server(started, &core, controllers.monitor());
        let measured = Measured {
            storage: &self.config.storage,
            lost_lines: self.lost_lines.as_ref(),
            gates: core.gates().listed(&self.tables),
            tokens,
            authentication: Arc::clone(&access.authentication),
            certificate_ends,
            decisions: modes.decisions(),
            encryption: Arc::clone(&encryption),
            audited,
            tracer: tracer.as_ref(),
            listener: listener.as_ref(),
        };
        measured.show(&metrics, &storage);
        core.measure(metrics.meter(&core));
        let mut followers = self.follow_files(issuers, modes, &metrics, &stopping);
        followers.extend(self.follow_keys(&encryption, key_files, &storage, &metrics, &stopping));
        followers.push(Follower::of("certificates and tokens", sources));
        encryption::warn_of_unknown(&encryption.keyring(), core.catalog());
        let health = probes::checks(&self.config.serving, &storage, &told, &controllers.monitor());
        let informers = health.register_hook("generic-apiserver-start-informers");
        let lending = self.config.in_flight.is_fair.then(|| probes::of_fairness(&health));
        let shutdown = Steps::of(&self.config.serving);
        let standing = standing::standing(core.objects());
        let app = self.app(core, access, metrics, health, issuer, address);
        let app = Arc::new(App { audit, tracer, ..app });
        if app.audit.is_some() {
            let audit_log = bootstrap::follow_audit_log(Arc::clone(&app), hangup_of_log, stopping.clone());
            followers.push(Follower::of("signals to open the audit log", audit_log));
        }
        let watches = watch_review::follow(Arc::clone(&app), standing, stopping);
        followers.push(Follower::of("rights of open watches", watches));
        let replica = storage.is_shared().then(|| replica(address));
        let parts =
            Parts { app, site, replica, controllers, followers, informers, lending, shutdown, told, stop };
        Ok((parts, tls, listener))
    }

    /// Opens its port, the data directory and the store, in this order.
    async fn open(&mut self, entrance: Entrance, encryption: &Arc<Encryption>) -> Result<Opened, StartError> {
        open_files::raise_limit();
        // First of all, so that a server whose port is in use leaves nothing behind.
        let listener = match entrance {
            Entrance::Address => Some(self.listen().await.map_err(|error| cannot_listen(&error))?),
            Entrance::Process => None,
        };
        let address = listener.as_ref().map_or(self.config.serving.address, Listener::local_address);
        let own_service = OwnService::new(&self.config.ranges.addresses, address.port());
        // What controllers need of the data directory comes later: a wrong flag leaves nothing there.
        let (trust, signer) = (watch::Sender::new(None), Signer::default());
        let controllers = self.runner(own_service.clone(), trust.subscribe(), Arc::clone(&signer))?;
        if let Entrance::Address = entrance {
            Box::pin(bootstrap::share_keys(&self.config, &(encryption.clone() as Arc<dyn Sealing>))).await?;
        }
        let mut prepared = bootstrap::prepare(&self.config)?;
        trust.send_replace(prepared.authority.take());
        let objects = self.objects(entrance, encryption).await?;
        signer.get_or_init(|| Arc::clone(&prepared.tokens));
        Ok(Opened { listener, address, own_service, controllers, prepared, trust, objects })
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

    /// The kinds that are served.
    fn catalog(&self) -> Arc<Catalog> {
        let Config { vocabulary, enablement, .. } = &self.config;
        let is_served = |def: &ResourceDef| enablement.serves(vocabulary, def);
        let tables = self.tables.iter().copied();
        Arc::new(Catalog::of_served(vocabulary, tables, &self.behaviours, is_served))
    }

    /// The store with its index, and the kinds in it.
    async fn objects(&self, entrance: Entrance, encryption: &Arc<Encryption>) -> Result<Objects, StartError> {
        let catalog = self.catalog();
        let storage = match entrance {
            Entrance::Address => bootstrap::open_storage(&self.config, encryption.clone(), &catalog).await?,
            Entrance::Process => Storage::in_memory(),
        };
        let indexer: Arc<dyn Indexer> = Arc::new(CatalogIndexer::new(&catalog));
        storage.index_by(&indexer);
        completed::complete(&catalog, &storage);
        Ok(Objects::new(catalog, storage))
    }

    /// The configured authorizers.
    fn modes(
        &self,
        files: authorizers::Files,
        objects: &Objects,
        rbac: &Arc<Rbac>,
    ) -> Result<authorizers::Modes, StartError> {
        authorizers::Modes::new(&self.config.authorization, files, objects, rbac, self.shows_selectors())
    }

    /// What performs requests for objects.
    fn core(
        &self,
        objects: Objects,
        admission: AdmissionChain,
        continue_key: TokenKey,
        stopping: &watch::Receiver<bool>,
    ) -> Arc<Core> {
        let gates = self.config.feature_gates.clone();
        let clock = Arc::new(SystemClock);
        let core = Core::new(objects, clock, gates, admission, continue_key, stopping.clone());
        Arc::new(core.with_min_watch_time(self.config.serving.min_request_timeout))
    }

    /// Follows the file of keys of encryption, if there is one.
    fn follow_keys(
        &self,
        encryption: &Arc<Encryption>,
        files: FollowedFiles,
        storage: &Storage,
        metrics: &Metrics,
        stopping: &watch::Receiver<bool>,
    ) -> Option<Follower> {
        let (config, is_shared) = (self.config.clone(), storage.is_shared());
        let seal_shared: SealShared = Box::new(move |sealing| {
            let config = config.clone();
            Box::pin(async move {
                if is_shared { Box::pin(bootstrap::seal_keys(&config, &sealing)).await } else { Ok(()) }
            })
        });
        let Config { storage: settings, vocabulary, .. } = &self.config;
        let keys = FollowedKeys::of(&settings.encryption, files, vocabulary, encryption, seal_shared);
        let follow = |keys: FollowedKeys| keys.follow(storage.clone(), metrics.clone(), stopping.clone());
        keys.map(|keys| Follower::of("keys of encryption", follow(keys)))
    }

    /// Follows the files of issuers and of authorizers, if there are any.
    fn follow_files(
        &self,
        issuers: Option<FollowedFile>,
        modes: authorizers::Modes,
        metrics: &Metrics,
        stopping: &watch::Receiver<bool>,
    ) -> Vec<Follower> {
        let (vocabulary, authorizers) = (self.config.vocabulary, self.config.authorization.file.clone());
        let issuers = issuers
            .map(|file| Follower::of("issuers of tokens", file.follow(metrics.clone(), stopping.clone())));
        let authorizers = authorizers.map(|file| {
            let follow = authorizers::follow(file, vocabulary, modes, metrics.clone(), stopping.clone());
            Follower::of("authorizers", follow)
        });
        issuers.into_iter().chain(authorizers).collect()
    }
}

/// What a server over a shared store calls itself.
fn replica(address: SocketAddr) -> Replica {
    let host = bootstrap::host_name().unwrap_or_else(|| address.ip().to_string());
    Replica::new(&host, &address.to_string(), &Uuid::new_v4().to_string())
}

fn cannot_listen(error: &ListenError) -> StartError {
    let flag = match error {
        ListenError::AddressInUse(_) | ListenError::PermissionDenied(_) => "--secure-port",
        ListenError::AddressNotAvailable(_) | ListenError::Other { .. } => "--bind-address",
    };
    StartError::caused(flag, error)
}
