//! What the black-box tests and benchmarks share: a server process of their own, typed users, an HTTP client
//! over real sockets, kubectl, and the replay of recorded answers.

pub mod authority;
pub mod client;
pub mod daemon_sets;
mod disk;
pub mod fleet;
pub mod kubeconfig;
pub mod kubectl;
pub mod linear;
pub mod manifests;
pub mod memory_group;
pub mod objects;
pub mod replay;
pub mod rounds;
pub mod seed;
pub mod server;
pub mod skip;

pub use client::{Answer, Client};
pub use server::TestServer;
