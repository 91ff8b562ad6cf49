//! The duration of requests once more, without the label `dry_run`: dashboards for service levels read it.
//!
//! It is made of the other histogram when metrics are read, so it costs requests nothing.

use std::collections::BTreeMap;

use prometheus::{
    HistogramVec,
    core::{Collector, Desc},
    proto::{Bucket, Histogram, LabelPair, Metric, MetricFamily, MetricType},
};

use super::{
    families::{description, family},
    labels,
};

const NAME: &str = "apiserver_request_sli_duration_seconds";
const HELP: &str = "Time from the head of a request to the head of its answer.";

/// Reads the histogram of durations.
pub(super) struct ServiceLevel {
    durations: HistogramVec,
    desc: Desc,
}

impl ServiceLevel {
    pub(super) fn new(durations: HistogramVec) -> Self {
        ServiceLevel { durations, desc: description(NAME, HELP, &labels::without_dry_run()) }
    }
}

impl Collector for ServiceLevel {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.desc]
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut sums: BTreeMap<Vec<(String, String)>, Histogram> = BTreeMap::new();
        for durations in self.durations.collect() {
            for metric in durations.get_metric() {
                let pairs = metric.get_label().iter().filter(|pair| pair.name() != labels::DRY_RUN);
                let key = pairs.map(|pair| (pair.name().to_owned(), pair.value().to_owned())).collect();
                add(sums.entry(key).or_default(), metric.get_histogram());
            }
        }
        if sums.is_empty() {
            return Vec::new();
        }
        let metric = |(pairs, histogram): (Vec<(String, String)>, Histogram)| {
            let mut metric = Metric::from_label(pairs.into_iter().map(label).collect());
            metric.set_histogram(histogram);
            metric
        };
        vec![family(NAME, HELP, MetricType::HISTOGRAM, sums.into_iter().map(metric).collect())]
    }
}

fn label((name, value): (String, String)) -> LabelPair {
    let mut pair = LabelPair::default();
    pair.set_name(name);
    pair.set_value(value);
    pair
}

/// Adds the counts of a histogram to those of another one with the same bounds.
pub(super) fn add(sum: &mut Histogram, other: &Histogram) {
    let before = sum.get_bucket().to_vec();
    let bucket = |(index, of): (usize, &Bucket)| {
        let mut bucket = of.clone();
        let so_far = before.get(index).map_or(0, Bucket::cumulative_count);
        bucket.set_cumulative_count(of.cumulative_count() + so_far);
        bucket
    };
    sum.set_bucket(other.get_bucket().iter().enumerate().map(bucket).collect());
    sum.set_sample_count(sum.get_sample_count() + other.get_sample_count());
    sum.set_sample_sum(sum.get_sample_sum() + other.get_sample_sum());
}
