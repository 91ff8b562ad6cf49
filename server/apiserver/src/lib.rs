//! The API server as a library: a schema's tables in, a complete API out.
//!
//! Start reading at [`Server`]; [`run`] puts a command line around it. From the outside inwards: [`config`]
//! and `bootstrap` before anything listens; `layers`, `limits`, `turns` with `fairness`, `request`, `access`
//! and [`routes`] for every request; `response` for its answer; `audit` for its record, `traces` for its
//! spans; `websocket` for watches whose events are messages; `documents` for all paths that are not
//! resources; `metrics`. The verbs of resources are in `orch-registry`, the behaviour of the product's kinds
//! in `orch-kinds`, its controllers in `orch-controllers`.

// A future that is awaited in place is copied with every request, so larger futures are boxed.
#![cfg_attr(not(test), warn(clippy::large_futures))]

mod access;
mod app;
mod audit;
mod authenticators;
mod authorizers;
mod bootstrap;
mod command;
pub mod config;
mod documents;
pub mod enablement;
mod encryption;
mod fairness;
mod followed_files;
mod header_names;
pub mod in_process;
mod large_work;
mod layers;
mod limits;
pub mod manifests;
mod measures;
mod metrics;
mod open_watches;
mod other_servers;
mod probes;
pub mod request;
mod response;
pub mod routes;
pub mod server;
mod shutdown;
pub mod start_error;
#[cfg(test)]
mod test_catalog;
mod timeline;
mod traces;
mod turns;
mod watch_review;
mod websocket;

pub use command::{main_with, run};
pub use in_process::InProcess;
pub use server::Server;
