//! What the server counts about itself, and `GET /metrics`.
//!
//! Names and labels are those of the reference, which dashboards read. Label values come from the resource
//! table and from fixed lists, never from a request, so that no client can make the number of series grow.
//! The handles of series are kept for each set of labels, so that recording costs a lookup and a few
//! additions.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::{Duration, Instant, SystemTime},
};

use http::StatusCode;
use orch_auth::user::UserInfo;
use orch_registry::{core::Core, meter::Meter};
use orch_runtime::{
    resource_def::{ResourceDef, SubresourceDef},
    vocabulary::Vocabulary,
};
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    TextEncoder, core::Collector,
};

mod access;
mod admission;
mod answers;
mod audit;
mod data;
mod decisions;
mod encryption;
mod events;
mod fairness;
pub mod families;
mod filters;
mod history;
mod labels;
mod lookups;
mod process;
mod read_values;
mod reloads;
mod service_level;
mod shown;
mod storage;
mod tokens;
mod work;

use access::AccessMetrics;
pub use access::{Authentication, Authorization};
pub use answers::OpenWatch;
use answers::{AnswerMetrics, WatchSeries};
pub use filters::Filter;
pub use labels::{DryRun, RequestLabels};
use process::ProcessMetrics;
use reloads::Reloads;
use service_level::ServiceLevel;
use work::WorkMeter;

/// Upper bounds of the duration histogram, in seconds.
const DURATION_BUCKETS: &[f64] = &[
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0,
    20.0, 30.0, 45.0, 60.0,
];

/// The status codes whose counters are remembered; others are looked up each time.
const CODES: [u16; 20] =
    [200, 201, 202, 301, 304, 400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422, 429, 500, 503, 504];

/// All metrics of one server; clones share them.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    vocabulary: &'static Vocabulary,
    registry: Registry,
    requests: IntCounterVec,
    durations: HistogramVec,
    answers: AnswerMetrics,
    access: AccessMetrics,
    deprecated: IntGaugeVec,
    authentication_reloads: Reloads,
    authorization_reloads: Reloads,
    encryption_reloads: Reloads,
    /// Requests that are answered, and those that wait for their turn: those that read, and that do not.
    in_flight: [IntGauge; 2],
    in_queue: [IntGauge; 2],
    series: RwLock<HashMap<RequestLabels, Arc<Series>>>,
}

/// The series of requests with the same labels.
#[derive(Debug)]
struct Series {
    duration: Histogram,
    size: OnceLock<Histogram>,
    watches: OnceLock<Arc<WatchSeries>>,
    by_code: [OnceLock<IntCounter>; CODES.len()],
}

/// An answer, as it is counted.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    /// Its code.
    pub code: StatusCode,
    /// From the head of the request to the head of the answer.
    pub elapsed: Duration,
    /// The length of its body, where that is known.
    pub bytes: Option<u64>,
    /// Whether the server ended the request to protect itself.
    pub is_terminated: bool,
}

/// Counts one more in a gauge until it is dropped.
#[derive(Debug)]
#[must_use = "the gauge falls again when this is dropped"]
pub struct Current(IntGauge);

