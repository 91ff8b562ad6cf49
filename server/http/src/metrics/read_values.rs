//! Metrics whose values are asked for when metrics are read.

use prometheus::{
    Gauge, IntCounter, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

/// A count that others keep.
pub(super) struct ReadCounter<R> {
    counter: IntCounter,
    read: R,
}

impl<R: Fn() -> u64> ReadCounter<R> {
    /// `label` is a label of a constant value.
    pub(super) fn new(name: &str, help: &str, label: Option<(&str, &str)>, read: R) -> Self {
        let opts = Opts::new(name, help);
        let opts = match label {
            Some((label, value)) => opts.const_label(label, value),
            None => opts,
        };
        ReadCounter { counter: IntCounter::with_opts(opts).expect("the description is well-formed"), read }
    }
}

impl<R: Fn() -> u64 + Send + Sync> Collector for ReadCounter<R> {
    fn desc(&self) -> Vec<&Desc> {
        self.counter.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.counter.inc_by((self.read)().saturating_sub(self.counter.get()));
        self.counter.collect()
    }
}

/// A value that others know, with one label of a constant value.
pub(super) struct ReadGauge<R> {
    gauge: Gauge,
    read: R,
}

impl<R: Fn() -> f64> ReadGauge<R> {
    pub(super) fn new(name: &str, help: &str, (label, value): (&str, &str), read: R) -> Self {
        let gauge = Gauge::with_opts(Opts::new(name, help).const_label(label, value));
        ReadGauge { gauge: gauge.expect("the description is well-formed"), read }
    }
}

impl<R: Fn() -> f64 + Send + Sync> Collector for ReadGauge<R> {
    fn desc(&self) -> Vec<&Desc> {
        self.gauge.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.gauge.set((self.read)());
        self.gauge.collect()
    }
}
