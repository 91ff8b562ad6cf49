//! The door: TCP, TLS, HTTP/1.1 and HTTP/2, from the first byte of a connection to its last.
//!
//! Everything that a client can hold on to is bounded: how many connections there are, how long a handshake or
//! the head of a request may take, how long a connection may be idle, how long it may
//! leave what is sent to it, how many streams it may open. A client
//! certificate is asked for and only taken down; who it belongs to is for authentication to find out. What a
//! request means is for the handler.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use orch_auth::authenticator::certificate::PeerCertificates;
use rustls::ServerConfig;
use tokio::{
    net::TcpListener,
    sync::{Notify, watch},
};

use crate::{config::ServingConfig, start_error::StartError};

mod accept;
mod coalesced;
mod connection;
mod drain;
mod pace;
mod patient;
mod streams;
pub mod tls;
mod turns;

/// A bound address. Clients can connect from now on; they are answered once [`Listener::serve`] runs.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    tls: Arc<ArcSwap<ServerConfig>>,
    limits: Limits,
}

impl Listener {
    /// Binds the configured address.
    pub async fn bind(config: &ServingConfig, tls: Arc<ServerConfig>) -> Result<Self, StartError> {
        let fault = |error| bind_fault(config.address, &error);
        let socket = TcpListener::bind(config.address).await.map_err(fault)?;
        let address = socket.local_addr().map_err(fault)?;
        let tls = Arc::new(ArcSwap::new(tls));
        Ok(Self { socket, address, tls, limits: Limits::new(config) })
    }

    /// Where it listens; the port is the real one.
    pub fn local_address(&self) -> SocketAddr {
        self.address
    }

    /// How TLS is spoken with those who connect from now on.
    pub fn tls(&self) -> Arc<ArcSwap<ServerConfig>> {
        Arc::clone(&self.tls)
    }

    /// Answers requests with `handler` until `stopping` becomes true, and then until all that have begun are
    /// answered or the grace period is over. From the moment of stopping on, new clients are refused, and
    /// clients that are connected are told to go elsewhere.
    pub async fn serve<H, F, B>(self, handler: H, stopping: watch::Receiver<bool>)
    where
        H: Fn(Request<Incoming>, Arc<Connection>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        accept::run(self, handler, stopping).await;
    }
}

/// One client connection, as its requests see it.
#[derive(Debug)]
pub struct Connection {
    peer_address: SocketAddr,
    peer_certificates: PeerCertificates,
    requests: AtomicU64,
    close: Notify,
}

impl Connection {
    /// Where the client connects from.
    pub fn peer_address(&self) -> SocketAddr {
        self.peer_address
    }

    /// What the client presented in the handshake; nothing of it is trusted yet.
    pub fn peer_certificates(&self) -> &PeerCertificates {
        &self.peer_certificates
    }

    /// Takes no further requests on this connection; those that have begun are answered. HTTP/2 clients are told
    /// by GOAWAY, others by `Connection: close`.
    pub fn close_when_answered(&self) {
        self.close.notify_one();
    }

    fn new(peer_address: SocketAddr, peer_certificates: PeerCertificates) -> Self {
        Self { peer_address, peer_certificates, requests: AtomicU64::new(0), close: Notify::new() }
    }

    fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// How many requests have come so far.
    fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

/// How much of the server a client may hold on to.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Connections at a time.
    connections: usize,
    /// From the connection to the end of the TLS handshake.
    handshake: Duration,
    /// Over HTTP/1.1, without a new request, to the end of its head. It is looked at as often, so that up to twice as much may
    /// go by.
    request_head: Duration,
    /// The same over HTTP/2, where a client that is there answers pings.
    idle: Duration,
    /// Without taking anything of what is sent: the connection is cut.
    stall: Duration,
    /// From the start of a shutdown to its end.
    grace: Duration,
}

impl Limits {
    fn new(config: &ServingConfig) -> Self {
        Self {
            connections: config.max_connections as usize,
            handshake: Duration::from_secs(10),
            request_head: Duration::from_secs(30),
            idle: Duration::from_secs(90),
            stall: Duration::from_mins(1),
            grace: config.shutdown_grace_period,
        }
    }
}

fn bind_fault(address: SocketAddr, error: &std::io::Error) -> StartError {
    use std::io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};

    let (flag, problem) = match error.kind() {
        AddrInUse => {
            ("--secure-port", "another program listens there already (0 takes any free port)".to_owned())
        }
        AddrNotAvailable => ("--bind-address", "this machine has no such address".to_owned()),
        PermissionDenied => {
            ("--secure-port", "this user may not listen there (ports below 1024 are special)".to_owned())
        }
        _ => ("--bind-address", error.to_string()),
    };
    StartError::configuration(flag, format_args!("cannot listen on {address}: {problem}"))
}

#[cfg(test)]
mod fan_out_tests;
#[cfg(test)]
mod tests;
