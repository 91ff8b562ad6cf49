//! What controllers do, under the metric names of the reference's work queues.

use orch_controllers::stats::{BOUNDS, Durations, Monitor, Stats};
use orch_http::metrics::families::{Value, description, family, histogram, metric};
use prometheus::{
    core::{Collector, Desc},
    proto::{MetricFamily, MetricType},
};

/// One metric: its name, its help text, and its value for the statistics of a controller.
struct Row {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    value: fn(&Stats) -> Value,
}

const ROWS: &[Row] = &[
    Row {
        name: "workqueue_depth",
        help: "Keys that wait for a worker.",
        kind: MetricType::GAUGE,
        value: |stats| Value::Number(stats.depth as f64),
    },
    Row {
        name: "workqueue_longest_wait_seconds",
        help: "Time that the first of the keys has waited for a worker that wait now.",
        kind: MetricType::GAUGE,
        value: |stats| Value::Number(stats.longest_wait.as_secs_f64()),
    },
    Row {
        name: "workqueue_failing",
        help: "Keys that failed the last time that they were worked on.",
        kind: MetricType::GAUGE,
        value: |stats| Value::Number(stats.failing as f64),
    },
    Row {
        name: "workqueue_retries_total",
        help: "Times that the work at a key failed and is done again.",
        kind: MetricType::COUNTER,
        value: |stats| Value::Number(stats.retries as f64),
    },
    Row {
        name: "workqueue_panics_total",
        help: "Times that the work at a key panicked.",
        kind: MetricType::COUNTER,
        value: |stats| Value::Number(stats.panics as f64),
    },
    Row {
        name: "workqueue_restarts_total",
        help: "Times that the watching loop was started again.",
        kind: MetricType::COUNTER,
        value: |stats| Value::Number(stats.restarts as f64),
    },
    Row {
        name: "workqueue_queue_duration_seconds",
        help: "Time that keys wait for a worker.",
        kind: MetricType::HISTOGRAM,
        value: |stats| times(&stats.queue_time),
    },
    Row {
        name: "workqueue_work_duration_seconds",
        help: "Time that the work at a key takes.",
        kind: MetricType::HISTOGRAM,
        value: |stats| times(&stats.work_time),
    },
];

/// Reads the monitor whenever metrics are read.
pub(super) struct ControllerMetrics {
    monitor: Monitor,
    descriptions: Vec<Desc>,
}

impl ControllerMetrics {
    pub(super) fn new(monitor: Monitor) -> Self {
        let describe = |row: &Row| description(row.name, row.help, &["name"]);
        ControllerMetrics { monitor, descriptions: ROWS.iter().map(describe).collect() }
    }
}

impl Collector for ControllerMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.descriptions.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let stats = self.monitor.stats();
        ROWS.iter().map(|row| measured(row, &stats)).collect()
    }
}

fn measured(row: &Row, stats: &[Stats]) -> MetricFamily {
    let series = |stats: &Stats| metric(row.kind, &[("name", stats.name)], (row.value)(stats));
    family(row.name, row.help, row.kind, stats.iter().map(series).collect())
}

fn times(durations: &Durations) -> Value {
    histogram(&BOUNDS, &durations.counts, durations.sum.as_secs_f64())
}
