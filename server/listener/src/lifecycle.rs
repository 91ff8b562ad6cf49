//! How one connection runs and ends: by itself, because it is idle, because a handler says so, or because the
//! server stops.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::{connection::Connection, drain::until_stopping};

/// Runs a connection until HTTP ends on it. `finish` lets it take nothing new. `run_streams` runs those
/// HTTP/2 streams that belong to the task of the connection, and says whether one ran.
///
/// The connection finishes what it has begun and takes nothing new from the moment that the server stops,
/// that a handler asks for it, or that no new request came for `idle`. An HTTP/1.1 connection that is in the
/// middle of a request's head then is closed at once: a request whose head is not complete has not begun. A
/// connection that never had a request is cut: it has nothing to finish, and a client that sends nothing may
/// not react to a GOAWAY either.
pub async fn run<P, E, F: Future<Output = Result<(), E>>>(
    http: F,
    finish: fn(Pin<&mut F>),
    mut run_streams: impl FnMut(&mut Context<'_>) -> bool,
    connection: &Connection<P>,
    idle: Duration,
    stopping: &mut watch::Receiver<bool>,
) -> Result<(), E> {
    let mut http = pin!(http);
    let mut requests = 0;
    // One timer for the whole connection: to make and drop one for each request is expensive beside a read
    // from memory.
    let mut idle_end = pin!(sleep_until(Instant::now() + idle));
    loop {
        tokio::select! {
            biased;
            result = poll_fn(|context| poll(http.as_mut(), &mut run_streams, context)) => return result,
            () = until_stopping(stopping) => break,
            () = connection.close_asked() => break,
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
    finish(http.as_mut());
    poll_fn(|context| poll(http.as_mut(), &mut run_streams, context)).await
}

/// Polls the streams first, so that the connection finds all the data that they have, and then the
/// connection. That only collects the data, and the next poll of the connection sends it (see
/// `write_coalescing`). After a stream ran, that poll follows at once, while the data is in the processor's
/// caches, and not after the polls of other connections.
fn poll<F: Future>(
    mut http: Pin<&mut F>,
    run_streams: &mut impl FnMut(&mut Context<'_>) -> bool,
    context: &mut Context<'_>,
) -> Poll<F::Output> {
    let ran = run_streams(context);
    let outcome = http.as_mut().poll(context);
    if ran && outcome.is_pending() { http.poll(context) } else { outcome }
}
