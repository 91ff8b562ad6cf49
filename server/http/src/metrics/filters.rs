//! How long requests were in the layers in front of their handlers, under the name of the reference.
//!
//! Authentication and authorization have histograms of their own already, of which theirs here are made when
//! metrics are read.

use std::time::Duration;

use prometheus::{
    Histogram, HistogramOpts, HistogramVec,
    core::{Collector, Desc},
    proto::{self, MetricFamily, MetricType},
};

use super::{
    families::{Value, metric},
    service_level::add,
};

const NAME: &str = "apiserver_request_filter_duration_seconds";
const HELP: &str = "Time of requests in a layer in front of their handlers.";

/// A layer that is measured for this alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Recording that a request came.
    Audit,
    /// Authorizing an impersonation.
    Impersonation,
    /// Waiting for the turn of a request.
    Fairness,
}

const FILTERS: [&str; 3] = ["audit", "impersonation", "priorityandfairness"];

/// The layers, with their handles.
#[derive(Clone, Debug)]
pub(super) struct FilterMetrics {
    measured: HistogramVec,
    handles: [Histogram; FILTERS.len()],
    /// By layer: its histograms, by outcome.
    derived: [(&'static str, HistogramVec); 2],
}

impl FilterMetrics {
    /// With the durations of authentication and authorization.
    pub(super) fn new(authentication: HistogramVec, authorization: HistogramVec) -> Self {
        let measured = HistogramOpts::new(NAME, HELP).buckets(buckets());
        let measured = HistogramVec::new(measured, &["filter"]).expect("the description is well-formed");
        FilterMetrics {
            handles: FILTERS.map(|filter| measured.with_label_values(&[filter])),
            measured,
            derived: [("authentication", authentication), ("authorization", authorization)],
        }
    }

    pub(super) fn passed(&self, filter: Filter, took: Duration) {
        self.handles[filter as usize].observe(took.as_secs_f64());
    }
}

/// Upper bounds of durations, in seconds, here and of the histograms that layers here are made of.
pub(super) fn buckets() -> Vec<f64> {
    prometheus::exponential_buckets(0.001, 2.0, 15).expect("they grow")
}

impl Collector for FilterMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.measured.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut families = self.measured.collect();
        let Some(family) = families.first_mut() else { return families };
        for (filter, outcomes) in &self.derived {
            let mut sum = proto::Histogram::default();
            for of_outcome in outcomes.collect().iter().flat_map(MetricFamily::get_metric) {
                add(&mut sum, of_outcome.get_histogram());
            }
            let labels = [("filter", *filter)];
            family.mut_metric().push(metric(MetricType::HISTOGRAM, &labels, Value::Histogram(sum)));
        }
        families
    }
}
