//! How often and how fast values were sealed and opened, under the names of the reference.

use std::{collections::BTreeMap, sync::Arc};

use orch_encryption::{
    counts::{BOUNDS, Durations, Operation},
    encryption::Encryption,
};
use prometheus::{
    core::{Collector, Desc},
    proto::{MetricFamily, MetricType},
};

use super::families::{Value, description, family, histogram, metric};

const OPERATIONS: &str = "apiserver_storage_transformation_operations_total";
const OPERATIONS_HELP: &str = "Values that were sealed for the database or opened, by resource and provider.";
const DURATIONS: &str = "apiserver_storage_transformation_duration_seconds";
const DURATIONS_HELP: &str = "Time of sealing a value for the database or opening it, by provider.";

/// See the module.
pub(super) struct EncryptionMetrics {
    encryption: Arc<Encryption>,
    descriptions: [Desc; 2],
}

impl EncryptionMetrics {
    pub(super) fn new(encryption: Arc<Encryption>) -> Self {
        let labels = ["resource", "status", "transformation_type", "transformer_prefix"];
        let operations = description(OPERATIONS, OPERATIONS_HELP, &labels);
        let durations = description(DURATIONS, DURATIONS_HELP, &labels[2..]);
        EncryptionMetrics { encryption, descriptions: [operations, durations] }
    }
}

impl Collector for EncryptionMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.descriptions.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut operations = Vec::new();
        let mut by_provider: BTreeMap<[&str; 2], Durations> = BTreeMap::new();
        for (Operation { resource, direction, prefix, succeeded }, durations) in
            self.encryption.counts().get()
        {
            let labels = [
                ("resource", resource.as_str()),
                ("status", if succeeded { "OK" } else { "Unknown" }),
                ("transformation_type", direction),
                ("transformer_prefix", prefix),
            ];
            let count = Value::Number(durations.count() as f64);
            operations.push(metric(MetricType::COUNTER, &labels, count));
            by_provider.entry([direction, prefix]).or_default().add(&durations);
        }
        let of_provider = |([direction, prefix], durations): (&[&str; 2], &Durations)| {
            let labels = [("transformation_type", *direction), ("transformer_prefix", *prefix)];
            let value = histogram(&BOUNDS, &durations.counts, durations.sum);
            metric(MetricType::HISTOGRAM, &labels, value)
        };
        let durations = by_provider.iter().map(of_provider).collect();
        vec![
            family(OPERATIONS, OPERATIONS_HELP, MetricType::COUNTER, operations),
            family(DURATIONS, DURATIONS_HELP, MetricType::HISTOGRAM, durations),
        ]
    }
}
