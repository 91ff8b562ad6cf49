//! The events of each resource, under the names that the reference has for its watch cache: here that is the
//! memory in front of the store, which every event passes once.

use orch_storage::Events;
use prometheus::{
    core::{Collector, Desc},
    proto::{MetricFamily, MetricType},
};

use super::families::{Value, description, family, metric};

/// A metric: its name, its help text, its kind, its value.
type Row = (&'static str, &'static str, MetricType, fn(&Events) -> f64);

const ROWS: &[Row] = &[
    (
        "apiserver_watch_cache_events_received_total",
        "Events that the store made, by resource.",
        MetricType::COUNTER,
        |events| events.count as f64,
    ),
    (
        "apiserver_watch_cache_events_dispatched_total",
        "Events that watches could see, by resource.",
        MetricType::COUNTER,
        |events| events.count as f64,
    ),
    (
        "apiserver_watch_cache_resource_version",
        "The version of the youngest event, by resource.",
        MetricType::GAUGE,
        |events| events.newest.get() as f64,
    ),
];

/// Asks the store whenever metrics are read.
pub(super) struct EventMetrics<R> {
    read: R,
    descriptions: Vec<Desc>,
}

impl<R: Fn() -> Vec<(String, Events)>> EventMetrics<R> {
    pub(super) fn new(read: R) -> Self {
        let descriptions = ROWS.iter().map(|(name, help, ..)| description(name, help, &["resource"]));
        EventMetrics { read, descriptions: descriptions.collect() }
    }
}

impl<R: Fn() -> Vec<(String, Events)> + Send + Sync> Collector for EventMetrics<R> {
    fn desc(&self) -> Vec<&Desc> {
        self.descriptions.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let all = (self.read)();
        let of_row = |(name, help, kind, value): &Row| {
            let series = all.iter().map(|(resource, events)| {
                metric(*kind, &[("resource", resource)], Value::Number(value(events)))
            });
            family(name, help, *kind, series.collect())
        };
        ROWS.iter().map(of_row).collect()
    }
}
