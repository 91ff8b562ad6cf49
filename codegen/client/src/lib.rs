//! Clients for Rust programs: kubeconfig files as other clients read them, and credentials that a plugin
//! makes, on top of the client library `kube`.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = orch_client::Settings::new().client()?;
//! println!("{:?}", client.apiserver_version().await?);
//! # Ok(())
//! # }
//! ```
//!
//! What comes out is a `kube::Client`, so everything of that library works with it. TLS, proxies and HTTP are
//! its own too: a certificate that is replaced only means another inner client of the same kind. The library
//! and the types that it needs are passed on, as [`kube`] and [`k8s_openapi`], so that everybody means the
//! same version.
//!
//! From the outside inwards: [`settings`] (which files, which context), `kubeconfig` (reading and merging),
//! `proxy`, `service` (the layer that adds credentials and tries again after a 401), `transport` (the
//! connections of one certificate), and where credentials come from: `token_file`, `certificate_files`, and
//! `exec` with its `cache`.

mod cache;
mod certificate_files;
mod credential;
mod error;
mod exec;
mod kubeconfig;
mod proxy;
mod reread;
mod service;
pub mod settings;
mod source;
mod token_file;
mod transport;

pub use error::{Error, PluginFault};
pub use k8s_openapi;
pub use kube;
pub use settings::Settings;
