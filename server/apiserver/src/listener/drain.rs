//! How connections end: by themselves, because they are idle, or because the server stops.

use std::{convert::Infallible, pin::pin, time::Duration};

use hyper_util::server::graceful::GracefulConnection;
use tokio::{
    sync::watch,
    task::{JoinSet, coop::unconstrained},
    time::{Instant, sleep_until},
};

use crate::listener::{Connection, accept::report};

/// Runs a connection until it is closed, and with it those of its streams that stay with it. It is told to finish what it has begun and take nothing new when the
/// server stops, when a handler says so, or when no new request came for `idle`. An HTTP/1.1 connection that is told so in
/// the middle of a request's head is closed at once: what is not whole has not begun. One that never had a request has
/// nothing to finish and is cut off instead: a client that says nothing would not hear it.
pub async fn until_done<E>(
    exchange: impl GracefulConnection<Error = E>,
    streams: impl Future<Output = Infallible>,
    connection: &Connection,
    idle: Duration,
    stopping: &mut watch::Receiver<bool>,
) -> Result<(), E> {
    let mut exchange = pin!(exchange);
    // They take turns by themselves, each once; what they may do in a turn is not to be cut short by their number.
    let mut streams = pin!(unconstrained(streams));
    let mut requests = 0;
    let mut idle_end = pin!(sleep_until(Instant::now() + idle));
    loop {
        tokio::select! {
            biased;
            // First the streams, so that the connection finds all that they have to say.
            never = streams.as_mut() => match never {},
            result = exchange.as_mut() => return result,
            () = until_stopping(stopping) => break,
            () = connection.close.notified() => break,
            () = idle_end.as_mut() => {
                let so_far = connection.requests();
                if so_far == requests {
                    break;
                }
                requests = so_far;
                idle_end.as_mut().reset(Instant::now() + idle);
            }
        }
    }
    if connection.requests() == 0 {
        return Ok(());
    }
    exchange.as_mut().graceful_shutdown();
    tokio::select! {
        biased;
        never = streams => match never {},
        result = exchange => result,
    }
}

/// Waits for connections to end. Those that are left when the grace period is over are cut off.
pub async fn drain(mut connections: JoinSet<()>, grace: Duration) {
    let all_closed = async {
        while let Some(end) = connections.join_next().await {
            report(end);
        }
    };
    if tokio::time::timeout(grace, all_closed).await.is_err() {
        tracing::warn!(connections = connections.len(), "the grace period is over; cutting connections off");
        connections.shutdown().await;
    }
}

/// Waits until the server stops. A sender that is gone means the same.
pub async fn until_stopping(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
