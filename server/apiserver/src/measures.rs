//! What the parts of a server show in its metrics.

mod controllers;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use arc_swap::ArcSwap;
use orch_audit::counters::Counters;
use orch_auth::{
    authentication::Authentication, authorizer::counted::Decisions, service_account::TokenIssuer,
};
use orch_config::StorageConfig;
use orch_controllers::stats::Monitor;
use orch_encryption::encryption::Encryption;
use orch_http::{metrics::Metrics, traces::Tracer};
use orch_listener::Listener;
use orch_registry::core::Core;
use orch_runtime::type_def::FeatureGate;
use orch_storage::Storage;
use prometheus::GaugeVec;

use self::controllers::ControllerMetrics;
use crate::bootstrap::logging::LostLines;

/// The parts of a server that show something, beside the core and the controllers.
pub struct Measured<'a> {
    /// Where the data are, and how long history is kept.
    pub storage: &'a StorageConfig,
    /// How many lines of the log were lost, where they are counted.
    pub lost_lines: Option<&'a LostLines>,
    /// All feature gates, and whether they are on.
    pub gates: Vec<(FeatureGate, bool)>,
    /// Makes and judges tokens of service accounts.
    pub tokens: Arc<TokenIssuer>,
    /// Who makes a request.
    pub authentication: Arc<ArcSwap<Authentication>>,
    /// When certificates end.
    pub certificate_ends: GaugeVec,
    /// How often each authorizer decides.
    pub decisions: Arc<Decisions>,
    /// What data are sealed with.
    pub encryption: Arc<Encryption>,
    /// How many requests were audited.
    pub audited: Arc<Counters>,
    /// Which requests are traced, where some are.
    pub tracer: Option<&'a Tracer>,
    /// Where connections come from, if any do.
    pub listener: Option<&'a Listener>,
}

impl Measured<'_> {
    /// Shows all of it.
    pub fn show(self, metrics: &Metrics, storage: &Storage) {
        metrics.show_tokens(self.tokens);
        let authentication = self.authentication;
        metrics.show_lookups(move || authentication.load().lookups());
        if let Some(lost) = self.lost_lines {
            metrics.show(lost.counter());
        }
        metrics.show(self.certificate_ends);
        metrics.show_decisions(self.decisions);
        metrics.show_encryption(self.encryption);
        metrics.show_gates(&self.gates);
        metrics.show_audit(self.audited);
        if let Some(tracer) = self.tracer {
            let help = "Spans that could not be delivered.";
            metrics.show_count("apiserver_tracing_lost_spans_total", help, tracer.lost());
        }
        if let Some(listener) = self.listener {
            show_handshakes(metrics, listener.failed_handshakes());
        }
        show_store(metrics, self.storage, storage);
    }
}

/// The metrics of a server, with its objects and controllers.
pub fn of_server(started: SystemTime, core: &Core, monitor: Monitor) -> Metrics {
    let metrics = Metrics::new(core.vocabulary(), started);
    let (catalog, storage) = (Arc::clone(core.catalog()), core.storage().clone());
    metrics.count_objects(move || {
        let stored = catalog.stored_resources();
        stored
            .map(|resource| {
                let count = storage.snapshot(&resource.storage_name).len();
                (resource.group_resource.clone(), count as u64)
            })
            .collect()
    });
    let (catalog, storage) = (Arc::clone(core.catalog()), core.storage().clone());
    metrics.show_events(move || {
        let events = catalog.stored_resources().filter_map(|resource| {
            Some((resource.group_resource.clone(), storage.events(&resource.storage_name)?))
        });
        events.collect()
    });
    metrics.show(ControllerMetrics::new(monitor));
    metrics
}

/// Shows what the store holds and finds in its data.
fn show_store(metrics: &Metrics, config: &StorageConfig, storage: &Storage) {
    if !storage.is_shared() {
        let database = config.database();
        metrics.show_size(move || files_of(&database));
    }
    metrics.show_history(config.history_retention, storage);
    let storage = storage.clone();
    metrics.show_data(move || storage.patrolled());
}

/// Shows how many handshakes failed.
fn show_handshakes(metrics: &Metrics, failed: Arc<AtomicU64>) {
    let name = "apiserver_tls_handshake_errors_total";
    metrics.show_count(name, "TLS handshakes that failed.", move || failed.load(Ordering::Relaxed));
}

/// The bytes of a database and of its write-ahead log.
fn files_of(database: &Path) -> f64 {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let size = |file: &Path| std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    (size(database) + size(log.as_ref())) as f64
}
