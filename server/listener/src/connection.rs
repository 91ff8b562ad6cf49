//! One client connection, as its requests see it.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::{Notify, futures::Notified};

use crate::handover::{Prepared, Successor};

/// One client connection, as its requests see it. `P` is what the caller of
/// [`Listener::serve`](crate::Listener::serve) made of the client's certificates; it lives as long as the
/// connection.
#[derive(Debug)]
pub struct Connection<P> {
    peer_address: SocketAddr,
    peer: P,
    requests: AtomicU64,
    close: Arc<Notify>,
    prepared: Prepared,
}

impl<P> Connection<P> {
    /// Where the client connects from.
    pub fn peer_address(&self) -> SocketAddr {
        self.peer_address
    }

    /// What was made of the certificates that the client presented.
    pub fn peer(&self) -> &P {
        &self.peer
    }

    /// Takes no further requests on this connection. Those that have begun are answered. HTTP/2 clients are
    /// told by GOAWAY, others by `Connection: close`.
    pub fn close_when_answered(&self) {
        self.close.notify_one();
    }

    /// Hands the bytes of an HTTP/1 connection over, once the request that is being answered has got its 101.
    /// Another answer changes nothing.
    pub fn hand_over(&self, successor: Successor) {
        self.prepared.set(successor);
    }

    /// A connection that no client has: for tests of code that answers requests.
    pub fn detached(peer_address: SocketAddr, peer: P) -> Self {
        Self::new(peer_address, peer, Arc::default())
    }

    /// `close` is notified when the connection is to take no further requests.
    pub(crate) fn new(peer_address: SocketAddr, peer: P, close: Arc<Notify>) -> Self {
        Self { peer_address, peer, requests: AtomicU64::new(0), close, prepared: Prepared::default() }
    }

    /// Waits for [`Connection::close_when_answered`], or for others that need the place.
    pub(crate) fn close_asked(&self) -> Notified<'_> {
        self.close.notified()
    }

    /// Who is to go on after the answer that is being made.
    pub(crate) fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// Counts a request. Whether it is the first.
    pub(crate) fn count_request(&self) -> bool {
        self.requests.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// How many requests have come so far.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}
