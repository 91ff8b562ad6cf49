//! What is counted of answers besides their number and their time: sizes, ends that were forced, events.

use std::{sync::Arc, time::Instant};

use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};

use super::{Current, DURATION_BUCKETS, labels, registered};

/// Upper bounds of the time of initial events, in seconds.
const LIST_BUCKETS: &[f64] =
    &[0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0];

/// The families of series.
#[derive(Debug)]
pub(super) struct AnswerMetrics {
    pub(super) sizes: HistogramVec,
    pub(super) terminations: IntCounterVec,
    pub(super) aborts: IntCounterVec,
    pub(super) field_validation: HistogramVec,
    long_running: IntGaugeVec,
    watch_events: IntCounterVec,
    watch_sizes: HistogramVec,
    watch_initial: IntCounterVec,
    watch_lists: HistogramVec,
    watch_ended: IntCounterVec,
}

/// An open watch: counted until it is dropped, and so are its events.
#[derive(Debug)]
pub struct OpenWatch {
    _current: Current,
    started: Instant,
    series: Arc<WatchSeries>,
}

/// The series of watches with the same labels.
#[derive(Debug)]
pub(super) struct WatchSeries {
    open: IntGauge,
    events: IntCounter,
    sizes: Histogram,
    initial: IntCounter,
    lists: Histogram,
    ended: IntCounter,
}

impl OpenWatch {
    /// A watch whose request came at `started`.
    pub(super) fn new(series: Arc<WatchSeries>, started: Instant) -> Self {
        OpenWatch { _current: Current::one_more(&series.open), started, series }
    }

    /// Counts an event of so many bytes.
    pub fn told(&self, bytes: usize) {
        self.series.events.inc();
        self.series.sizes.observe(bytes as f64);
    }

    /// Counts an object that existed at the start.
    pub fn told_initial(&self) {
        self.series.initial.inc();
    }

    /// All objects that existed at the start are told.
    pub fn told_all_initial(&self) {
        self.series.lists.observe(self.started.elapsed().as_secs_f64());
    }

    /// The watch ends because its client is too slow.
    pub fn lagged(&self) {
        self.series.ended.inc();
    }
}

impl AnswerMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let counter = |name: &str, help: &str, labels: &[&str]| {
            registered(registry, IntCounterVec::new(Opts::new(name, help), labels))
        };
        let histogram = |name: &str, help: &str, buckets: Vec<f64>, labels: &[&str]| {
            registered(registry, HistogramVec::new(HistogramOpts::new(name, help).buckets(buckets), labels))
        };
        let names = labels::without_dry_run();
        let with_code = [names.as_slice(), &["code"]].concat();
        let of_kind = ["group", "version", "kind"];
        let long_running =
            Opts::new("apiserver_longrunning_requests", "Requests that are being answered without an end.");
        AnswerMetrics {
            // The same labels without `dry_run`, which no long-running request has.
            long_running: registered(registry, IntGaugeVec::new(long_running, &names)),
            sizes: histogram(
                "apiserver_response_sizes",
                "Bytes of the answers to reads of objects.",
                exponential(1000.0, 10.0, 7),
                &names,
            ),
            terminations: counter(
                "apiserver_request_terminations_total",
                "Requests that the server ended to protect itself: limits and deadlines.",
                &with_code,
            ),
            // The last name is that of the component.
            aborts: counter(
                "apiserver_request_aborts_total",
                "Requests that failed with a panic.",
                &names[..names.len() - 1],
            ),
            field_validation: histogram(
                "field_validation_request_duration_seconds",
                "Time of creates, updates and patches, by what is done about unknown fields.",
                DURATION_BUCKETS.to_vec(),
                &["field_validation"],
            ),
            watch_events: counter(
                "apiserver_watch_events_total",
                "Events that were sent to watches.",
                &of_kind,
            ),
            watch_sizes: histogram(
                "apiserver_watch_events_sizes",
                "Bytes of events of watches.",
                exponential(1024.0, 2.0, 8),
                &of_kind,
            ),
            watch_initial: counter(
                "apiserver_init_events_total",
                "Objects that watches were told of because they existed at the start.",
                &["resource"],
            ),
            watch_lists: histogram(
                "apiserver_watch_list_duration_seconds",
                "Time until a watch was told of all objects that existed at the start.",
                LIST_BUCKETS.to_vec(),
                &["group", "version", "resource", "scope"],
            ),
            watch_ended: counter(
                "apiserver_terminated_watchers_total",
                "Watches that were ended because their clients were too slow.",
                &["resource"],
            ),
        }
    }

    /// The series of watches with these labels, which are those of requests without `dry_run`.
    pub(super) fn watches(&self, labels: &[&str], kind: &str) -> WatchSeries {
        let [_verb, group, version, resource, _subresource, scope, _component] = labels else {
            unreachable!("these are all labels")
        };
        let group_resource =
            if group.is_empty() { (*resource).to_owned() } else { format!("{resource}.{group}") };
        WatchSeries {
            open: self.long_running.with_label_values(labels),
            events: self.watch_events.with_label_values(&[*group, *version, kind]),
            sizes: self.watch_sizes.with_label_values(&[*group, *version, kind]),
            initial: self.watch_initial.with_label_values(&[&group_resource]),
            lists: self.watch_lists.with_label_values(&[*group, *version, *resource, *scope]),
            ended: self.watch_ended.with_label_values(&[&group_resource]),
        }
    }
}

fn exponential(start: f64, factor: f64, count: usize) -> Vec<f64> {
    prometheus::exponential_buckets(start, factor, count).expect("they grow")
}
