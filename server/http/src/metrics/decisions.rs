//! How often each authorizer decided, under the name of the reference.

use std::sync::Arc;

use orch_auth::authorizer::counted::Decisions;
use prometheus::{
    core::{Collector, Desc},
    proto::{MetricFamily, MetricType},
};

use super::families::{Value, description, family, metric};

const NAME: &str = "apiserver_authorization_decisions_total";
const HELP: &str = "Decisions of each authorizer; those that have no opinion are not counted.";

/// Asks for the counts whenever metrics are read. Names are those of the configuration.
pub(super) struct DecisionMetrics {
    decisions: Arc<Decisions>,
    description: Desc,
}

impl DecisionMetrics {
    pub(super) fn new(decisions: Arc<Decisions>) -> Self {
        DecisionMetrics { decisions, description: description(NAME, HELP, &["type", "name", "decision"]) }
    }
}

impl Collector for DecisionMetrics {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.description]
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut metrics = Vec::new();
        for (decider, decided) in self.decisions.get() {
            for (decision, count) in [("allowed", decided.allowed), ("denied", decided.denied)] {
                let labels =
                    [("decision", decision), ("name", decider.name.as_str()), ("type", decider.kind)];
                metrics.push(metric(MetricType::COUNTER, &labels, Value::Number(count as f64)));
            }
        }
        vec![family(NAME, HELP, MetricType::COUNTER, metrics)]
    }
}
