//! The store against a real etcd. Where the program is missing, the tests print SKIPPED.

#![expect(clippy::unwrap_used, reason = "a panic of a test is its report")]

mod conformance;
mod faults;
mod large;
mod member;
mod members;
mod moving;
mod proxy;
mod support;
