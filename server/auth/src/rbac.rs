//! Role-based access control: what roles and bindings allow.
//!
//! - [`authorizer`]: the mode `RBAC`;
//! - [`policy`]: roles and bindings as they are judged, small views of the stored objects;
//! - [`rule`]: whether one rule matches a request;
//! - [`rule_set`]: the rules of one role; where they are many, `lookup` finds those that match;
//! - [`index`]: all roles and bindings, arranged for decisions. It changes with each of them. `roles` has the
//!   roles, and `grants` what bindings give to one subject;
//! - [`coverage`]: whether the rules of a user cover the rules that they want to grant, each taken apart into
//!   [`permission`]s; `refusal` says what they lack.
//!
//! Permissions only add up; there are no rules that deny. Texts are those of the reference, because clients
//! show and compare them.

pub mod authorizer;
pub mod coverage;
mod grants;
pub mod index;
mod lookup;
pub mod permission;
pub mod policy;
mod refusal;
mod roles;
pub mod rule;
pub mod rule_set;

#[cfg(test)]
mod model;
