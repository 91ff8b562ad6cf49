//! What the parts of a server show in its metrics.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use arc_swap::ArcSwap;
use orch_auth::authentication::Authentication;
use orch_controllers::stats::Monitor;
use orch_registry::core::Core;
use orch_storage::Storage;

use crate::{config::StorageConfig, metrics::Metrics, traces::Tracer};

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
    metrics.show_controllers(monitor);
    metrics
}

/// Shows what the store holds and finds in its data.
pub fn show_store(metrics: &Metrics, config: &StorageConfig, storage: &Storage) {
    let database = config.database();
    metrics.show_size(move || files_of(&database));
    metrics.show_history(config.history_retention, storage);
    let storage = storage.clone();
    metrics.show_data(move || storage.patrolled());
}

/// Shows how tokens were looked up and judged.
pub fn show_tokens(metrics: &Metrics, authentication: Arc<ArcSwap<Authentication>>) {
    metrics.show_lookups(move || authentication.load().lookups());
}

/// Shows how many handshakes failed.
pub fn show_handshakes(metrics: &Metrics, failed: Arc<AtomicU64>) {
    let name = "apiserver_tls_handshake_errors_total";
    metrics.show_count(name, "TLS handshakes that failed.", move || failed.load(Ordering::Relaxed));
}

/// Shows what is lost of traces.
pub fn show_traces(metrics: &Metrics, tracer: &Tracer) {
    let help = "Spans that could not be delivered.";
    metrics.show_count("apiserver_tracing_lost_spans_total", help, tracer.lost());
}

/// The bytes of a database and of its write-ahead log.
fn files_of(database: &Path) -> f64 {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let size = |file: &Path| std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    (size(database) + size(log.as_ref())) as f64
}
