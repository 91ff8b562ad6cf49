//! The trace of a request, without IO: where it comes from ([`context`]), and what was done for it
//! ([`span`]).
//!
//! A [`request::RequestTrace`] belongs to a request whose trace goes on. While the request is answered, it is
//! found by [`request::current`]. Whoever calls another server for the request sends the context of a
//! [`request::Call`], which becomes a span. How spans are delivered is for the server.

pub mod context;
pub mod request;
pub mod span;
