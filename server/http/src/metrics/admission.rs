//! How long admission took, as a whole and by plugin, under the names of the reference.

use std::{sync::OnceLock, time::Duration};

use orch_registry::meter::{Admission, Step};
use orch_runtime::resource_def::Verb;
use prometheus::{Histogram, HistogramOpts, HistogramVec, Registry};

use super::registered;

/// Upper bounds of durations, in seconds.
const BUCKETS: &[f64] = &[0.005, 0.025, 0.1, 0.5, 1.0, 2.5];

/// The handles of all plugins, so that counting is a few additions.
#[derive(Debug)]
pub(super) struct AdmissionMetrics {
    steps: HistogramVec,
    controllers: HistogramVec,
    all: Outcomes,
    plugins: Vec<(&'static str, Outcomes)>,
}

/// By step, operation, and whether the write was refused.
type Outcomes = [OnceLock<Histogram>; 2 * 3 * 2];

impl AdmissionMetrics {
    /// For these plugins, in order.
    pub(super) fn new(registry: &Registry, plugins: impl Iterator<Item = &'static str>) -> Self {
        let histogram = |name: &str, help: &str, labels: &[&str]| {
            let opts = HistogramOpts::new(name, help).buckets(BUCKETS.to_vec());
            registered(registry, HistogramVec::new(opts, labels))
        };
        AdmissionMetrics {
            steps: histogram(
                "apiserver_admission_step_admission_duration_seconds",
                "Time of a part of admission: changing objects (admit), judging them (validate).",
                &["type", "operation", "rejected"],
            ),
            controllers: histogram(
                "apiserver_admission_controller_admission_duration_seconds",
                "Time of an admission plugin.",
                &["name", "type", "operation", "rejected"],
            ),
            all: Outcomes::default(),
            plugins: plugins.map(|name| (name, Outcomes::default())).collect(),
        }
    }

    pub(super) fn admitted(&self, admission: Admission, took: Duration) {
        let (step, kind) = match admission.step {
            Step::Mutate => (0, "admit"),
            Step::Validate => (1, "validate"),
        };
        let (number, operation) = match admission.operation {
            Verb::Create => (0, "CREATE"),
            Verb::Delete => (2, "DELETE"),
            _ => (1, "UPDATE"),
        };
        let rejected = if admission.is_refused { "true" } else { "false" };
        let outcome = (step * 3 + number) * 2 + usize::from(admission.is_refused);
        let histogram = match admission.plugin {
            None => {
                self.all[outcome].get_or_init(|| self.steps.with_label_values(&[kind, operation, rejected]))
            }
            Some(plugin) => {
                let Some((name, outcomes)) = self.plugins.get(plugin) else { return };
                outcomes[outcome]
                    .get_or_init(|| self.controllers.with_label_values(&[*name, kind, operation, rejected]))
            }
        };
        histogram.observe(took.as_secs_f64());
    }
}
