//! Calls to other servers: webhooks, and issuers of tokens. Nothing else in the server makes connections.
//!
//! A [`target::Target`] says who is called: from a kubeconfig file ([`kubeconfig`]), or from an address and
//! the authorities to trust. A [`client::Client`] calls it:
//!
//! - over HTTP/1.1, with TLS of [`rustls`]; connections are kept and used again;
//! - with a deadline for each attempt, and retries with growing pauses ([`backoff`]) where the target answers
//!   429 or 5xx, or breaks the connection;
//! - without a proxy, and without following redirects: a target cannot send the server elsewhere;
//! - with answers that are bounded in size and are never logged;
//! - not at all for a while, where no connection can be opened ([`circuit`]): requests do not wait for a
//!   server that is gone; where callers do not choose what is asked, one that is silent counts as gone;
//! - with the trace of the request that a call is made for ([`orch_trace`]).
//!
//! Collectors of traces are also called by gRPC ([`grpc`]), which needs less.
//!
//! ```no_run
//! use orch_outbound::{client::{Client, Settings}, kubeconfig};
//!
//! # async fn call() -> Result<(), Box<dyn std::error::Error>> {
//! let target = kubeconfig::read("/etc/webhook.yaml".as_ref())?;
//! let client = Client::new(target, Settings::default());
//! let answer = client.post_json(b"{}".as_slice().into()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! [`client::Client::of_kubeconfig`] also follows the files, so that certificates can be renewed while the
//! server runs.
//!
//! Tokens, passwords and keys have no `Debug` and stand in no error.

pub mod backoff;
pub mod circuit;
pub mod client;
mod connection;
pub mod error;
pub mod grpc;
pub mod kubeconfig;
pub mod outliving;
mod source;
pub mod target;
