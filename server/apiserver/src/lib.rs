//! The API server as a library: a schema's tables in, a complete API out.
//!
//! Start reading at [`Server`]; [`run`] puts a command line around it. Flags are read in `orch-config`;
//! `bootstrap` makes ready what a server needs before anything listens, and `server` puts the parts together.
//! Requests are answered in `orch-http`, the verbs of resources are in `orch-registry`, the behaviour of the
//! product's kinds in `orch-kinds`, its controllers in `orch-controllers`.

// A future that is awaited in place is copied with every request, so larger futures are boxed.
#![cfg_attr(not(test), warn(clippy::large_futures))]

mod authenticators;
mod authorizers;
mod bootstrap;
mod command;
mod encryption;
mod followed_files;
pub mod in_process;
pub mod manifests;
mod measures;
mod probes;
pub mod server;

pub use command::{main_with, run};
pub use in_process::InProcess;
pub use orch_config::{self as config, enablement, start_error};
pub use orch_http::{request, routes};
pub use server::Server;
