//! How connections end: by themselves, because they are idle, or because the server stops.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use hyper_util::server::graceful::GracefulConnection;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep_until},
};

use crate::listener::{Connection, accept::report};

/// Runs a connection until it is closed, and with it those of its streams that stay with it: `run_streams` lets them run and
/// says whether one did. The connection is told to finish what it has begun and take nothing new when the server stops, when a
/// handler says so, or when no new request came for `idle`. An HTTP/1.1 connection that is told so in the middle of a request's
/// head is closed at once: what is not whole has not begun. One that never had a request has nothing to finish and is cut
/// off instead: a client that says nothing would not hear it.
pub async fn until_done<E>(
    exchange: impl GracefulConnection<Error = E>,
    mut run_streams: impl FnMut(&mut Context<'_>) -> bool,
    connection: &Connection,
    idle: Duration,
    stopping: &mut watch::Receiver<bool>,
) -> Result<(), E> {
    let mut exchange = pin!(exchange);
    let mut requests = 0;
    let mut idle_end = pin!(sleep_until(Instant::now() + idle));
    loop {
        tokio::select! {
            biased;
            result = poll_fn(|context| poll(exchange.as_mut(), &mut run_streams, context)) => return result,
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
    poll_fn(|context| poll(exchange.as_mut(), &mut run_streams, context)).await
}

/// First the streams, so that the connection finds all that they have to say; then the connection. What the streams said is
/// only gathered by that ([`Coalesced`](super::coalesced::Coalesced)), and sent when the connection is polled again. That is
/// done at once, while it is in the caches, and not after the turns of other connections.
fn poll<F: Future>(
    mut exchange: Pin<&mut F>,
    run_streams: &mut impl FnMut(&mut Context<'_>) -> bool,
    context: &mut Context<'_>,
) -> Poll<F::Output> {
    let spoke = run_streams(context);
    let outcome = exchange.as_mut().poll(context);
    if spoke && outcome.is_pending() { exchange.poll(context) } else { outcome }
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