impl Current {
    fn one_more(gauge: &IntGauge) -> Self {
        gauge.inc();
        Current(gauge.clone())
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Makes all metrics. `started` is when the process started; groups are named in `vocabulary`.
    pub fn new(vocabulary: &'static Vocabulary, started: SystemTime) -> Self {
        let registry = Registry::new();
        let with_code = [labels::NAMES, &["code"]].concat();
        let requests = Opts::new(
            "apiserver_request_total",
            "Requests answered, by verb, resource, scope and status code.",
        );
        let requests = registered(&registry, IntCounterVec::new(requests, &with_code));
        let durations = HistogramOpts::new(
            "apiserver_request_duration_seconds",
            "Time from the head of a request to the head of its answer.",
        );
        let durations = durations.buckets(DURATION_BUCKETS.to_vec());
        let durations = registered(&registry, HistogramVec::new(durations, labels::NAMES));
        register(&registry, ServiceLevel::new(durations.clone()));
        let deprecated =
            Opts::new("apiserver_requested_deprecated_apis", "Deprecated kinds that were asked for: 1 each.");
        let deprecated_labels = ["group", "version", "resource", "subresource", "removed_release"];
        let deprecated = registered(&registry, IntGaugeVec::new(deprecated, &deprecated_labels));
        let in_flight =
            Opts::new("apiserver_current_inflight_requests", "Requests that are being answered, by kind.");
        let in_flight = registered(&registry, IntGaugeVec::new(in_flight, &["request_kind"]));
        let in_queue =
            Opts::new("apiserver_current_inqueue_requests", "Requests that wait for their turn, by kind.");
        let in_queue = registered(&registry, IntGaugeVec::new(in_queue, &["request_kind"]));
        let by_kind =
            |gauge: &IntGaugeVec| ["readOnly", "mutating"].map(|kind| gauge.with_label_values(&[kind]));
        let [authentication_reloads, authorization_reloads, encryption_reloads] =
            ["authentication", "authorization", "encryption"].map(|of| Reloads::new(&registry, of));
        register(&registry, ProcessMetrics::new(started));
        Metrics(Arc::new(Inner {
            vocabulary,
            in_flight: by_kind(&in_flight),
            in_queue: by_kind(&in_queue),
            authentication_reloads,
            authorization_reloads,
            encryption_reloads,
            answers: AnswerMetrics::new(&registry),
            access: AccessMetrics::new(&registry),
            registry,
            requests,
            durations,
            deprecated,
            series: RwLock::default(),
        }))
    }

    /// Records an answered request.
    pub fn answered(&self, labels: &RequestLabels, answered: Answered) {
        let Answered { code, elapsed, bytes, is_terminated } = answered;
        let counter = || {
            let values = labels.values(self.0.vocabulary);
            let values: Vec<&str> = values.iter().map(AsRef::as_ref).chain([code.as_str()]).collect();
            self.0.requests.with_label_values(&values)
        };
        self.with_series(labels, |series| {
            series.duration.observe(elapsed.as_secs_f64());
            match CODES.binary_search(&code.as_u16()) {
                Ok(index) => series.by_code[index].get_or_init(counter).inc(),
                Err(_) => counter().inc(),
            }
            if let Some(bytes) = bytes.filter(|_| labels.has_size()) {
                let sizes =
                    || self.with_labels(labels, |values| self.0.answers.sizes.with_label_values(values));
                series.size.get_or_init(sizes).observe(bytes as f64);
            }
        });
        if is_terminated {
            self.with_labels(labels, |values| {
                let values = [values, &[code.as_str()]].concat();
                self.0.answers.terminations.with_label_values(&values).inc();
            });
        }
    }

    /// Calls `with` with the values of the labels without `dry_run`.
    fn with_labels<T>(&self, labels: &RequestLabels, with: impl FnOnce(&[&str]) -> T) -> T {
        let values: Vec<_> = labels.values_without_dry_run(self.0.vocabulary).collect();
        with(&values.iter().map(AsRef::as_ref).collect::<Vec<&str>>())
    }

    /// Notes an authorized request for a deprecated kind.
    pub fn asked_for_deprecated(&self, def: &'static ResourceDef, subresource: Option<&SubresourceDef>) {
        let subresource = subresource.map_or("", |subresource| subresource.name);
        let release = def.lifecycle.removed.map(|release| release.to_string()).unwrap_or_default();
        let group = self.0.vocabulary.group(def.group);
        let values = [&*group, def.version, def.plural, subresource, release.as_str()];
        self.0.deprecated.with_label_values(&values).set(1);
    }

    /// Counts a request that failed with a panic.
    pub fn aborted(&self, labels: &RequestLabels) {
        self.with_labels(labels, |values| {
            // The last label is the component, which this metric does not have.
            self.0.answers.aborts.with_label_values(&values[..values.len() - 1]).inc();
        });
    }

    /// Records how long a create, update or patch took with this value of `fieldValidation`.
    pub fn validated_fields(&self, field_validation: &str, elapsed: Duration) {
        let level = ["Ignore", "Strict"].into_iter().find(|level| *level == field_validation);
        let level = level.unwrap_or("Warn");
        self.0.answers.field_validation.with_label_values(&[level]).observe(elapsed.as_secs_f64());
    }

    /// Counts an authentication.
    pub fn authenticated(&self, outcome: Authentication, took: Duration) {
        self.0.access.authenticated(outcome, took);
    }

    /// Counts a request of a caller who was recognized.
    pub fn recognized(&self, user: &UserInfo) {
        self.0.access.recognized(user);
    }

    /// Counts a decision about a request.
    pub fn authorized(&self, outcome: Authorization, took: Duration) {
        self.0.access.authorized(outcome, took);
    }

    /// Records how long a request was in a layer.
    pub fn passed(&self, filter: Filter, took: Duration) {
        self.0.access.passed(filter, took);
    }

    /// Publishes what the verbs of this core tell about their work.
    ///
    /// # Panics
    /// If it is called twice: there is one core.
    pub fn meter(&self, core: &Core) -> impl Meter + use<> {
        WorkMeter::new(&self.0.registry, core)
    }

    /// Counts a change of the file of authenticators: whether the new file is in force.
    pub fn authentication_reloaded(&self, is_right: bool) {
        self.0.authentication_reloads.count(is_right);
    }

    /// Counts a change of the file of authorizers: whether the new file is in force.
    pub fn authorization_reloaded(&self, is_right: bool) {
        self.0.authorization_reloads.count(is_right);
    }

    /// Counts a change of the file of keys: whether the new file is in force.
    pub fn encryption_reloaded(&self, is_right: bool) {
        self.0.encryption_reloads.count(is_right);
    }

    /// Counts a request as being answered until the value is dropped.
    pub fn in_flight(&self, mutating: bool) -> Current {
        Current::one_more(&self.0.in_flight[usize::from(mutating)])
    }

    /// Counts a request as waiting for its turn until the value is dropped.
    pub fn in_queue(&self, mutating: bool) -> Current {
        Current::one_more(&self.0.in_queue[usize::from(mutating)])
    }

    /// How many requests are being answered.
    pub fn count_in_flight(&self) -> i64 {
        self.0.in_flight.iter().map(IntGauge::get).sum()
    }

    /// Counts a watch of a kind as open until the value is dropped. Its request came at `started`.
    pub fn long_running(&self, labels: &RequestLabels, kind: &str, started: Instant) -> OpenWatch {
        let make = || Arc::new(self.with_labels(labels, |values| self.0.answers.watches(values, kind)));
        let series = self.with_series(labels, |series| Arc::clone(series.watches.get_or_init(make)));
        OpenWatch::new(series, started)
    }

    /// What `GET /metrics` shows.
    ///
    /// # Errors
    /// Where a metric cannot be written as text.
    pub fn text(&self) -> prometheus::Result<String> {
        TextEncoder::new().encode_to_string(&self.0.registry.gather())
    }

    /// Calls `record` with the series of these labels, which are created where they are new.
    fn with_series<T>(&self, labels: &RequestLabels, record: impl FnOnce(&Series) -> T) -> T {
        let all = self.0.series.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = all.get(labels) {
            return record(series);
        }
        drop(all);
        record(&self.new_series(labels))
    }

    fn new_series(&self, labels: &RequestLabels) -> Arc<Series> {
        let values = labels.values(self.0.vocabulary);
        let values: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
        let duration = self.0.durations.with_label_values(&values);
        let series = Series {
            duration,
            size: OnceLock::new(),
            watches: OnceLock::new(),
            by_code: std::array::from_fn(|_| OnceLock::new()),
        };
        let mut all = self.0.series.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(*labels).or_insert_with(|| Arc::new(series)))
    }
}

/// Registers a new metric.
fn registered<C: Collector + Clone + 'static>(registry: &Registry, made: prometheus::Result<C>) -> C {
    let collector = made.expect("the description is well-formed");
    register(registry, collector.clone());
    collector
}

fn register(registry: &Registry, collector: impl Collector + 'static) {
    registry.register(Box::new(collector)).expect("each name is registered once");
}

#[cfg(test)]
mod tests;
