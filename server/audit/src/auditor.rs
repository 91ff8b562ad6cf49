//! What the server has of audit: the policy, and where events go.

use std::sync::Arc;

use orch_runtime::vocabulary::Vocabulary;

use crate::{
    backend::Backends,
    counters::Counters,
    event::Event,
    policy::{Attributes, Level, Policy, Verdict},
    record::Record,
};

/// Records requests as the policy says.
#[derive(Debug)]
pub struct Auditor {
    policy: Policy,
    backends: Arc<Backends>,
    counters: Arc<Counters>,
    /// What the groups of the vocabulary end with.
    suffix: &'static str,
}

impl Auditor {
    /// Records by this policy to these backends.
    pub fn new(
        policy: Policy,
        backends: Backends,
        counters: Arc<Counters>,
        vocabulary: &'static Vocabulary,
    ) -> Self {
        Auditor { policy, backends: Arc::new(backends), counters, suffix: vocabulary.group_suffix }
    }

    /// Begins the record of a request, where the policy wants one. `event` makes its first event, with what
    /// is known already.
    pub fn begin(&self, request: &Attributes<'_>, event: impl FnOnce(Level) -> Event) -> Option<Arc<Record>> {
        let verdict = self.policy.judge(request);
        self.counters.judged(verdict.level);
        let Verdict { level, .. } = verdict;
        (level > Level::None).then(|| {
            let counters = Arc::clone(&self.counters);
            Arc::new(Record::new(verdict, event(level), Arc::clone(&self.backends), counters, self.suffix))
        })
    }

    /// Where events go.
    pub fn backends(&self) -> &Backends {
        &self.backends
    }
}
