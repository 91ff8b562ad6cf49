//! What verbs ask of the store, under the names of the reference, whose store is etcd.

use std::time::Duration;

use orch_registry::{catalog::ServedResource, meter::Meter};
use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};

use super::registered;

/// Upper bounds of the durations of writes, in seconds.
const BUCKETS: &[f64] = &[
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0,
    5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];

/// Counts the work of verbs; clones share the series.
#[derive(Clone, Debug)]
pub(super) struct StorageMetrics {
    durations: HistogramVec,
    requests: IntCounterVec,
    errors: IntCounterVec,
    lists: IntCounterVec,
    listed: IntCounterVec,
}

impl StorageMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let counter = |name: &str, help: &str, labels: &[&str]| {
            registered(registry, IntCounterVec::new(Opts::new(name, help), labels))
        };
        let by_operation = ["operation", "type"];
        let durations =
            HistogramOpts::new("etcd_request_duration_seconds", "How long writes took in the store.");
        let durations = HistogramVec::new(durations.buckets(BUCKETS.to_vec()), &by_operation);
        StorageMetrics {
            durations: registered(registry, durations),
            requests: counter("etcd_requests_total", "Writes that were handed to the store.", &by_operation),
            errors: counter(
                "etcd_request_errors_total",
                "Writes that the store did not commit.",
                &by_operation,
            ),
            lists: counter("apiserver_storage_list_total", "Lists that were made.", &["resource"]),
            listed: counter(
                "apiserver_storage_list_returned_objects_total",
                "Objects in the lists that were made.",
                &["resource"],
            ),
        }
    }
}

impl Meter for StorageMetrics {
    fn committed(
        &self,
        resource: &ServedResource,
        operation: &'static str,
        took: Duration,
        is_committed: bool,
    ) {
        let labels = [operation, resource.group_resource.as_str()];
        self.durations.with_label_values(&labels).observe(took.as_secs_f64());
        self.requests.with_label_values(&labels).inc();
        if !is_committed {
            self.errors.with_label_values(&labels).inc();
        }
    }

    fn listed(&self, resource: &ServedResource, objects: usize) {
        let labels = [resource.group_resource.as_str()];
        self.lists.with_label_values(&labels).inc();
        self.listed.with_label_values(&labels).inc_by(objects as u64);
    }
}
