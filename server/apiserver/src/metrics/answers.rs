//! What is counted of answers besides their number and their time: sizes, ends that were forced, events.

use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry};

use super::{Current, DURATION_BUCKETS, labels, registered};

/// The families of series.
#[derive(Debug)]
pub(super) struct AnswerMetrics {
    pub(super) sizes: HistogramVec,
    pub(super) terminations: IntCounterVec,
    pub(super) aborts: IntCounterVec,
    pub(super) field_validation: HistogramVec,
    watch_events: IntCounterVec,
    watch_sizes: HistogramVec,
}

/// An open watch: counted until it is dropped, and so are its events.
#[derive(Debug)]
pub struct OpenWatch {
    _current: Current,
    events: IntCounter,
    sizes: Histogram,
}

impl OpenWatch {
    /// Counts an event of so many bytes.
    pub fn told(&self, bytes: usize) {
        self.events.inc();
        self.sizes.observe(bytes as f64);
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
        AnswerMetrics {
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
        }
    }

    /// A watch of these objects: their group, version and kind.
    pub(super) fn watch(&self, current: Current, of_kind: [&str; 3]) -> OpenWatch {
        OpenWatch {
            _current: current,
            events: self.watch_events.with_label_values(&of_kind),
            sizes: self.watch_sizes.with_label_values(&of_kind),
        }
    }
}

fn exponential(start: f64, factor: f64, count: usize) -> Vec<f64> {
    prometheus::exponential_buckets(start, factor, count).expect("they grow")
}
