//! Metrics of other parts of the server: those that they count, and those that are read at each scrape.

use std::{sync::Arc, time::Duration};

use orch_audit::counters::Counters;
use orch_auth::{authorizer::counted::Decisions, lookups::LookupCounts, service_account::TokenIssuer};
use orch_encryption::encryption::Encryption;
use orch_registry::feature_gates::stage_name;
use orch_runtime::type_def::FeatureGate;
use orch_storage::{Clock as _, Events, Patrolled, Storage, SystemClock};
use prometheus::{
    IntGaugeVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

use super::{
    Metrics,
    audit::AuditMetrics,
    data::DataMetrics,
    decisions::DecisionMetrics,
    encryption::EncryptionMetrics,
    events::EventMetrics,
    fairness::FairnessMetrics,
    history::HistoryMetrics,
    lookups::LookupMetrics,
    read_values::{ReadCounter, ReadGauge},
    register, registered,
    tokens::TokenMetrics,
};
use crate::fairness::Fairness;

impl Metrics {
    /// Publishes what each authorizer decides.
    ///
    /// # Panics
    /// If it is called twice: there is one list of authorizers.
    pub fn show_decisions(&self, decisions: Arc<Decisions>) {
        register(&self.0.registry, DecisionMetrics::new(decisions));
    }

    /// Publishes the events of each resource; `read` is called whenever metrics are read.
    ///
    /// # Panics
    /// If it is called twice: there is one store.
    pub fn show_events(&self, read: impl Fn() -> Vec<(String, Events)> + Send + Sync + 'static) {
        register(&self.0.registry, EventMetrics::new(read));
    }

    /// Publishes what priority and fairness does.
    ///
    /// # Panics
    /// If it is called twice: there is one.
    pub fn show_fairness(&self, fairness: &Arc<Fairness>) {
        register(&self.0.registry, FairnessMetrics::new(Arc::clone(fairness)));
    }

    /// Publishes the number of stored objects per resource; `count` is called whenever metrics are read, and
    /// returns `(configmaps, 3)`, `(leases.coordination.orch.io, 1)` ...
    ///
    /// # Panics
    /// If it is called twice: there is one store.
    pub fn count_objects(&self, count: impl Fn() -> Vec<(String, u64)> + Send + Sync + 'static) {
        let gauge = Opts::new("apiserver_storage_objects", "Objects in the store, by resource.");
        let gauge = IntGaugeVec::new(gauge, &["resource"]).expect("the description is well-formed");
        register(&self.0.registry, ObjectCounts { gauge, count: Box::new(count) });
    }

    /// Publishes how much past the store holds; it should reach back as far as `retention`.
    ///
    /// # Panics
    /// If it is called twice: there is one store.
    pub fn show_history(&self, retention: Duration, storage: &Storage) {
        let storage = storage.clone();
        let read = move || (storage.history(), SystemClock.now());
        register(&self.0.registry, HistoryMetrics::new(retention, read));
    }

    /// Publishes a count that others keep; `read` is called whenever metrics are read.
    ///
    /// # Panics
    /// If there is a metric of that name already.
    pub fn show_count(&self, name: &str, help: &str, read: impl Fn() -> u64 + Send + Sync + 'static) {
        register(&self.0.registry, ReadCounter::new(name, help, None, read));
    }

    /// Publishes how tokens were looked up among those that were judged before, and how others are judged.
    ///
    /// # Panics
    /// If it is called twice: there is one authentication.
    pub fn show_lookups(&self, read: impl Fn() -> LookupCounts + Send + Sync + 'static) {
        register(&self.0.registry, LookupMetrics::new(read));
    }

    /// Publishes the size of the database files.
    ///
    /// # Panics
    /// If it is called twice: there is one store.
    pub fn show_size(&self, read: impl Fn() -> f64 + Send + Sync + 'static) {
        let help = "Bytes of the database files.";
        let gauge =
            ReadGauge::new("apiserver_storage_size_bytes", help, ("storage_cluster_id", "sqlite"), read);
        register(&self.0.registry, gauge);
    }

    /// Publishes which features are on.
    ///
    /// # Panics
    /// If it is called twice: there is one set of gates.
    pub fn show_gates(&self, gates: &[(FeatureGate, bool)]) {
        let name = format!("{}_feature_enabled", self.0.vocabulary.name);
        let gauge = Opts::new(name, "Whether a feature is on, by its gate and stage.");
        let gauge = registered(&self.0.registry, IntGaugeVec::new(gauge, &["name", "stage"]));
        for (gate, is_on) in gates {
            let stage = stage_name(gate.stage);
            gauge.with_label_values(&[gate.name, stage]).set(i64::from(*is_on));
        }
    }

    /// Publishes what audit counts.
    ///
    /// # Panics
    /// If it is called twice: there is one audit.
    pub fn show_audit(&self, counters: Arc<Counters>) {
        register(&self.0.registry, AuditMetrics::new(counters));
    }

    /// Publishes how often values were sealed and opened.
    pub fn show_encryption(&self, encryption: Arc<Encryption>) {
        register(&self.0.registry, EncryptionMetrics::new(encryption));
    }

    /// Publishes a metric that others keep.
    ///
    /// # Panics
    /// If there is a metric of that name already.
    pub fn show(&self, metric: impl Collector + 'static) {
        register(&self.0.registry, metric);
    }

    /// Publishes what the store finds in its data.
    ///
    /// # Panics
    /// If it is called twice: there is one store.
    pub fn show_data(&self, patrolled: impl Fn() -> Patrolled + Send + Sync + 'static) {
        register(&self.0.registry, DataMetrics::new(patrolled));
    }

    /// Publishes how often tokens are used that should have been renewed.
    ///
    /// # Panics
    /// If it is called twice: there is one issuer.
    pub fn show_tokens(&self, tokens: Arc<TokenIssuer>) {
        register(&self.0.registry, TokenMetrics::new(tokens));
    }
}

/// Gauges whose values are computed when metrics are read.
struct ObjectCounts {
    gauge: IntGaugeVec,
    count: Box<dyn Fn() -> Vec<(String, u64)> + Send + Sync>,
}

impl Collector for ObjectCounts {
    fn desc(&self) -> Vec<&Desc> {
        self.gauge.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        for (resource, count) in (self.count)() {
            self.gauge.with_label_values(&[resource]).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        self.gauge.collect()
    }
}
