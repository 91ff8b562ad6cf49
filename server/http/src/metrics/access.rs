//! Metrics of authentication and authorization: attempts, and how long they take.

use std::time::Duration;

use orch_auth::user::UserInfo;
use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry};

use super::{
    filters::{Filter, FilterMetrics, buckets},
    register, registered,
};

/// The outcome of authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// The caller is known.
    Success,
    /// Missing or wrong credentials.
    Failure,
    /// It could not be decided.
    Error,
}

/// The outcome of authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authorization {
    /// The caller may.
    Allowed,
    /// An authorizer says that the caller may not.
    Denied,
    /// No authorizer says that the caller may.
    NoOpinion,
    /// It could not be decided.
    Error,
}

/// Users with a series of their own. Others are counted together, those with an `@` in their name apart.
const USERS: [&str; 3] = ["admin", EMAIL, "other"];
const EMAIL: &str = "email_id";

/// Handles of all series, so that counting is a few additions.
#[derive(Debug)]
pub(super) struct AccessMetrics {
    authentication: [(IntCounter, Histogram); 3],
    authorization: [(IntCounter, Histogram); 4],
    filters: FilterMetrics,
    users: [IntCounter; USERS.len()],
}

impl AccessMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let users =
            Opts::new("authenticated_user_requests", "Requests of callers that were recognized, by user.");
        let users = registered(registry, IntCounterVec::new(users, &["username"]));
        let (authentication, authentication_durations) = outcomes(
            registry,
            ("authentication_attempts", "authentication_duration_seconds"),
            "Finding out who makes a request, by outcome.",
            ["success", "failure", "error"],
        );
        let (authorization, authorization_durations) = outcomes(
            registry,
            ("authorization_attempts_total", "authorization_duration_seconds"),
            "Finding out whether a caller may, by outcome.",
            ["allowed", "denied", "no-opinion", "error"],
        );
        let filters = FilterMetrics::new(authentication_durations, authorization_durations);
        register(registry, filters.clone());
        let users = USERS.map(|user| users.with_label_values(&[user]));
        AccessMetrics { authentication, authorization, filters, users }
    }

    pub(super) fn passed(&self, filter: Filter, took: Duration) {
        self.filters.passed(filter, took);
    }

    pub(super) fn authenticated(&self, outcome: Authentication, took: Duration) {
        count(&self.authentication[outcome as usize], took);
    }

    pub(super) fn recognized(&self, user: &UserInfo) {
        let own = USERS.iter().position(|known| *known == user.name);
        let index = own.unwrap_or(if user.name.contains('@') { 1 } else { 2 });
        self.users[index].inc();
    }

    pub(super) fn authorized(&self, outcome: Authorization, took: Duration) {
        count(&self.authorization[outcome as usize], took);
    }
}

fn count((attempts, durations): &(IntCounter, Histogram), took: Duration) {
    attempts.inc();
    durations.observe(took.as_secs_f64());
}

/// The series of a counter and of a histogram, by outcome, and the histogram.
fn outcomes<const N: usize>(
    registry: &Registry,
    (attempts, durations): (&str, &str),
    help: &str,
    results: [&str; N],
) -> ([(IntCounter, Histogram); N], HistogramVec) {
    let attempts = registered(registry, IntCounterVec::new(Opts::new(attempts, help), &["result"]));
    let durations = HistogramOpts::new(durations, help).buckets(buckets());
    let durations = registered(registry, HistogramVec::new(durations, &["result"]));
    let of = |result| (attempts.with_label_values(&[result]), durations.with_label_values(&[result]));
    (results.map(of), durations)
}
