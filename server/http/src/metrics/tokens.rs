//! Tokens of service accounts that live longer than their bearers were told.

use std::sync::{Arc, Mutex, PoisonError};

use orch_auth::service_account::TokenIssuer;
use prometheus::{
    IntCounter,
    core::{Collector, Desc},
    proto::MetricFamily,
};

/// Asks the issuer whenever metrics are read.
pub(super) struct TokenMetrics {
    tokens: Arc<TokenIssuer>,
    fresh: IntCounter,
    stale: IntCounter,
    reading: Mutex<()>,
}

impl TokenMetrics {
    pub(super) fn new(tokens: Arc<TokenIssuer>) -> Self {
        let counter = |name, help| IntCounter::new(name, help).expect("the description is well-formed");
        let (fresh, stale) = (
            counter("serviceaccount_valid_tokens_total", "Uses of extended tokens in their first lifetime."),
            counter("serviceaccount_stale_tokens_total", "Uses of extended tokens that should be renewed."),
        );
        Self { tokens, fresh, stale, reading: Mutex::new(()) }
    }
}

impl Collector for TokenMetrics {
    fn desc(&self) -> Vec<&Desc> {
        [&self.fresh, &self.stale].into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        // Two readers at a time would count the same uses twice.
        let _alone = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let (fresh, stale) = self.tokens.extended_uses();
        for (counter, uses) in [(&self.fresh, fresh), (&self.stale, stale)] {
            counter.inc_by(uses.saturating_sub(counter.get()));
        }
        [&self.fresh, &self.stale].into_iter().flat_map(Collector::collect).collect()
    }
}
