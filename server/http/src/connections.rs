//! Connections whose requests are answered.
//!
//! What is returned is boxed. So the code that runs for a request is compiled in this crate, and not again in
//! its caller, which is built with every change of a schema.

use std::{convert::Infallible, net::SocketAddr, pin::Pin, sync::Arc};

use arc_swap::ArcSwap;
use futures_util::FutureExt as _;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use orch_listener::{Connection, Listener};
use rustls::ServerConfig;
use tokio::{io::DuplexStream, sync::watch};

use crate::{app::App, layers, limits::Peer};

/// Ends when everything is answered.
pub type Answering = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Answers the clients of a listener until `stopping` becomes true, and finishes what has begun. `tls` is for
/// new connections; it may be exchanged at any time.
pub fn answer_all(
    app: Arc<App>,
    listener: Listener,
    tls: Arc<ArcSwap<ServerConfig>>,
    stopping: watch::Receiver<bool>,
) -> Answering {
    let handler = move |request, connection| layers::handle(Arc::clone(&app), connection, request);
    Box::pin(listener.serve(tls, Peer::new, handler, stopping))
}

/// Answers the requests that come over a pipe, from `peer`, who seems to be at `address`.
pub fn answer_one(app: Arc<App>, pipe: DuplexStream, peer: Peer, address: SocketAddr) -> Answering {
    let connection = Arc::new(Connection::detached(address, peer));
    let service = service_fn(move |request| {
        layers::handle(Arc::clone(&app), Arc::clone(&connection), request).map(Ok::<_, Infallible>)
    });
    Box::pin(http1::Builder::new().serve_connection(TokioIo::new(pipe), service).map(drop))
}
