//! Putting a server together, in the order in which its parts need each other.
//!
//! What can be wrong with flags and files is found first; then the port is bound; then keys and data are
//! opened. So a server that cannot start leaves nothing behind.

use std::{net::SocketAddr, sync::Arc, time::SystemTime};

use arc_swap::ArcSwap;
use orch_auth::authentication::{Authentication, Lasting};
use orch_config::{Config, start_error::StartError};
use orch_controllers::{
    product::{self, own_service::OwnService, token_secrets::Signer, trust::Trust},
    runner::Runner,
    selection,
};
use orch_encryption::encryption::Encryption;
use orch_http::access::AccessControl;
use orch_kinds::sources::policies;
use orch_listener::{ListenError, Listener};
use orch_registry::{
    admission::AdmissionChain, catalog::Catalog, continue_token::TokenKey, core::Core, objects::Objects,
    read::index::CatalogIndexer, stored::completed,
};
use orch_runtime::resource_def::ResourceDef;
use orch_storage::{Indexer, Sealing, Storage, SystemClock};
use rustls::ServerConfig;
use tokio::sync::watch;

use super::{
    Entrance, Server, first_objects,
    follower::Follower,
    left_behind,
    parts::Parts,
    ready::{Callers, Ready, Records},
};
use crate::{
    authenticators::Asking,
    authorizers,
    bootstrap::{self, InForce, Prepared, open_files, signals},
};

/// What is read from files before anything listens: who makes a request, and who may do what.
struct CallerFiles {
    authorizers: authorizers::Files,
    asking: Asking,
}

impl CallerFiles {
    fn read(config: &Config) -> Result<Self, StartError> {
        Ok(Self {
            authorizers: authorizers::Files::read(&config.authorization, config.vocabulary)?,
            asking: Asking::read(&config.authentication, config.vocabulary)?,
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
        let CallerFiles { authorizers, asking } = CallerFiles::read(&self.config)?;
        let records = Records::read(&self.config)?;
        let Asking { mut lasting, followed: issuers } = asking;
        let Opened { listener, address, own_service, controllers, prepared, trust, objects } =
            Box::pin(self.open(entrance, &records.encryption)).await?;
        let Prepared { authentication, tokens, continue_key, tls, sources, site, .. } = prepared;
        let tls = Arc::new(ArcSwap::new(tls));

        // Those that call no other server come first.
        lasting.methods.splice(..0, self.authenticators_over_objects(&objects, &tokens));
        let (access, modes) = self.decide(authorizers, authentication, &lasting, &objects, &mut admission)?;
        let issuer = self.issuer_documents(&tokens, address);
        self.add_product_operations(&access, Arc::clone(&tokens));
        let certificate_ends = sources.certificate_ends();
        let authentication = Arc::clone(&access.authentication);
        let in_force = InForce { authentication, lasting, tls: Arc::clone(&tls), trust };
        let sources = bootstrap::follow(sources, address, in_force, hangup, stopping.clone());
        let sources = Follower::of("certificates and tokens", sources);
        let callers = Callers { access, tokens, certificate_ends, modes, issuers, issuer, sources };

        let core = self.core(objects, admission, continue_key, &stopping);
        Box::pin(self.write_first(entrance, &core, &own_service, &records.encryption)).await?;
        let ready = Ready { started, core, callers, records, address, site, controllers };
        let parts = self.answer(ready, listener.as_ref(), hangup_of_log, told, stop);
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

    /// Who makes a request, and who may do what, which plugins ask too.
    fn decide(
        &mut self,
        files: authorizers::Files,
        authentication: Authentication,
        lasting: &Lasting,
        objects: &Objects,
        admission: &mut AdmissionChain,
    ) -> Result<(AccessControl, authorizers::Modes), StartError> {
        let rbac = Arc::new(policies::rbac(objects));
        let (config, shows_selectors) = (&self.config.authorization, self.shows_selectors());
        let modes = authorizers::Modes::new(config, files, objects, &rbac, shows_selectors)?;
        let access = self.access(authentication, lasting, &modes);
        admission.guard(orch_kinds::guard(rbac, Arc::clone(&access.authorization)));
        Ok((access, modes))
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

    /// Writes the objects that a server begins with, and its keys under the newest key of encryption.
    async fn write_first(
        &self,
        entrance: Entrance,
        core: &Arc<Core>,
        own_service: &OwnService,
        encryption: &Arc<Encryption>,
    ) -> Result<(), StartError> {
        left_behind::warn(core);
        first_objects::create(core, own_service).await?;
        if let Entrance::Address = entrance {
            Box::pin(bootstrap::seal_keys(&self.config, &(encryption.clone() as Arc<dyn Sealing>))).await?;
        }
        Ok(())
    }
}

fn cannot_listen(error: &ListenError) -> StartError {
    let flag = match error {
        ListenError::AddressInUse(_) | ListenError::PermissionDenied(_) => "--secure-port",
        ListenError::AddressNotAvailable(_) | ListenError::Other { .. } => "--bind-address",
    };
    StartError::caused(flag, error)
}
