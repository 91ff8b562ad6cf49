//! HTTP in front of the registry: what a request is, and what it is answered. It knows no kind, so that a
//! change of a schema does not build it again.
//!
//! From the outside inwards: [`connections`]; `layers`, [`limits`], `turns` with [`fairness`], [`request`],
//! [`access`] and [`routes`] for every request; [`response`] for its answer; `audit` for its record,
//! [`traces`] for its spans; `websocket` for watches whose events are messages; [`documents`] for all paths
//! that are not resources; [`metrics`]. What takes long runs beside it ([`large_work`]), watches end with the
//! rights of their callers ([`watch_review`]), and a server that stops does so in steps ([`shutdown`]). All
//! of them share an [`App`](app::App).

// A future that is awaited in place is copied with every request, so larger futures are boxed.
#![cfg_attr(not(test), warn(clippy::large_futures))]

pub mod access;
pub mod app;
mod audit;
pub mod connections;
pub mod documents;
pub mod fairness;
mod header_names;
pub mod large_work;
mod layers;
pub mod limits;
pub mod metrics;
mod open_watches;
mod other_servers;
mod proc_stat;
pub mod request;
pub mod response;
pub mod routes;
pub mod shutdown;
mod timeline;
pub mod traces;
mod turns;
pub mod watch_review;
mod websocket;
