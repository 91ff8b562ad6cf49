//! Role-based access control: what roles and bindings allow.
//!
//! - [`authorizer`]: the mode `RBAC`;
//! - [`policy`]: roles and bindings as they are judged, small views of the stored objects;
//! - [`rule`]: whether one rule matches a request;
//! - [`index`]: all roles and bindings, arranged for decisions. It changes with each of them;
//! - [`coverage`]: whether the rules that somebody has include the rules that they want to give away.
//!
//! Permissions only add up; there are no rules that deny. Texts are those of the reference, because clients
//! show and compare them.

pub mod authorizer;
pub mod coverage;
pub mod index;
pub mod policy;
mod roles;
pub mod rule;

#[cfg(test)]
mod model;
