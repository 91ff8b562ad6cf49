//! Real clients over real sockets. Where time matters it is the runtime's own, which stands still until no
//! task has anything to do.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

mod bind;
mod certificates;
mod client;
mod limits;
mod protocols;
mod server;
mod shutdown;
mod timeouts;
