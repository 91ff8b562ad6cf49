//! A bound address and its accept loop, which goes on whatever happens to one connection.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use rustls::{ServerConfig, pki_types::CertificateDer};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep_until},
};

use crate::{
    acceptor::Acceptor,
    config::Config,
    connection::Connection,
    drain::{self, until_stopping},
    error::ListenError,
    places::{MAX_NEWCOMERS, Places, Room},
};

/// How long to wait when the machine has run out of something. Other connections end in the meantime.
const SHORTAGE_PAUSE: Duration = Duration::from_millis(500);

/// A bound address. Clients can connect from now on; they are answered once [`Listener::serve`] runs.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    local_address: SocketAddr,
    config: Config,
    failed_handshakes: Arc<AtomicU64>,
}

impl Listener {
    /// Binds the configured address.
    pub async fn bind(config: Config) -> Result<Self, ListenError> {
        let address = config.address;
        let fault = |error| ListenError::new(address, error);
        let socket = TcpListener::bind(config.address).await.map_err(fault)?;
        Self::new(config, socket).map_err(fault)
    }

    /// Takes a socket that listens already; the configured address is only named in errors.
    pub fn adopt(config: Config, socket: std::net::TcpListener) -> Result<Self, ListenError> {
        let address = config.address;
        let taken = socket.set_nonblocking(true).and_then(|()| TcpListener::from_std(socket));
        taken.and_then(|socket| Self::new(config, socket)).map_err(|error| ListenError::new(address, error))
    }

    fn new(config: Config, socket: TcpListener) -> io::Result<Self> {
        let local_address = socket.local_addr()?;
        Ok(Self { socket, local_address, config, failed_handshakes: Arc::default() })
    }

    /// The address it listens on, with the real port.
    pub fn local_address(&self) -> SocketAddr {
        self.local_address
    }

    /// Counts TLS handshakes that fail.
    pub fn failed_handshakes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.failed_handshakes)
    }

    /// Accepts connections and answers their requests with `handler`. `tls` counts for new connections; it
    /// may be exchanged at any time.
    ///
    /// `make_peer` is called once for each connection, with the certificates that the client presented: its
    /// own first, then those that lead to an authority, or none at all. The client has proved that it holds
    /// the key of the first; nothing else about them was checked. Handlers get the outcome from
    /// [`Connection::peer`].
    ///
    /// When `stopping` becomes true, new clients are refused, connected ones are told to go elsewhere, and
    /// the call returns once all requests that have begun are answered or the grace period is over.
    pub async fn serve<P, H, F, B>(
        self,
        tls: Arc<ArcSwap<ServerConfig>>,
        make_peer: fn(Vec<CertificateDer<'static>>) -> P,
        handler: H,
        mut stopping: watch::Receiver<bool>,
    ) where
        P: Send + Sync + 'static,
        H: Fn(Request<Incoming>, Arc<Connection<P>>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let Self { socket, config, failed_handshakes, .. } = self;
        let places = Places::new(config.max_connections, config.max_connections_per_address, MAX_NEWCOMERS);
        let acceptor = Acceptor::new(tls, config, make_peer, handler, failed_handshakes, stopping.clone());
        let acceptor = Arc::new(acceptor);
        let mut connections = JoinSet::new();
        loop {
            let room = places.room(Instant::now());
            let has_room = matches!(room, Room::Free | Room::ForNewcomer);
            let wait_end = if let Room::From(instant) = room { Some(instant) } else { None };
            tokio::select! {
                () = until_stopping(&mut stopping) => break,
                Some(end) = connections.join_next() => drain::report_panic(end),
                () = places.changed(), if room != Room::Free => {}
                () = sleep_until(wait_end.unwrap_or_else(Instant::now)), if wait_end.is_some() => {}
                accepted = socket.accept(), if has_room => match accepted {
                    Ok((stream, peer_address)) => {
                        if let Some(place) = places.take(peer_address.ip(), Instant::now()) {
                            connections.spawn(Arc::clone(&acceptor).serve(stream, peer_address, place));
                        } else {
                            tracing::debug!(peer = %peer_address, "closed: too many connections from there");
                        }
                    }
                    Err(error) => if let Some(pause) = pause_after(&error) {
                        tracing::error!(%error, "cannot accept a connection; trying again");
                        tokio::select! {
                            () = until_stopping(&mut stopping) => break,
                            () = tokio::time::sleep(pause) => {}
                        }
                    }
                }
            }
        }
        // From here on the system refuses new clients.
        drop(socket);
        drain::drain(connections, config.shutdown_grace_period).await;
    }
}

/// After a client that left while it waited there is no pause; after a shortage (of file descriptors, of
/// memory) there is.
fn pause_after(error: &io::Error) -> Option<Duration> {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};

    let client_left =
        matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted);
    (!client_left).then_some(SHORTAGE_PAUSE)
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::{SHORTAGE_PAUSE, pause_after};

    #[test]
    fn only_a_shortage_makes_the_loop_pause() {
        const TOO_MANY_OPEN_FILES: i32 = 24;
        assert_eq!(pause_after(&Error::from_raw_os_error(TOO_MANY_OPEN_FILES)), Some(SHORTAGE_PAUSE));
        assert_eq!(pause_after(&Error::from(ErrorKind::OutOfMemory)), Some(SHORTAGE_PAUSE));
        assert_eq!(pause_after(&Error::from(ErrorKind::ConnectionAborted)), None);
    }
}
