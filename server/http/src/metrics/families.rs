//! Metrics that are put together when they are read, of what others count.

use prometheus::{
    Opts,
    core::{Desc, Describer},
    proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType},
};

/// A value of a series.
pub enum Value {
    /// That of a counter or a gauge.
    Number(f64),
    /// That of a histogram; see [`histogram`].
    Histogram(Histogram),
}

/// What a metric is, for the registry.
pub fn description(name: &str, help: &str, labels: &[&str]) -> Desc {
    let opts = labels.iter().fold(Opts::new(name, help), |opts, label| opts.variable_label(*label));
    opts.describe().expect("the descriptions are well-formed")
}

/// A metric with its series.
pub fn family(name: &str, help: &str, kind: MetricType, metrics: Vec<Metric>) -> MetricFamily {
    let mut family = MetricFamily::default();
    family.set_name(name.to_owned());
    family.set_help(help.to_owned());
    family.set_field_type(kind);
    family.set_metric(metrics);
    family
}

/// One series.
pub fn metric(kind: MetricType, labels: &[(&str, &str)], value: Value) -> Metric {
    let label = |(name, value): &(&str, &str)| {
        let mut label = LabelPair::default();
        label.set_name((*name).to_owned());
        label.set_value((*value).to_owned());
        label
    };
    let mut metric = Metric::default();
    metric.set_label(labels.iter().map(label).collect());
    match value {
        Value::Histogram(histogram) => metric.set_histogram(histogram),
        Value::Number(number) if kind == MetricType::COUNTER => {
            let mut counter = Counter::default();
            counter.set_value(number);
            metric.set_counter(counter);
        }
        Value::Number(number) => {
            let mut gauge = Gauge::default();
            gauge.set_value(number);
            metric.set_gauge(gauge);
        }
    }
    metric
}

/// How many values are between a bound and the one before; what is left over is above all of them.
pub fn histogram(bounds: &[f64], counts: &[u64], sum: f64) -> Value {
    let mut below = 0;
    let bucket = |(bound, count): (&f64, &u64)| {
        below += count;
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(*bound);
        bucket.set_cumulative_count(below);
        bucket
    };
    let mut histogram = Histogram::default();
    histogram.set_bucket(bounds.iter().zip(counts).map(bucket).collect());
    histogram.set_sample_count(counts.iter().sum());
    histogram.set_sample_sum(sum);
    Value::Histogram(histogram)
}
