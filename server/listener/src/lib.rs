//! Connections: TCP, TLS, HTTP/1.1 and HTTP/2, from the first byte of a connection to its last.
//!
//! [`Listener::bind`] takes an address. [`Listener::serve`] accepts connections and gives each request to a
//! handler, with the [`Connection`] that it came on. What a request means is for the handler. A client
//! certificate is asked for and not judged: what it is worth is for the caller to decide.
//!
//! Everything that a client can hold is bounded: how many connections are open, in all and from one address,
//! how many of them have not sent a request, how long a handshake or the head of a request may take, how long
//! a connection may be idle, how long a client may leave unread what is sent to it, how many streams it may
//! open. [`Config`] has the limits that a caller may set; the sizes are constants of `http1`, `http2` and
//! `places`. HTTP/1 requests whose end could be read in two ways do not get as far as a handler. After a 101
//! of a handler an HTTP/1 connection speaks what that handler wants ([`Connection::hand_over`]).
//!
//! The modules import one another in this direction: `listener` (the accept loop) -> `acceptor` (one
//! connection) -> `handshake`, `http1`, `http2`, `lifecycle` (how a connection ends) -> the rest, such as
//! `places` (how many connections there may be).

// A future that is awaited in place is moved with everything around it: larger ones are boxed.
#![cfg_attr(not(test), warn(clippy::large_futures))]

mod acceptor;
mod config;
mod connection;
mod drain;
mod error;
mod handover;
mod handshake;
mod http1;
mod http2;
mod lifecycle;
mod listener;
mod places;
mod stall_timeout;
pub mod tls;
mod write_coalescing;

pub use self::{
    config::Config,
    connection::Connection,
    error::ListenError,
    handover::{ClientStream, Duplex, Successor},
    listener::Listener,
    places::client_address,
};

#[cfg(test)]
mod tests {
    mod fan_out;
    mod handover;
}
