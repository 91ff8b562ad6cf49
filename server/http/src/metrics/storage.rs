//! What verbs ask of the store and of the memory in front of it, under the names of the reference, whose
//! store is etcd and whose memory is the watch cache.

use std::sync::OnceLock;

use orch_registry::{
    catalog::ServedResource,
    meter::{Listed, Waited},
    read::index,
};
use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry};

use super::registered;

/// Upper bounds of the durations of writes, in seconds.
const BUCKETS: &[f64] = &[
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0,
    5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];
/// Upper bounds of the time that reads wait, in seconds.
const WAIT_BUCKETS: &[f64] = &[0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0];

/// As metrics name the writes of the store.
const OPERATIONS: [&str; 3] = ["create", "update", "delete"];

/// The families of series.
#[derive(Debug)]
pub(super) struct StorageMetrics {
    durations: HistogramVec,
    requests: IntCounterVec,
    errors: IntCounterVec,
    lists: IntCounterVec,
    fetched: IntCounterVec,
    evaluated: IntCounterVec,
    returned: IntCounterVec,
    lists_by_index: IntCounterVec,
    fetched_by_index: IntCounterVec,
    returned_by_index: IntCounterVec,
    waits: HistogramVec,
    consistent: IntCounterVec,
}

/// The handles of one resource, each made when it is first needed.
#[derive(Debug, Default)]
pub(super) struct ResourceSeries {
    writes: [OnceLock<Writes>; OPERATIONS.len()],
    lists: OnceLock<[IntCounter; 4]>,
    /// Without an index, and by each index.
    by_index: Box<[OnceLock<[IntCounter; 3]>]>,
    wait: OnceLock<Histogram>,
    /// Whether the version came.
    consistent: [OnceLock<IntCounter>; 2],
}

#[derive(Debug)]
struct Writes {
    duration: Histogram,
    requests: IntCounter,
    errors: IntCounter,
}

impl StorageMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let counter = |name: &str, help: &str, labels: &[&str]| {
            registered(registry, IntCounterVec::new(Opts::new(name, help), labels))
        };
        let histogram = |name: &str, help: &str, buckets: &[f64], labels: &[&str]| {
            let opts = HistogramOpts::new(name, help).buckets(buckets.to_vec());
            registered(registry, HistogramVec::new(opts, labels))
        };
        let (by_operation, of_resource, by_index) =
            (["operation", "type"], ["resource"], ["resource_prefix", "index"]);
        StorageMetrics {
            durations: histogram(
                "etcd_request_duration_seconds",
                "How long writes took in the store.",
                BUCKETS,
                &by_operation,
            ),
            requests: counter("etcd_requests_total", "Writes that were handed to the store.", &by_operation),
            errors: counter(
                "etcd_request_errors_total",
                "Writes that the store did not commit.",
                &by_operation,
            ),
            lists: counter("apiserver_storage_list_total", "Lists that were made.", &of_resource),
            fetched: counter(
                "apiserver_storage_list_fetched_objects_total",
                "Objects that lists were made of: those of the collection, or those that an index found.",
                &of_resource,
            ),
            evaluated: counter(
                "apiserver_storage_list_evaluated_objects_total",
                "Objects that the selectors of lists looked at.",
                &of_resource,
            ),
            returned: counter(
                "apiserver_storage_list_returned_objects_total",
                "Objects in the lists that were made.",
                &of_resource,
            ),
            lists_by_index: counter("apiserver_cache_list_total", "Lists, by the index used.", &by_index),
            fetched_by_index: counter(
                "apiserver_cache_list_fetched_objects_total",
                "Objects that lists were made of, by the index that found them.",
                &by_index,
            ),
            returned_by_index: counter(
                "apiserver_cache_list_returned_objects_total",
                "Objects in lists, by the index that found them.",
                &["resource_prefix"],
            ),
            waits: histogram(
                "apiserver_watch_cache_read_wait_seconds",
                "How long reads waited for the version that they show.",
                WAIT_BUCKETS,
                &of_resource,
            ),
            consistent: counter(
                "apiserver_watch_cache_consistent_read_total",
                "Lists of the newest version, all of them made from memory.",
                &["resource", "success", "fallback"],
            ),
        }
    }

    /// The store has answered a write.
    pub(super) fn committed(
        &self,
        series: &ResourceSeries,
        resource: &ServedResource,
        operation: &'static str,
        seconds: f64,
        is_committed: bool,
    ) {
        let make = || {
            let labels = [operation, resource.group_resource.as_str()];
            Writes {
                duration: self.durations.with_label_values(&labels),
                requests: self.requests.with_label_values(&labels),
                errors: self.errors.with_label_values(&labels),
            }
        };
        let Some(number) = OPERATIONS.iter().position(|known| *known == operation) else { return };
        let writes = series.writes[number].get_or_init(make);
        writes.duration.observe(seconds);
        writes.requests.inc();
        if !is_committed {
            writes.errors.inc();
        }
    }

    /// A list was made.
    pub(super) fn listed(&self, series: &ResourceSeries, resource: &ServedResource, listed: Listed) {
        let of_resource = || {
            let of = |family: &IntCounterVec| family.with_label_values(&[&resource.group_resource]);
            [of(&self.lists), of(&self.fetched), of(&self.evaluated), of(&self.returned)]
        };
        let counts = [1, listed.fetched, listed.evaluated, listed.returned];
        add(series.lists.get_or_init(of_resource), counts);
        let by_index = || {
            let prefix = format!("/{}", resource.def.plural);
            let index = listed.index.and_then(|index| index::name(resource, index)).unwrap_or_default();
            [
                self.lists_by_index.with_label_values(&[&prefix, &index]),
                self.fetched_by_index.with_label_values(&[&prefix, &index]),
                self.returned_by_index.with_label_values(&[&prefix]),
            ]
        };
        let counts = [1, listed.fetched, listed.returned];
        match series.by_index.get(listed.index.map_or(0, |index| usize::from(index) + 1)) {
            Some(known) => add(known.get_or_init(by_index), counts),
            None => add(&by_index(), counts),
        }
    }

    /// A read waited for its version.
    pub(super) fn waited(&self, series: &ResourceSeries, resource: &ServedResource, waited: Waited) {
        let name = &resource.group_resource;
        let wait = series.wait.get_or_init(|| self.waits.with_label_values(&[name]));
        wait.observe(waited.took.as_secs_f64());
        if waited.is_consistent_list {
            let success = if waited.is_there { "true" } else { "false" };
            let make = || self.consistent.with_label_values(&[name.as_str(), success, "false"]);
            series.consistent[usize::from(waited.is_there)].get_or_init(make).inc();
        }
    }
}

impl ResourceSeries {
    /// Of a resource with its indexes.
    pub(super) fn of(resource: &ServedResource) -> Self {
        let def = resource.stored().def;
        // Labels have the even numbers, fields the odd ones.
        let indexes = def.indexed_fields.len().max(def.indexed_labels.len()) * 2;
        ResourceSeries { by_index: (0..=indexes).map(|_| OnceLock::new()).collect(), ..Self::default() }
    }
}

fn add<const N: usize>(counters: &[IntCounter; N], counts: [usize; N]) {
    for (counter, count) in counters.iter().zip(counts) {
        counter.inc_by(count as u64);
    }
}
