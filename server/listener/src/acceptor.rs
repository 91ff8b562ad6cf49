//! One connection: TLS handshake, then HTTP in the version that the handshake agreed on.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use bytes::Bytes;
use futures_util::FutureExt;
use http::{Method, Request, Response};
use hyper::{
    body::{Body, Incoming},
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use orch_auth::authenticator::certificate::PeerCertificates;
use rustls::{ServerConfig, pki_types::CertificateDer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::listener::{
    Connection, Limits,
    coalesced::{Buffers, Coalesced},
    drain,
    pace::Paced,
    patient::Patient,
    streams::{Place, Streams},
    tls::ALPN_HTTP2,
};

/// The first byte of a TLS handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// What a client that speaks no TLS is told, as far as it speaks HTTP.
const NOT_TLS_ANSWER: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/// Bytes of a request's head: URI with its selectors, and headers with the largest tokens in use.
const MAX_HEAD_BYTES: u32 = 64 * 1024;
/// How much of an answer to HTTP/1.1 is made before it is sent: as much as stays in the caches until it is encrypted.
const MAX_BUFFERED_BYTES: usize = 64 * 1024;
/// How much is encrypted before it is sent: more than an answer that was made so far, whose last piece goes beyond the limit
/// above. Else the rest of each would be a small record and a system call of its own.
const MAX_ENCRYPTED_BYTES: usize = 2 * MAX_BUFFERED_BYTES;
/// Streams that an HTTP/2 client may have open at a time.
const MAX_STREAMS: u32 = 100;
/// Streams that an HTTP/2 client may open and give up before they were looked at: rapid resets end here.
const MAX_PENDING_RESETS: usize = 20;
/// Streams that the server may reset because of the client's errors.
const MAX_ERROR_RESETS: usize = 100;
/// How much of a body an HTTP/2 client may send ahead, per stream and per connection.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;
/// How often an HTTP/2 client is asked whether it is still there, and how long it may take to say so.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// What all connections share.
pub struct Door<H> {
    tls: Arc<ArcSwap<ServerConfig>>,
    http1: http1::Builder,
    buffers: Arc<Buffers>,
    limits: Limits,
    handler: H,
    stopping: watch::Receiver<bool>,
}

impl<H> Door<H> {
    /// Sets up both versions of HTTP.
    pub fn new(
        tls: Arc<ArcSwap<ServerConfig>>,
        limits: Limits,
        handler: H,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let mut http1 = http1::Builder::new();
        // How long a head may take is seen to by `drain::until_done`: a timer for each request is dear.
        http1
            .header_read_timeout(None)
            .max_header_size(MAX_HEAD_BYTES as usize)
            .max_buf_size(MAX_BUFFERED_BYTES);
        Self { tls, http1, buffers: Arc::default(), limits, handler, stopping }
    }
}

/// HTTP/2 with the server's limits.
fn http2(streams: Streams) -> http2::Builder<Streams> {
    let mut http2 = http2::Builder::new(streams);
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

/// Where to answer a request, by its looks: it is answered as well anywhere else. Who asks for something special may ask for
/// much, such as a search through all objects; the other streams of the connection are not to wait for that.
fn place_of<B>(request: &Request<B>) -> Place {
    let uri = request.uri();
    if uri.query().is_some_and(|query| query.contains("watch")) || uri.path().contains("/watch/") {
        Place::WithConnection
    } else if request.method() == Method::GET && uri.query().is_none() {
        Place::AtOnce
    } else {
        Place::Apart
    }
}

/// Serves one connection to its end.
pub async fn serve<H, F, B>(door: Arc<Door<H>>, stream: TcpStream, peer: SocketAddr)
where
    H: Fn(Request<Incoming>, Arc<Connection>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut stopping = door.stopping.clone();
    let tls = TlsAcceptor::from(door.tls.load_full());
    let handshake = tokio::time::timeout(door.limits.handshake, handshake(&tls, stream, door.limits.stall));
    let stream = tokio::select! {
        () = drain::until_stopping(&mut stopping) => return,
        shaken = handshake => match shaken {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                tracing::debug!(%peer, %error, "TLS handshake failed");
                return;
            }
            Err(_) => {
                tracing::debug!(%peer, "TLS handshake took too long");
                return;
            }
        },
    };
    let session = stream.get_ref().1;
    let certificates = session.peer_certificates().unwrap_or_default().iter();
    let certificates =
        certificates.map(|certificate| CertificateDer::into_owned(certificate.clone())).collect();
    let connection = Arc::new(Connection::new(peer, PeerCertificates::new(certificates)));
    let speaks_http2 = session.alpn_protocol() == Some(ALPN_HTTP2);

    let (handler, seen) = (door.handler.clone(), Arc::clone(&connection));
    let answer = move |request| {
        seen.count_request();
        handler(request, Arc::clone(&seen))
    };
    let Limits { request_head, idle, stall, .. } = door.limits;
    // A client that says nothing about it in the handshake speaks HTTP/1.1.
    let result = if speaks_http2 {
        let streams = Streams::new(stall);
        let placed = streams.clone();
        let service = service_fn(move |request| {
            let pace = Arc::default();
            placed.next_is(place_of(&request), Arc::clone(&pace));
            // Boxed, because HTTP/2 keeps the place of the future for as long as the body is sent: for all of a watch.
            let answer = Box::pin(answer(request));
            async { Ok::<_, Infallible>(answer.await.map(|body| Paced::new(body, pace))) }
        });
        let io = TokioIo::new(Coalesced::new(stream, Arc::clone(&door.buffers)));
        let (exchange, mut running) =
            (http2(streams.clone()).serve_connection(io, service), streams.running());
        drain::until_done(exchange, |context| running.run(context), &connection, idle, &mut stopping).await
    } else {
        let service = service_fn(move |request| answer(request).map(Ok::<_, Infallible>));
        let exchange = door.http1.serve_connection(TokioIo::new(stream), service);
        drain::until_done(exchange, |_| false, &connection, request_head, &mut stopping).await
    };
    if let Err(error) = result {
        tracing::debug!(%peer, %error, "connection ended with an error");
    }
}

async fn handshake(
    tls: &TlsAcceptor,
    mut stream: TcpStream,
    patience: Duration,
) -> io::Result<TlsStream<Patient<TcpStream>>> {
    // Small writes leave at once: answers are written whole, and watch events must not wait for one another.
    stream.set_nodelay(true)?;
    let mut first = [0];
    if stream.peek(&mut first).await? == 1 && first != [TLS_HANDSHAKE] {
        // What was not read when a connection is closed makes the system reset it, and the answer is lost.
        let _ = stream.read(&mut [0; 4096]).await?;
        stream.write_all(NOT_TLS_ANSWER).await?;
        return Err(io::Error::other("the client does not speak TLS"));
    }
    let stream = Patient::new(stream, patience);
    tls.accept_with(stream, |session| session.set_buffer_limit(Some(MAX_ENCRYPTED_BYTES))).await
}
