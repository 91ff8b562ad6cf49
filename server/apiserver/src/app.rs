//! The server's parts, wired.
//!
//! One value that every request shares. Each part has its own configuration and constructor; only this file knows all of
//! them.

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use orch_auth::{authentication::Authentication, authorization::Authorization, service_account::TokenIssuer};
use orch_runtime::scalar::Time;
use orch_storage::{Clock, Revision, Storage};
use tokio::sync::{Mutex, RwLock, watch};

use crate::{
    catalog::Catalog,
    discovery::Discovery,
    error::{ApiError, Result},
    feature_gates::FeatureGates,
    health::Checks,
    kinds::service::{NodePorts, ServiceNetwork},
    metrics::Metrics,
    openapi::OpenApi,
    registry::continue_token::TokenKey,
    root_paths::RootPaths,
    version::Version,
};

/// How long a read waits for a version that is still to come.
const VERSION_WAIT: Duration = Duration::from_secs(3);

/// Everything that answers requests.
pub struct App {
    /// What is served.
    pub catalog: Arc<Catalog>,
    /// Where it is stored.
    pub storage: Storage,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Who makes a request; another one when the files that tell have changed.
    pub authentication: ArcSwap<Authentication>,
    /// Makes tokens for service accounts.
    pub tokens: Arc<TokenIssuer>,
    /// Whether they may.
    pub authorization: Authorization,
    /// `/api`, `/apis` and below.
    pub discovery: Discovery,
    /// `/openapi/v3` and below.
    pub openapi: OpenApi,
    /// `/livez`, `/readyz`, `/healthz`.
    pub health: Checks,
    /// `/metrics`.
    pub metrics: Metrics,
    /// `/version`.
    pub version: Version,
    /// `/`.
    pub root_paths: RootPaths,
    /// Seals the positions of paged lists.
    pub continue_key: TokenKey,
    /// Held for reading from the check that a namespace takes new objects until the object is stored; whoever empties a
    /// namespace waits for it.
    pub namespace_gate: Arc<RwLock<()>>,
    /// Which features are on.
    pub feature_gates: FeatureGates,
    /// The network of which services get their addresses.
    pub service_network: ServiceNetwork,
    /// The ports of machines that services get.
    pub node_ports: NodePorts,
    /// Held while an object is given what no other has, until it is stored.
    pub allocation: Arc<Mutex<()>>,
    /// How long a request that is no watch may take.
    pub request_timeout: Duration,
    /// Becomes true when the server starts to shut down.
    pub stopping: watch::Receiver<bool>,
}

impl App {
    /// The groups of metadata-only forms and tables, in the spelling of each vocabulary: clients name either.
    pub fn meta_groups(&self) -> Vec<String> {
        let mut groups: Vec<String> = orch_api::VOCABULARIES.iter().map(|words| words.meta_group()).collect();
        groups.dedup();
        groups
    }

    /// The time, in whole seconds, as it goes into objects.
    pub fn now(&self) -> Time {
        Time::from_unix_seconds((self.clock.now().0 / 1000).cast_signed())
    }

    /// Waits until reads include `version`.
    ///
    /// # Errors
    /// 504 where the version is still to come after a short while.
    pub async fn wait_for(&self, version: Revision) -> Result<()> {
        self.storage.wait_for(version, VERSION_WAIT).await.map_err(|_| ApiError::TooLargeResourceVersion {
            asked: version.get(),
            current: self.storage.current_revision().get(),
        })
    }
}
