//! Serves one accepted connection: TLS handshake, then HTTP in the version that the handshake agreed on.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Context,
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{Request, Response};
use hyper::{
    body::{Body, Incoming},
    server::conn::http1::{Builder as Http1, UpgradeableConnection},
};
use hyper_util::server::graceful::GracefulConnection;
use rustls::{ServerConfig, ServerConnection, pki_types::CertificateDer};
use tokio::{
    net::TcpStream,
    sync::{Notify, watch},
    time::{error::Elapsed, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::{
    config::Config, connection::Connection, drain, handover::Agreed, handshake, http1, http2, lifecycle,
    places::Place, stall_timeout::StallTimeout, tls::ALPN_HTTP2, write_coalescing::BufferPool,
};

/// What a client's bytes come in.
type Encrypted = TlsStream<StallTimeout<TcpStream>>;

/// What all connections share.
pub struct Acceptor<P, H> {
    tls: Arc<ArcSwap<ServerConfig>>,
    http1: Http1,
    buffers: Arc<BufferPool>,
    config: Config,
    make_peer: fn(Vec<CertificateDer<'static>>) -> P,
    handler: H,
    failed_handshakes: Arc<AtomicU64>,
    stopping: watch::Receiver<bool>,
}

impl<P, H> Acceptor<P, H> {
    /// See [`Listener::serve`](crate::Listener::serve).
    pub fn new(
        tls: Arc<ArcSwap<ServerConfig>>,
        config: Config,
        make_peer: fn(Vec<CertificateDer<'static>>) -> P,
        handler: H,
        failed_handshakes: Arc<AtomicU64>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let (http1, buffers) = (http1::builder(), Arc::default());
        Self { tls, http1, buffers, config, make_peer, handler, failed_handshakes, stopping }
    }

    /// Serves one connection to its end.
    pub async fn serve<F, B>(self: Arc<Self>, stream: TcpStream, peer_address: SocketAddr, place: Place)
    where
        P: Send + Sync + 'static,
        H: Fn(Request<Incoming>, Arc<Connection<P>>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let Config { handshake_timeout, head_timeout, idle_timeout, stall_timeout, .. } = self.config;
        let mut stopping = self.stopping.clone();
        let tls = TlsAcceptor::from(self.tls.load_full());
        let handshake = timeout(handshake_timeout, handshake::handshake(&tls, stream, stall_timeout));
        let leave = place.leave();
        let outcome = tokio::select! {
            () = unwanted(&mut stopping, &leave, peer_address) => return,
            outcome = handshake => outcome,
        };
        let Some(stream) = self.encrypted(outcome, peer_address) else { return };
        let session = stream.get_ref().1;
        let connection =
            Arc::new(Connection::new(peer_address, (self.make_peer)(peer_certificates(session)), leave));
        let speaks_http2 = session.alpn_protocol() == Some(ALPN_HTTP2);

        // It is taken until whatever is spoken after HTTP has ended too.
        let place = Arc::new(place);
        let answer = counting(self.handler.clone(), &connection, &place);
        // A client that names no protocol in the handshake speaks HTTP/1.1.
        let result = if speaks_http2 {
            let (http, mut streams) =
                http2::serve_connection(stream, Arc::clone(&self.buffers), stall_timeout, answer);
            let run_streams = |context: &mut Context<'_>| streams.run(context);
            let finish = GracefulConnection::graceful_shutdown;
            lifecycle::run(http, finish, run_streams, &connection, idle_timeout, &mut stopping).await
        } else {
            let agreed = Agreed::default();
            let http = http1::serve_connection(&self.http1, stream, &connection, &agreed, answer);
            let finish = UpgradeableConnection::graceful_shutdown;
            let ended =
                lifecycle::run(http, finish, |_| false, &connection, head_timeout, &mut stopping).await;
            if ended.is_ok() {
                http1::hand_over::<Encrypted>(agreed).await;
            }
            ended
        };
        if let Err(error) = result {
            tracing::debug!(peer = %peer_address, %error, "connection ended with an error");
        }
        drop(place);
    }

    /// The stream of a handshake that succeeded; others are counted.
    fn encrypted(
        &self,
        outcome: Result<io::Result<Encrypted>, Elapsed>,
        peer_address: SocketAddr,
    ) -> Option<Encrypted> {
        match outcome {
            Ok(Ok(stream)) => return Some(stream),
            Ok(Err(error)) => tracing::debug!(peer = %peer_address, %error, "TLS handshake failed"),
            Err(_) => tracing::debug!(peer = %peer_address, "TLS handshake took too long"),
        }
        self.failed_handshakes.fetch_add(1, Ordering::Relaxed);
        None
    }
}

/// Returns when a handshake is not to be finished any more.
async fn unwanted(stopping: &mut watch::Receiver<bool>, leave: &Notify, peer_address: SocketAddr) {
    tokio::select! {
        () = drain::until_stopping(stopping) => {}
        () = leave.notified() => {
            tracing::debug!(peer = %peer_address, "cut during its TLS handshake: others need the place");
        }
    }
}

/// Answers requests with the handler. The first one settles the client.
fn counting<P, H, F>(
    handler: H,
    connection: &Arc<Connection<P>>,
    place: &Arc<Place>,
) -> impl Fn(Request<Incoming>) -> F + use<P, H, F>
where
    H: Fn(Request<Incoming>, Arc<Connection<P>>) -> F,
{
    let (connection, place) = (Arc::clone(connection), Arc::clone(place));
    move |request| {
        if connection.count_request() {
            place.settle();
        }
        handler(request, Arc::clone(&connection))
    }
}

/// The certificates that the client presented, its own first.
fn peer_certificates(session: &ServerConnection) -> Vec<CertificateDer<'static>> {
    let chain = session.peer_certificates().unwrap_or_default().iter();
    chain.map(|certificate| certificate.clone().into_owned()).collect()
}
