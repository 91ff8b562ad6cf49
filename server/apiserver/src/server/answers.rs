//! What a server that is put together answers requests with.

use std::{
    net::SocketAddr,
    sync::{Arc, atomic::AtomicBool},
};

use orch_auth::service_account::TokenIssuer;
use orch_config::InFlightLimits;
use orch_http::{
    access::AccessControl,
    app::App,
    documents::{
        self, Documents,
        discovery::Discovery,
        health::Checks,
        issuer::{self, IssuerDocuments},
        openapi::OpenApi,
        root_paths::RootPaths,
        version::Version,
    },
    fairness::{Fairness, MaxInFlight, Sharing},
    large_work::LargeWork,
    limits::{Limits, MemoryLimit},
    metrics::Metrics,
    request::identity_headers::IdentityHeaders,
};
use orch_kinds::{Services, sources::flow_control::FlowControl};
use orch_machinery::media_type::MediaTypes;
use orch_registry::{
    core::Core,
    feature_gates::{HTTP2_DOS_MITIGATION, RESPONSE_COMPRESSION},
    operation::Operations,
};

use super::Server;

impl Server {
    /// Adds the operations of the product's kinds.
    pub(super) fn add_product_operations(&mut self, access: &AccessControl, tokens: Arc<TokenIssuer>) {
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

    /// What answers requests. `address` is where the server listens.
    pub(super) fn app(
        self,
        core: Arc<Core>,
        access: AccessControl,
        metrics: Metrics,
        health: Checks,
        issuer: Option<IssuerDocuments>,
        address: SocketAddr,
    ) -> App {
        let (sharing, identity_headers) = (self.sharing(&core, &metrics), self.identity_headers());
        let catalog = Arc::clone(core.catalog());
        let gates = core.gates().clone();
        let media_types = Arc::new(MediaTypes::new(orch_meta::VOCABULARIES, |gate| gates.is_on(gate)));
        let documents = Documents {
            discovery: Discovery::new(&catalog, &media_types, address.to_string()),
            openapi: OpenApi::new(Arc::clone(&catalog), Arc::clone(&media_types)),
            root_paths: RootPaths::new(&catalog, listed(&health, issuer.as_ref())),
            health,
            issuer,
            metrics: metrics.clone(),
            fairness: sharing.fairness().cloned(),
            profiles: self.config.observation.profiles,
            version: Version::new(),
            core: Arc::clone(&core),
        };
        App {
            core,
            access,
            audit: None,
            tracer: None,
            operations: self.operations,
            documents: documents::router(documents, self.router),
            identity_headers,
            media_types,
            meta_groups: catalog.meta_groups(),
            metrics,
            large_work: LargeWork::on_this_machine(),
            open_watches: Arc::default(),
            limits: Limits::new(&self.config.client_limits),
            sharing,
            memory: MemoryLimit::new(self.config.serving.memory_limit),
            pace: self.config.pace,
            compresses: gates.is_on(&RESPONSE_COMPRESSION),
            closes_unauthenticated: gates.is_on(&HTTP2_DOS_MITIGATION),
            draining: AtomicBool::new(false),
            request_timeout: self.config.serving.request_timeout,
            goaway_chance: self.config.serving.goaway_chance,
            browsers: self.config.browsers,
        }
    }

    /// The headers in which a proxy says who sends a request.
    fn identity_headers(&self) -> IdentityHeaders {
        let proxy = self.config.authentication.proxy.as_ref();
        IdentityHeaders::new(proxy.map(|proxy| &proxy.headers))
    }

    /// How the server is shared out among requests.
    fn sharing(&self, core: &Core, metrics: &Metrics) -> Sharing {
        let InFlightLimits { reading, mutating, is_fair } = self.config.in_flight;
        if !is_fair {
            return Sharing::Plain(MaxInFlight::new(reading, mutating));
        }
        let source = Box::new(FlowControl::new(core.objects()));
        let fairness = Arc::new(Fairness::new(source, reading + mutating, orch_meta::VOCABULARIES));
        metrics.show_fairness(&fairness);
        Sharing::Fair(fairness)
    }
}

/// The paths of documents that `/` lists.
fn listed<'a>(health: &'a Checks, issuer: Option<&'a IssuerDocuments>) -> impl Iterator<Item = String> + 'a {
    let of_issuer = issuer.into_iter().flat_map(|_| [issuer::CONFIGURATION, issuer::KEYS]);
    let documents = documents::LISTED.iter().copied().chain(of_issuer).map(str::to_owned);
    documents.chain(health.paths())
}
