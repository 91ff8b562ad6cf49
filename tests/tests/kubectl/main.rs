//! The command line tool that people already have, against real servers. Where it is not installed, the tests
//! are skipped, and say so.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

mod accounts;
mod claims;
mod commands;
mod credentials;
mod guides;
mod manifests;
mod namespaces;
mod rollouts;
mod validation;
mod versions;
