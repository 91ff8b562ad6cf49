//! How tokens are looked up among those that were judged a moment ago, and how others are judged.

use orch_auth::lookups::{BOUNDS, Durations, LookupCounts};
use prometheus::{
    core::{Collector, Desc},
    proto::{MetricFamily, MetricType},
};

use super::families::{Value, description, family, histogram, metric};

/// A metric: its name, its help text, its kind, and its value for each `status`.
struct Row {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    values: fn(&LookupCounts) -> [(&'static str, Value); 2],
}

const ROWS: &[Row] = &[
    Row {
        name: "authentication_token_cache_request_total",
        help: "Tokens that were looked up among those that were judged before.",
        kind: MetricType::COUNTER,
        values: |of| [("hit", number(of.hits.count())), ("miss", number(of.misses.count()))],
    },
    Row {
        name: "authentication_token_cache_request_duration_seconds",
        help: "How long it took to find a token, or to judge it.",
        kind: MetricType::HISTOGRAM,
        values: |of| [("hit", durations(&of.hits)), ("miss", durations(&of.misses))],
    },
    Row {
        name: "authentication_token_cache_fetch_total",
        help: "Tokens that were judged.",
        kind: MetricType::COUNTER,
        values: |of| [("ok", number(of.judged)), ("error", number(of.failed))],
    },
    Row {
        name: "authentication_token_cache_active_fetch_count",
        help: "Tokens that are judged now, and requests that wait for that.",
        kind: MetricType::GAUGE,
        values: |of| [("in_flight", number(of.judging)), ("blocked", number(of.waiting))],
    },
];

/// Asks for the counts whenever metrics are read.
pub(super) struct LookupMetrics<R> {
    read: R,
    descriptions: Vec<Desc>,
}

impl<R: Fn() -> LookupCounts> LookupMetrics<R> {
    pub(super) fn new(read: R) -> Self {
        let descriptions = ROWS.iter().map(|row| description(row.name, row.help, &["status"])).collect();
        LookupMetrics { read, descriptions }
    }
}

impl<R: Fn() -> LookupCounts + Send + Sync> Collector for LookupMetrics<R> {
    fn desc(&self) -> Vec<&Desc> {
        self.descriptions.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let counts = (self.read)();
        let of_row = |row: &Row| {
            let series =
                (row.values)(&counts).map(|(status, value)| metric(row.kind, &[("status", status)], value));
            family(row.name, row.help, row.kind, series.into())
        };
        ROWS.iter().map(of_row).collect()
    }
}

fn number(count: u64) -> Value {
    Value::Number(count as f64)
}

fn durations(of: &Durations) -> Value {
    histogram(&BOUNDS, &of.counts, of.sum)
}
