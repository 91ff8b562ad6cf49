//! What health checks have told, as `/metrics/slis` shows it: from these series operators compute how
//! available the server was. Their names are those of the reference.

use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder};

use super::Probe;

/// The series of all checks; clones are one registry.
#[derive(Clone, Debug)]
pub(super) struct Outcomes {
    registry: Registry,
    last: IntGaugeVec,
    all: IntCounterVec,
}

impl Outcomes {
    /// None yet.
    pub(super) fn new() -> Self {
        let last = Opts::new("kubernetes_healthcheck", "Whether a health check passed when it ran last.");
        let last = IntGaugeVec::new(last, &["name", "type"]).expect("the description is well-formed");
        let all = Opts::new("kubernetes_healthchecks_total", "How often health checks passed and failed.");
        let all = IntCounterVec::new(all, &["name", "status", "type"]);
        let all = all.expect("the description is well-formed");
        let registry = Registry::new();
        let unique = "the names are different";
        registry.register(Box::new(last.clone())).expect(unique);
        registry.register(Box::new(all.clone())).expect(unique);
        Outcomes { registry, last, all }
    }

    /// A check ran for a probe.
    pub(super) fn count(&self, check: &str, probe: Probe, passed: bool) {
        let (probe, status) = (probe.name(), if passed { "success" } else { "error" });
        self.last.with_label_values(&[check, probe]).set(passed.into());
        self.all.with_label_values(&[check, status, probe]).inc();
    }

    /// All series in the text format.
    ///
    /// # Errors
    /// Where a series cannot be written as text.
    pub(super) fn text(&self) -> prometheus::Result<String> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}
