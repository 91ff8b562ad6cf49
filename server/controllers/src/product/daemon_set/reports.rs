//! What a daemon set tells people in events.
//!
//! A large set changes more pods than anybody wants to read about, and each event is a write: a set tells of
//! [`BURST`] changes at once and of one more every [`REFILL`], like the reference's recorder of events.

use std::time::Duration;

use orch_registry::error::ApiError;
use tokio::time::Instant;

use super::state::Why;
use crate::events::Severity;

/// How many events a set may have at once.
const BURST: u32 = 25;
/// How long after one it may have another.
const REFILL: Duration = Duration::from_mins(5);

/// An event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) severity: Severity,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// How many events a set may have.
#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
    /// When it was filled up last.
    filled: Instant,
}

impl Budget {
    pub(super) fn new(now: Instant) -> Self {
        Budget { left: BURST, filled: now }
    }

    /// Whether there may be one more, which then counts.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let intervals = u32::try_from((now - self.filled).as_secs() / REFILL.as_secs()).unwrap_or(u32::MAX);
        if intervals > 0 {
            self.left = self.left.saturating_add(intervals).min(BURST);
            self.filled = now;
        }
        let is_allowed = self.left > 0;
        self.left = self.left.saturating_sub(1);
        is_allowed
    }
}

impl Report {
    pub(super) fn created(pod: &str) -> Self {
        Report::normal("SuccessfulCreate", format!("Created pod: {pod}"))
    }

    pub(super) fn deleted(pod: &str) -> Self {
        Report::normal("SuccessfulDelete", format!("Deleted pod: {pod}"))
    }

    pub(super) fn not_created(error: &ApiError) -> Self {
        Report::warning("FailedCreate", format!("Error creating: {}", words(error)))
    }

    pub(super) fn not_deleted(error: &ApiError) -> Self {
        Report::warning("FailedDelete", format!("Error deleting: {}", words(error)))
    }

    /// Why a pod is going to be deleted, where that is the pod's fault.
    pub(super) fn ended(namespace: &str, pod: &str, node: &str, why: Why) -> Option<Self> {
        let about = |state: &str| {
            format!("Found {state} daemon pod {namespace}/{pod} on node {node}, will try to delete it")
        };
        match why {
            Why::Failed => Some(Report::warning("FailedDaemonPod", about("failed"))),
            Why::Succeeded => Some(Report::normal("SucceededDaemonPod", about("succeeded"))),
            Why::Extra | Why::Misplaced | Why::NodeGone | Why::Outdated => None,
        }
    }

    fn normal(reason: &'static str, message: String) -> Self {
        Report { severity: Severity::Normal, reason, message }
    }

    fn warning(reason: &'static str, message: String) -> Self {
        Report { severity: Severity::Warning, reason, message }
    }
}

/// An error for people who may read the set.
fn words(error: &ApiError) -> String {
    match error {
        ApiError::Forbidden(forbidden) => forbidden.message.clone(),
        ApiError::Invalid { errors, .. } => {
            errors.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        }
        ApiError::TooManyRequests { message, .. }
        | ApiError::Unavailable(message)
        | ApiError::Timeout(message)
        | ApiError::TooLarge(message)
        | ApiError::InsufficientStorage(message) => message.clone(),
        _ => "the server is at fault".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_tells_of_a_few_changes_at_once_and_then_of_few() {
        let mut now = Instant::now();
        let mut budget = Budget::new(now);
        assert_eq!((0..100).filter(|_| budget.take(now)).count(), BURST as usize);
        now += REFILL.saturating_sub(Duration::from_secs(1));
        assert!(!budget.take(now));
        now += Duration::from_secs(1);
        assert_eq!((0..100).filter(|_| budget.take(now)).count(), 1);
        now += REFILL * 1000;
        assert_eq!((0..100).filter(|_| budget.take(now)).count(), BURST as usize);
    }
}
