//! What priority and fairness does, under the metric names of the reference. Labels are the names of priority
//! levels and flow schemas, which only those have who may write them.

use std::sync::Arc;

use orch_flow::demand::{self, Ratios};
use prometheus::{
    core::{Collector, Desc},
    proto::{Metric, MetricFamily, MetricType},
};

use super::families::{self, Value, description, histogram, metric};
use crate::fairness::{Fairness, GateView, Histogram, REFUSALS, TallyView};

/// The start of all names.
const PREFIX: &str = "apiserver_flowcontrol";
const LEVEL: &str = "priority_level";
const SCHEMA: &str = "flow_schema";

/// A metric of priority levels: its name, its help text, its value.
type OfLevel = (&'static str, &'static str, fn(&GateView) -> f64);

const OF_LEVELS: &[OfLevel] = &[
    ("nominal_limit_seats", "Seats that its shares give a level.", |level| f64::from(level.seats.nominal)),
    ("lower_limit_seats", "Seats that a level does not lend.", |level| f64::from(level.seats.lowest)),
    ("upper_limit_seats", "Seats that a level has at most, with those that it borrows.", |level| {
        f64::from(level.seats.highest)
    }),
    ("current_limit_seats", "Seats that a level has now.", |level| f64::from(level.limit)),
    ("request_concurrency_limit", "Seats that its shares give a level.", |level| {
        f64::from(level.seats.nominal)
    }),
    ("demand_seats_high_watermark", "The most seats that a level could use in the last period.", |level| {
        f64::from(level.demand.highest)
    }),
    ("demand_seats_average", "Seats that a level could use on average in the last period.", |level| {
        level.demand.spread.0
    }),
    ("demand_seats_stdev", "The standard deviation of these seats.", |level| level.demand.spread.1),
    ("target_seats", "Seats that a level is to have, if there are enough.", |level| level.target),
    ("demand_seats_smoothed", "Seats that a level is expected to need.", |level| level.demand.expected),
];

/// The metric of all levels together.
const FAIR_FRACTION: (&str, &str) =
    ("seat_fair_frac", "The part of its target that a level has which no bound keeps from that.");

/// The metric of the demand over time: each nanosecond is a value.
const DEMAND: (&str, &str) = (
    "demand_seats",
    "For how many nanoseconds a level could use how many seats, in parts of those that its shares give it.",
);

