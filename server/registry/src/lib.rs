//! The registry: the verbs of resources over typed requests, for every kind alike. It knows no HTTP and no
//! kind.
//!
//! A read takes a snapshot, selects and answers stored bytes ([`read`]). A write goes through the stages of
//! [`write`](mod@write). What a kind does beyond its schema is registered: [`behaviour`], [`operation`],
//! [`admission`]. [`verb`] has a function for each verb; [`client`] offers the same to code inside the
//! server.
//!
//! From the ground up: [`catalog`] (what is served) and [`error`]; [`stored`] (the stored form) and
//! [`objects`]; [`admission`] and [`core`]; [`context`] and [`request`] (one request); [`read`] and
//! [`write`](mod@write); [`verb`]; [`client`].

// A future that is awaited in place is copied with every request, so larger futures are boxed.
#![cfg_attr(not(test), warn(clippy::large_futures))]

pub mod admission;
pub mod answer;
pub mod behaviour;
pub mod catalog;
pub mod claims;
pub mod client;
pub mod context;
pub mod continue_token;
pub mod conversion;
pub mod core;
pub mod error;
pub mod feature_gates;
pub mod fence;
pub mod forms;
mod kind_name;
pub mod meter;
pub mod migration;
pub mod objects;
pub mod operation;
pub mod options;
mod per_form;
pub mod ranges;
pub mod read;
mod recurrence;
pub mod refusal;
pub mod request;
pub mod requirements;
mod scale;
pub mod spelling;
pub mod store_error;
mod store_states;
pub mod stored;
#[cfg(test)]
mod test_core;
pub mod verb;
pub mod watch_stream;
pub mod write;
