//! How often values were sealed and opened, under the name of the reference.

use std::sync::Arc;

use orch_encryption::{counts::Operation, encryption::Encryption};
use prometheus::{
    IntCounterVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

/// See the module.
pub(super) struct EncryptionMetrics {
    encryption: Arc<Encryption>,
    operations: IntCounterVec,
}

impl EncryptionMetrics {
    pub(super) fn new(encryption: Arc<Encryption>) -> Self {
        let name = "apiserver_storage_transformation_operations_total";
        let help = "Values that were sealed for the database or opened, by resource and provider.";
        let labels = &["resource", "status", "transformation_type", "transformer_prefix"];
        let operations = IntCounterVec::new(Opts::new(name, help), labels);
        EncryptionMetrics { encryption, operations: operations.expect("the description is well-formed") }
    }
}

impl Collector for EncryptionMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.operations.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        for (Operation { resource, direction, prefix, succeeded }, count) in self.encryption.counts().get() {
            let status = if succeeded { "OK" } else { "Unknown" };
            let counter = self.operations.with_label_values(&[&resource, status, direction, prefix]);
            counter.inc_by(count.saturating_sub(counter.get()));
        }
        self.operations.collect()
    }
}