/// A metric of flow schemas: its name, its help text, and what it adds for each.
struct OfSchema {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    /// A further label.
    label: Option<&'static str>,
    metrics: fn(&TallyView) -> Vec<(&'static str, Value)>,
}

const OF_SCHEMAS: &[OfSchema] = &[
    OfSchema {
        name: "dispatched_requests_total",
        help: "Requests whose turn came.",
        kind: MetricType::COUNTER,
        label: None,
        metrics: |tally| vec![("", Value::Number(tally.dispatched as f64))],
    },
    OfSchema {
        name: "rejected_requests_total",
        help: "Requests whose turn did not come, by reason.",
        kind: MetricType::COUNTER,
        label: Some("reason"),
        metrics: |tally| {
            let reasons = REFUSALS.into_iter().zip(tally.refused);
            reasons.map(|(reason, count)| (reason, Value::Number(count as f64))).collect()
        },
    },
    OfSchema {
        name: "current_inqueue_requests",
        help: "Requests that wait for their turn.",
        kind: MetricType::GAUGE,
        label: None,
        metrics: |tally| vec![("", Value::Number(f64::from(tally.now[0])))],
    },
    OfSchema {
        name: "current_executing_requests",
        help: "Requests that have a seat.",
        kind: MetricType::GAUGE,
        label: None,
        metrics: |tally| vec![("", Value::Number(f64::from(tally.now[1])))],
    },
    OfSchema {
        name: "current_executing_seats",
        help: "Seats that requests have.",
        kind: MetricType::GAUGE,
        label: None,
        metrics: |tally| vec![("", Value::Number(f64::from(tally.now[2])))],
    },
    OfSchema {
        name: "request_queue_length_after_enqueue",
        help: "Length of the queue when a request came to wait in it, with that request.",
        kind: MetricType::HISTOGRAM,
        label: None,
        metrics: |tally| vec![("", distribution(&tally.lengths))],
    },
    OfSchema {
        name: "work_estimated_seats",
        help: "Seats that requests take.",
        kind: MetricType::HISTOGRAM,
        label: None,
        metrics: |tally| vec![("", distribution(&tally.widths))],
    },
    OfSchema {
        name: "request_wait_duration_seconds",
        help: "How long requests waited for their turn, by whether it came.",
        kind: MetricType::HISTOGRAM,
        label: Some("execute"),
        metrics: |tally| histograms(["false", "true"], &tally.waited),
    },
    OfSchema {
        name: "request_execution_seconds",
        help: "How long requests had their seats.",
        kind: MetricType::HISTOGRAM,
        label: Some("type"),
        metrics: |tally| histograms(["regular", "watch"], &tally.ran),
    },
];

fn histograms(values: [&'static str; 2], histograms: &[Histogram; 2]) -> Vec<(&'static str, Value)> {
    values.into_iter().zip(histograms).map(|(value, found)| (value, distribution(found))).collect()
}

fn distribution(found: &Histogram) -> Value {
    histogram(found.bounds, &found.counts, found.sum)
}

/// Looks at the levels whenever metrics are read.
pub(super) struct FairnessMetrics {
    fairness: Arc<Fairness>,
    descriptions: Vec<Desc>,
}

impl FairnessMetrics {
    pub(super) fn new(fairness: Arc<Fairness>) -> Self {
        let describe = |name: &str, help: &str, labels: &[&str]| description(&full(name), help, labels);
        let of_levels = OF_LEVELS.iter().map(|(name, help, _)| describe(name, help, &[LEVEL]));
        let of_schemas = OF_SCHEMAS.iter().map(|row| {
            let labels: Vec<&str> = [LEVEL, SCHEMA].into_iter().chain(row.label).collect();
            describe(row.name, row.help, &labels)
        });
        let others = [(FAIR_FRACTION, &[][..]), (DEMAND, &[LEVEL])];
        let others = others.map(|((name, help), labels)| describe(name, help, labels));
        let descriptions = of_levels.chain(of_schemas).chain(others).collect();
        FairnessMetrics { fairness, descriptions }
    }
}

impl Collector for FairnessMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.descriptions.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let levels = self.fairness.views();
        let fraction = Value::Number(self.fairness.fair_fraction());
        let fraction = metric(MetricType::GAUGE, &[], fraction);
        let (name, help) = FAIR_FRACTION;
        let fraction = family(name, help, MetricType::GAUGE, vec![fraction]);
        let demand = levels.iter().map(|level| {
            let Ratios { counts, sum } = &level.ratios;
            let value = histogram(&demand::BOUNDS, counts, *sum);
            metric(MetricType::HISTOGRAM, &[(LEVEL, &level.name)], value)
        });
        let (name, help) = DEMAND;
        let demand = family(name, help, MetricType::HISTOGRAM, demand.collect());
        let of_levels = OF_LEVELS.iter().map(|(name, help, value)| {
            let metric = |level: &GateView| {
                metric(MetricType::GAUGE, &[(LEVEL, &level.name)], Value::Number(value(level)))
            };
            family(name, help, MetricType::GAUGE, levels.iter().map(metric).collect())
        });
        let of_schemas = OF_SCHEMAS.iter().map(|row| {
            let mut metrics = Vec::new();
            for level in &levels {
                for tally in &level.tallies {
                    for (further, value) in (row.metrics)(tally) {
                        let mut labels = vec![(SCHEMA, tally.schema.as_str()), (LEVEL, level.name.as_str())];
                        labels.extend(row.label.map(|label| (label, further)));
                        metrics.push(metric(row.kind, &labels, value));
                    }
                }
            }
            family(row.name, row.help, row.kind, metrics)
        });
        of_levels.chain(of_schemas).chain([fraction, demand]).collect()
    }
}

fn full(name: &str) -> String {
    format!("{PREFIX}_{name}")
}

fn family(name: &str, help: &str, kind: MetricType, metrics: Vec<Metric>) -> MetricFamily {
    families::family(&full(name), help, kind, metrics)
}
