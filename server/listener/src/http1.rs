//! HTTP/1.1 with the server's limits.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{Request, Response};
use hyper::{
    body::{Body, Incoming},
    server::conn::http1::{Builder, UpgradeableConnection},
    service::{HttpService, service_fn},
    upgrade,
};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use self::framing::FramingGuard;
use crate::{config::MAX_HEAD_BYTES, connection::Connection, handover::Agreed};

mod framing;

/// How much of an answer is collected before it is sent: as much as stays in the processor's caches until it
/// is encrypted.
pub const MAX_BUFFERED_BYTES: usize = 64 * 1024;

/// The stream of a connection, as the library reads requests from it.
type Requests<S> = TokioIo<FramingGuard<S>>;

/// How HTTP/1.1 is spoken on all connections.
pub fn builder() -> Builder {
    let mut http1 = Builder::new();
    // `lifecycle::run` watches over the time that a head may take: a timer for each request is expensive.
    http1.header_read_timeout(None).max_header_size(MAX_HEAD_BYTES as usize).max_buf_size(MAX_BUFFERED_BYTES);
    http1
}

/// Speaks HTTP/1 on this stream and answers requests with `answer`. `agreed` knows afterwards who goes on
/// with the stream.
pub fn serve_connection<S, P, A, F, B>(
    http1: &Builder,
    stream: S,
    connection: &Arc<Connection<P>>,
    agreed: &Agreed,
    answer: A,
) -> UpgradeableConnection<
    Requests<S>,
    impl HttpService<Incoming, ResBody = B, Future: Send> + use<S, P, A, F, B>,
>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    P: Send + Sync,
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (connection, agreed) = (Arc::clone(connection), agreed.clone());
    let service = service_fn(move |mut request| {
        let (connection, agreed) = (Arc::clone(&connection), agreed.clone());
        let upgrade = upgrade::on(&mut request);
        answer(request).map(move |response| {
            agreed.answered(response.status(), upgrade, connection.prepared());
            Ok::<_, Infallible>(response)
        })
    });
    http1.serve_connection(TokioIo::new(FramingGuard::new(stream)), service).with_upgrades()
}

/// Lets the successor go on with a connection, if there is one, after HTTP has ended there.
///
/// A client has to wait for the 101 (RFC 6455 section 4.1). One that has sent more is cut: who stands in
/// front may have taken that for a request.
pub async fn hand_over<S>(agreed: Agreed)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let Some((upgrade, successor)) = agreed.take() else { return };
    // An error means that the connection has ended before the answer was sent.
    let Ok(upgraded) = upgrade.await else { return };
    let Ok(parts) = upgraded.downcast::<Requests<S>>() else { return };
    if !parts.read_buf.is_empty() {
        tracing::debug!(bytes = parts.read_buf.len(), "cut: the client did not wait for the 101");
        return;
    }
    successor(Box::new(parts.io.into_inner().into_inner())).await;
}
