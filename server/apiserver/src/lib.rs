//! The API server as a library: a schema's tables in, a complete API out.
//!
//! [`Server`] is the way in, [`run`] the same with a command line around. From the outside inwards: [`config`] and
//! [`bootstrap`] before anything listens; [`layers`], [`request`], [`access`] and [`routes`] for every request;
//! [`response`] for its answer; [`documents`] for everything that is no resource; [`metrics`]. The verbs of resources are
//! in `orch-registry`, the behaviour of the product's kinds in `orch-kinds`, its controllers in `orch-controllers`.

// What is awaited in place is moved about with every request: larger futures are boxed.
#![cfg_attr(not(test), warn(clippy::large_futures))]

pub mod access;
pub mod app;
pub mod bootstrap;
pub mod command;
pub mod config;
pub mod documents;
pub mod enablement;
pub mod layers;
pub mod metrics;
pub mod request;
pub mod response;
pub mod routes;
pub mod server;
pub mod start_error;
#[cfg(test)]
mod test_catalog;

pub use command::{main_with, run};
pub use server::Server;
