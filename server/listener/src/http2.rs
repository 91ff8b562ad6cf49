//! HTTP/2 with the server's limits, and where each of its streams runs.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response};
use hyper::{
    body::{Body, Incoming},
    server::conn::http2::Builder,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulConnection,
};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    config::MAX_HEAD_BYTES,
    http2::{
        executor::{ConnectionStreams, Placement, StreamExecutor},
        stream_state::TrackedBody,
    },
    write_coalescing::{BufferPool, CoalescingStream},
};

mod executor;
mod scheduler;
mod stream_state;
mod stream_timeout;

/// Streams that a client may have open at a time.
const MAX_STREAMS: u32 = 100;
/// Streams that a client may open and reset before they were accepted. This ends rapid resets
/// (CVE-2023-44487).
const MAX_PENDING_RESETS: usize = 20;
/// Streams that the server may reset because of the client's errors.
const MAX_ERROR_RESETS: usize = 100;
/// How much of a body a client may send ahead, per stream and per connection.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;
/// How often a client is asked whether it is still there, and how long it may take to answer.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// Speaks HTTP/2 on this stream and answers requests with `answer`. The second part runs those streams that
/// belong to the task of the connection: that task polls it before it polls the connection.
pub fn serve_connection<S, A, F, B>(
    stream: S,
    buffers: Arc<BufferPool>,
    stall_timeout: Duration,
    answer: A,
) -> (impl GracefulConnection<Error = hyper::Error>, ConnectionStreams)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let executor = StreamExecutor::new(stall_timeout);
    let streams = executor.connection_streams();
    let announced = executor.clone();
    let service = service_fn(move |request| {
        let state = Arc::default();
        announced.announce(placement(&request), Arc::clone(&state));
        // Boxed, because HTTP/2 keeps the room of the future for as long as the body is sent, which is all of
        // a watch.
        let answer = Box::pin(answer(request));
        async { Ok::<_, Infallible>(answer.await.map(|body| TrackedBody::new(body, state))) }
    });
    let io = TokioIo::new(CoalescingStream::new(stream, buffers));
    (builder(executor).serve_connection(io, service), streams)
}

fn builder(executor: StreamExecutor) -> Builder<StreamExecutor> {
    let mut http2 = Builder::new(executor);
    http2
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEAD_BYTES)
        .max_pending_accept_reset_streams(MAX_PENDING_RESETS)
        .max_local_error_reset_streams(MAX_ERROR_RESETS)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    http2
}

/// Where to run a stream, guessed from its request: a wrong guess costs time and nothing else. A read with
/// parameters may search through all objects, and the other streams of the connection must not wait for that.
fn placement<B>(request: &Request<B>) -> Placement {
    let uri = request.uri();
    if uri.query().is_some_and(|query| query.contains("watch")) || uri.path().contains("/watch/") {
        Placement::ConnectionTask
    } else if request.method() == Method::GET && uri.query().is_none() {
        Placement::InlineFirst
    } else {
        Placement::OwnTask
    }
}
