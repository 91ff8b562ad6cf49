//! The API server as a library: a schema's tables in, a complete API out.
//!
//! [`server::Server`] is the way in. The rest, from the outside inwards: [`config`] and [`bootstrap`] before anything
//! listens; [`listener`], [`layers`], [`request_info`] and [`routes`] for every request; [`registry`] for the verbs of
//! resources, with [`kinds`] for the behaviour of single ones; [`discovery`], [`openapi`], [`health`], [`metrics`],
//! [`version`] and [`root_paths`] for the documents; [`controllers`] for the work that nobody asks for.

// What is awaited in place is moved about with every request: larger futures are boxed.
#![cfg_attr(not(test), warn(clippy::large_futures))]

pub mod account_directory;
pub mod app;
pub mod bootstrap;
pub mod catalog;
pub mod config;
pub mod controllers;
pub mod discovery;
pub mod enablement;
pub mod error;
pub mod feature_gates;
pub mod health;
pub mod incoming;
pub mod kinds;
pub mod layers;
pub mod listener;
pub mod metrics;
pub mod openapi;
pub mod permission;
pub mod query;
pub mod registry;
pub mod request_info;
pub mod response;
pub mod root_paths;
pub mod routes;
pub mod server;
pub mod start_error;
pub mod static_document;
pub mod status;
#[cfg(test)]
mod test_catalog;
pub mod version;
pub mod warning;
