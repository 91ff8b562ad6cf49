//! What controllers do, under the metric names of the reference's work queues.

use orch_controllers::stats::{BOUNDS, Durations, Monitor, Stats};
use prometheus::{
    Opts,
    core::{Collector, Desc, Describer},
    proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType},
};

/// One metric: its name, its help text, and how its value is set from the statistics of a controller.
struct Row {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    set: fn(&Stats, &mut Metric),
}

const ROWS: &[Row] = &[
    Row {
        name: "workqueue_depth",
        help: "Keys that wait for a worker.",
        kind: MetricType::GAUGE,
        set: |stats, metric| set_gauge(metric, stats.depth as f64),
    },
    Row {
        name: "workqueue_longest_wait_seconds",
        help: "Time that the first of the keys has waited for a worker that wait now.",
        kind: MetricType::GAUGE,
        set: |stats, metric| set_gauge(metric, stats.longest_wait.as_secs_f64()),
    },
    Row {
        name: "workqueue_failing",
        help: "Keys that failed the last time that they were worked on.",
        kind: MetricType::GAUGE,
        set: |stats, metric| set_gauge(metric, stats.failing as f64),
    },
    Row {
        name: "workqueue_retries_total",
        help: "Times that the work at a key failed and is done again.",
        kind: MetricType::COUNTER,
        set: |stats, metric| set_counter(metric, stats.retries),
    },
    Row {
        name: "workqueue_panics_total",
        help: "Times that the work at a key panicked.",
        kind: MetricType::COUNTER,
        set: |stats, metric| set_counter(metric, stats.panics),
    },
    Row {
        name: "workqueue_restarts_total",
        help: "Times that the watching loop was started again.",
        kind: MetricType::COUNTER,
        set: |stats, metric| set_counter(metric, stats.restarts),
    },
    Row {
        name: "workqueue_queue_duration_seconds",
        help: "Time that keys wait for a worker.",
        kind: MetricType::HISTOGRAM,
        set: |stats, metric| set_histogram(metric, &stats.queue_time),
    },
    Row {
        name: "workqueue_work_duration_seconds",
        help: "Time that the work at a key takes.",
        kind: MetricType::HISTOGRAM,
        set: |stats, metric| set_histogram(metric, &stats.work_time),
    },
];

/// Reads the monitor whenever metrics are read.
pub(super) struct ControllerMetrics {
    monitor: Monitor,
    descriptions: Vec<Desc>,
}

impl ControllerMetrics {
    pub(super) fn new(monitor: Monitor) -> Self {
        let describe = |row: &Row| {
            let opts = Opts::new(row.name, row.help).variable_label("name");
            opts.describe().expect("the descriptions are well-formed")
        };
        ControllerMetrics { monitor, descriptions: ROWS.iter().map(describe).collect() }
    }
}

impl Collector for ControllerMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.descriptions.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let stats = self.monitor.stats();
        ROWS.iter().map(|row| family(row, &stats)).collect()
    }
}

fn family(row: &Row, stats: &[Stats]) -> MetricFamily {
    let metric = |stats: &Stats| {
        let mut label = LabelPair::default();
        label.set_name("name".to_owned());
        label.set_value(stats.name.to_owned());
        let mut metric = Metric::default();
        metric.set_label(vec![label]);
        (row.set)(stats, &mut metric);
        metric
    };
    let mut family = MetricFamily::default();
    family.set_name(row.name.to_owned());
    family.set_help(row.help.to_owned());
    family.set_field_type(row.kind);
    family.set_metric(stats.iter().map(metric).collect());
    family
}

fn set_gauge(metric: &mut Metric, value: f64) {
    let mut gauge = Gauge::default();
    gauge.set_value(value);
    metric.set_gauge(gauge);
}

fn set_counter(metric: &mut Metric, value: u64) {
    let mut counter = Counter::default();
    counter.set_value(value as f64);
    metric.set_counter(counter);
}

fn set_histogram(metric: &mut Metric, durations: &Durations) {
    let bucket = |(bound, count): (&f64, &u64)| {
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(*bound);
        bucket.set_cumulative_count(*count);
        bucket
    };
    let mut histogram = Histogram::default();
    histogram.set_sample_count(durations.count);
    histogram.set_sample_sum(durations.sum.as_secs_f64());
    histogram.set_bucket(BOUNDS.iter().zip(&durations.at_most).map(bucket).collect());
    metric.set_histogram(histogram);
}
