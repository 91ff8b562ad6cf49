//! What audit counts, under the names of the reference.

use std::sync::Arc;

use orch_audit::{
    counters::{Counters, Plugin},
    policy::Level,
};
use prometheus::{
    IntCounter, IntCounterVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

/// See the module.
pub(super) struct AuditMetrics {
    counters: Arc<Counters>,
    events: IntCounter,
    rejected: IntCounter,
    levels: IntCounterVec,
    errors: IntCounterVec,
}

impl AuditMetrics {
    pub(super) fn new(counters: Arc<Counters>) -> Self {
        const WELL_FORMED: &str = "the description is well-formed";
        let counter = |name, help| IntCounter::new(name, help).expect(WELL_FORMED);
        let vector = |name: &str, help: &str, label| {
            IntCounterVec::new(Opts::new(name, help), &[label]).expect(WELL_FORMED)
        };
        AuditMetrics {
            counters,
            events: counter("apiserver_audit_event_total", "Audit events that were made."),
            rejected: counter(
                "apiserver_audit_requests_rejected_total",
                "Requests that were refused because their audit event could not be recorded.",
            ),
            levels: vector(
                "apiserver_audit_level_total",
                "Requests by the level of the audit policy.",
                "level",
            ),
            errors: vector(
                "apiserver_audit_error_total",
                "Audit events that were lost, by the part that lost them.",
                "plugin",
            ),
        }
    }
}

impl Collector for AuditMetrics {
    fn desc(&self) -> Vec<&Desc> {
        let all: [Vec<&Desc>; 4] =
            [self.events.desc(), self.rejected.desc(), self.levels.desc(), self.errors.desc()];
        all.into_iter().flatten().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let catch_up = |counter: &IntCounter, count: u64| counter.inc_by(count.saturating_sub(counter.get()));
        catch_up(&self.events, self.counters.events());
        catch_up(&self.rejected, self.counters.rejected());
        for level in Level::ALL {
            catch_up(&self.levels.with_label_values(&[level.name()]), self.counters.of_level(level));
        }
        for plugin in Plugin::ALL {
            catch_up(&self.errors.with_label_values(&[plugin.name()]), self.counters.errors(plugin));
        }
        let all =
            [self.events.collect(), self.rejected.collect(), self.levels.collect(), self.errors.collect()];
        all.into_iter().flatten().collect()
    }
}
