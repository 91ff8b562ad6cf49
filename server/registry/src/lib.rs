//! The registry: the verbs of resources over typed requests, for every kind alike. It knows no HTTP and no kind.
//!
//! A read takes a snapshot, selects and answers stored bytes ([`read`]). A write goes through the stages of [`write`].
//! What single kinds do besides what their schema says is registered: [`behaviour`], [`operation`], [`admission`].
//! [`verb`] has a function for each verb, [`client`] the same for code inside the server.
//!
//! From the ground up: [`catalog`] (what is served) and [`error`]; [`stored`] (the stored form) and [`objects`];
//! [`admission`] and [`core`]; [`context`] and [`request`] (one request); [`read`] and [`write`]; [`verb`]; [`client`].

// What is awaited in place is moved about with every request: larger futures are boxed.
#![cfg_attr(not(test), warn(clippy::large_futures))]

pub mod admission;
pub mod answer;
pub mod behaviour;
pub mod catalog;
pub mod claims;
pub mod client;
pub mod context;
pub mod continue_token;
pub mod core;
pub mod error;
pub mod feature_gates;
pub mod objects;
pub mod operation;
pub mod options;
pub mod read;
pub mod request;
pub mod store_error;
pub mod stored;
pub mod verb;
pub mod watch_stream;
pub mod write;
