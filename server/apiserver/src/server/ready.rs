//! The last part of putting a server together: what answers its requests, and what runs beside them.

use std::{net::SocketAddr, sync::Arc, time::SystemTime};

use orch_audit::{auditor::Auditor, counters::Counters};
use orch_auth::service_account::TokenIssuer;
use orch_config::{Config, start_error::StartError};
use orch_controllers::{replica::Replica, runner::Runner};
use orch_encryption::encryption::Encryption;
use orch_http::{
    access::AccessControl, app::App, documents::issuer::IssuerDocuments, metrics::Metrics, shutdown::Steps,
    traces::Tracer, watch_review,
};
use orch_kinds::sources::standing;
use orch_listener::Listener;
use orch_registry::core::Core;
use orch_settings::followed_files::FollowedFiles;
use orch_storage::Storage;
use prometheus::GaugeVec;
use tokio::{signal::unix::Signal, sync::watch};
use uuid::Uuid;

use super::{Server, follower::Follower, parts::Parts};
use crate::{
    authenticators::FollowedFile,
    authorizers,
    bootstrap::{self, Site},
    encryption::{self, FollowedKeys, SealShared},
    measures::{self, Measured},
    probes,
};

/// What is read from files before anything listens: how objects are kept, and what is recorded of requests.
pub(super) struct Records {
    pub encryption: Arc<Encryption>,
    key_files: FollowedFiles,
    audit: Option<Auditor>,
    audited: Arc<Counters>,
    tracer: Option<Tracer>,
}

impl Records {
    pub(super) fn read(config: &Config) -> Result<Self, StartError> {
        let vocabulary = config.vocabulary;
        let (encryption, key_files) = encryption::read(&config.storage.encryption, vocabulary)?;
        let audited = Arc::new(Counters::default());
        let audit = bootstrap::start_audit(config, &audited)?;
        let tracer = config.observation.tracing_file.as_deref();
        let tracer = tracer.map(|file| Tracer::of_file(file, vocabulary)).transpose()?;
        Ok(Self { encryption, key_files, audit, audited, tracer })
    }
}

/// Who makes a request, and who may do what.
pub(super) struct Callers {
    pub access: AccessControl,
    pub tokens: Arc<TokenIssuer>,
    pub certificate_ends: GaugeVec,
    pub modes: authorizers::Modes,
    /// The file of issuers of tokens, where it is followed.
    pub issuers: Option<FollowedFile>,
    /// How others verify our tokens.
    pub issuer: Option<IssuerDocuments>,
    /// Reads certificates and tokens again.
    pub sources: Follower,
}

/// A server that can perform requests, and answers none yet.
pub(super) struct Ready {
    pub started: SystemTime,
    pub core: Arc<Core>,
    pub callers: Callers,
    pub records: Records,
    pub address: SocketAddr,
    pub site: Site,
    pub controllers: Runner,
}

impl Server {
    /// Adds what answers requests, and what runs beside it.
    pub(super) fn answer(
        self,
        ready: Ready,
        listener: Option<&Listener>,
        hangup: Signal,
        told: watch::Receiver<bool>,
        stop: watch::Sender<bool>,
    ) -> Parts {
        let Ready { started, core, callers, records, address, site, controllers } = ready;
        let (storage, stopping) = (core.storage().clone(), stop.subscribe());
        let metrics = measures::of_server(started, &core, controllers.monitor());
        self.measured(&core, &callers, &records, listener).show(&metrics, &storage);
        core.measure(metrics.meter(&core));
        let Callers { access, modes, issuers, issuer, sources, .. } = callers;
        let Records { encryption, key_files, audit, tracer, .. } = records;
        let mut followers = self.follow_files(issuers, modes, &metrics, &stopping);
        followers.extend(self.follow_keys(&encryption, key_files, &storage, &metrics, &stopping));
        followers.push(sources);
        encryption::warn_of_unknown(&encryption.keyring(), core.catalog());
        let health = probes::checks(&self.config.serving, &storage, &told, &controllers.monitor());
        let informers = health.register_hook("generic-apiserver-start-informers");
        let lending = self.config.in_flight.is_fair.then(|| probes::of_fairness(&health));
        let shutdown = Steps::of(&self.config.serving);
        let standing = standing::standing(core.objects());
        let app = self.app(core, access, metrics, health, issuer, address);
        let app = Arc::new(App { audit, tracer, ..app });
        if app.audit.is_some() {
            let audit_log = bootstrap::follow_audit_log(Arc::clone(&app), hangup, stopping.clone());
            followers.push(Follower::of("signals to open the audit log", audit_log));
        }
        let watches = watch_review::follow(Arc::clone(&app), standing, stopping);
        followers.push(Follower::of("rights of open watches", watches));
        let replica = storage.is_shared().then(|| replica(address));
        Parts { app, site, replica, controllers, followers, informers, lending, shutdown, told, stop }
    }

    /// The parts that metrics are read from.
    fn measured<'a>(
        &'a self,
        core: &Core,
        callers: &Callers,
        records: &'a Records,
        listener: Option<&'a Listener>,
    ) -> Measured<'a> {
        Measured {
            storage: &self.config.storage,
            lost_lines: self.lost_lines.as_ref(),
            gates: core.gates().listed(&self.tables),
            tokens: Arc::clone(&callers.tokens),
            authentication: Arc::clone(&callers.access.authentication),
            certificate_ends: callers.certificate_ends.clone(),
            decisions: callers.modes.decisions(),
            encryption: Arc::clone(&records.encryption),
            audited: Arc::clone(&records.audited),
            tracer: records.tracer.as_ref(),
            listener,
        }
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
