//! Where to listen, and how much of the server a client may hold.

use std::{net::SocketAddr, time::Duration};

/// Bytes of a request's head: the URI with its selectors, and headers with the largest tokens in use.
pub const MAX_HEAD_BYTES: u32 = 64 * 1024;

/// The address and the limits of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where to listen. Port 0 stands for any free port.
    pub address: SocketAddr,
    /// How many connections may be open at a time, at least 1. Further clients wait.
    pub max_connections: u32,
    /// How many of them may be from one address, at least 1. Further ones are closed at once.
    pub max_connections_per_address: u32,
    /// From the accepted connection to the end of its TLS handshake.
    pub handshake_timeout: Duration,
    /// HTTP/1.1: how long a connection may go without a new request whose head is complete. It is checked
    /// once in this time, so up to twice as much may pass.
    pub head_timeout: Duration,
    /// HTTP/2: the same. It may be longer, because pings find out whether the client is still there.
    pub idle_timeout: Duration,
    /// How long a client may take nothing of what is sent to it. Then its connection is cut, or its HTTP/2
    /// stream is reset.
    pub stall_timeout: Duration,
    /// How long a shutdown waits for requests before it cuts their connections.
    pub shutdown_grace_period: Duration,
}

impl Config {
    /// The usual timeouts: 10 s for a handshake, 30 s for a head, 90 s idle, 60 s for a client that takes
    /// nothing. One address may have all connections.
    pub fn new(address: SocketAddr, max_connections: u32, shutdown_grace_period: Duration) -> Self {
        Self {
            address,
            max_connections,
            max_connections_per_address: max_connections,
            handshake_timeout: Duration::from_secs(10),
            head_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(90),
            stall_timeout: Duration::from_mins(1),
            shutdown_grace_period,
        }
    }
}
