//! Where a client sends its requests: to one server, or to several, one after the other.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{ClientError, Connection, Protocol, connect};

/// Whose turn it is. Clients of the same servers share it: two of them that ask once each ask two servers.
#[derive(Clone, Debug, Default)]
pub struct Turns(Arc<AtomicUsize>);

/// The servers, and the open connections that are not in use.
pub(super) struct Places {
    addresses: Vec<SocketAddr>,
    turns: Turns,
    tls: Arc<rustls::ClientConfig>,
    protocol: Protocol,
    idle: Mutex<Vec<Connection>>,
}

impl Places {
    pub(super) fn new(
        addresses: Vec<SocketAddr>,
        turns: &Turns,
        tls: Arc<rustls::ClientConfig>,
        protocol: Protocol,
    ) -> Self {
        Places { addresses, turns: turns.clone(), tls, protocol, idle: Mutex::default() }
    }

    /// A connection to the server whose turn it is.
    pub(super) async fn connection(&self) -> Result<Connection, ClientError> {
        let turn = self.turns.0.fetch_add(1, Ordering::Relaxed);
        let address = self.addresses[turn % self.addresses.len()];
        loop {
            let Some(mut idle) = self.take(address) else {
                return connect(address, Arc::clone(&self.tls), self.protocol).await;
            };
            if idle.is_usable().await {
                return Ok(idle);
            }
        }
    }

    /// Lets a connection be used again.
    pub(super) fn keep(&self, connection: Connection) {
        self.idle.lock().expect("no holder panics").push(connection);
    }

    /// The connection to this server that was used last.
    fn take(&self, address: SocketAddr) -> Option<Connection> {
        let mut idle = self.idle.lock().expect("no holder panics");
        let at = idle.iter().rposition(|connection| connection.address == address)?;
        Some(idle.remove(at))
    }
}
