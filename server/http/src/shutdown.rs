//! The steps of a shutdown, from the request to stop to the end of the last connection.
//!
//! 1. The server is told to stop: `/readyz` fails at once, and everything else goes on for
//!    `--shutdown-delay-duration`. Meanwhile load balancers lead clients elsewhere.
//! 2. With `--shutdown-send-retry-after`, new requests then get a 429 with `Retry-After`, while those that
//!    have begun are answered.
//! 3. The listener is closed, watches end, connections are drained, and the store is closed.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use orch_config::ServingConfig;
use orch_listener::Connection;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use crate::documents::health;

/// How often is looked whether requests are still being answered.
const PERIOD: Duration = Duration::from_millis(20);

/// Paths that are answered to the end, besides probes.
const METRICS: &str = "/metrics";

/// How long the steps take.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    delay: Duration,
    sends_retry_after: bool,
    grace_period: Duration,
}

impl Steps {
    /// As the configuration says.
    pub fn of(config: &ServingConfig) -> Self {
        Steps {
            delay: config.shutdown_delay,
            sends_retry_after: config.shutdown_sends_retry_after,
            grace_period: config.shutdown_grace_period,
        }
    }

    /// Waits until the server is `told` to stop, and goes through the steps up to the last one, which is to
    /// tell `stop`. `draining` becomes true in between. `in_flight` counts requests that are not answered.
    pub async fn lead(
        self,
        mut told: watch::Receiver<bool>,
        draining: &AtomicBool,
        in_flight: impl Fn() -> i64,
        stop: watch::Sender<bool>,
    ) {
        // A sender that is gone means the same.
        let _ = told.wait_for(|told| *told).await;
        if !self.delay.is_zero() {
            tracing::info!(delay = ?self.delay, "not ready any more; the server goes on for a while");
            sleep(self.delay).await;
        }
        if self.sends_retry_after {
            draining.store(true, Ordering::Relaxed);
            let end = Instant::now() + self.grace_period;
            while in_flight() > 0 && Instant::now() < end {
                sleep(PERIOD).await;
            }
        }
        // Nobody listens any more where the server has ended by itself.
        stop.send_replace(true);
    }
}

/// The answer to a request that comes while others are finished; `None` for probes and metrics, which are
/// answered to the end. The client is told to use another connection. As in the reference, it is not counted
/// among requests that the server ends to protect itself: it does not mean load.
pub fn refusal<P>(path: &str, connection: &Connection<P>) -> Option<Response> {
    if health::is_probe(path) || path == METRICS {
        return None;
    }
    connection.close_when_answered();
    let headers = [(header::RETRY_AFTER, "5"), (header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    let text = "The apiserver is shutting down, please try again later.\n";
    Some((StatusCode::TOO_MANY_REQUESTS, headers, text).into_response())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, atomic::AtomicI64};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_steps_take_as_long_as_they_may() {
        for (delay, sends_retry_after, answered_after, expected) in
            [(0, false, 0, 0), (5, false, 9, 5), (5, true, 0, 5), (5, true, 2, 5 + 2), (0, true, 100, 20)]
        {
            let seconds = Duration::from_secs;
            let steps = Steps { delay: seconds(delay), sends_retry_after, grace_period: seconds(20) };
            let (tell, told) = watch::channel(false);
            let (stop, mut stopping) = watch::channel(false);
            let (draining, in_flight) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI64::new(1)));
            let began = Instant::now();
            let lead = {
                let (draining, in_flight) = (Arc::clone(&draining), Arc::clone(&in_flight));
                async move {
                    steps.lead(told, &draining, || in_flight.load(Ordering::Relaxed), stop).await;
                }
            };
            let lead = tokio::spawn(lead);
            tell.send_replace(true);
            tokio::spawn(async move {
                sleep(seconds(delay + answered_after)).await;
                in_flight.store(0, Ordering::Relaxed);
            });
            stopping.wait_for(|stopping| *stopping).await.unwrap();
            let passed = began.elapsed();
            assert!((seconds(expected)..=seconds(expected) + PERIOD * 2).contains(&passed), "{passed:?}");
            assert_eq!(draining.load(Ordering::Relaxed), sends_retry_after);
            lead.await.unwrap();
        }
    }
}
