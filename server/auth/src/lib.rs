//! Authentication and authorization, without HTTP.
//!
//! - [`authentication`]: all configured methods together; [`authentication_file`]: a file that configures
//!   some; [`anonymous`]: requests without credentials; [`authenticator`]: the trait and each method;
//! - [`authorization`]: all configured authorizers together; [`authorizer`]: the trait and each authorizer;
//! - [`rbac`], [`node`], [`abac`]: the modes that decide by roles, for nodes, and by a file of policies;
//! - [`webhook`]: the mode where another server decides; [`authorization_file`]: the file that configures it;
//! - [`service_account`]: the tokens that the server issues;
//! - [`oidc`], [`jwt`]: the tokens that others issue;
//! - [`impersonation`]: the rights to act as another user;
//! - [`user`]: the identity that authentication finds and authorization judges.
//!
//! [`config_file`] reads files in YAML. Files are read when the two are built; a server that has started does
//! not need them again.

pub mod abac;
pub mod anonymous;
pub mod answer;
pub mod authentication;
pub mod authentication_file;
pub mod authenticator;
pub mod authorization;
pub mod authorization_file;
pub mod authorizer;
mod complaints;
pub mod config_file;
pub mod error;
pub mod impersonation;
pub mod jwt;
mod kept_answers;
pub mod lookups;
pub mod node;
pub mod oidc;
pub mod rbac;
pub mod service_account;
mod shared_questions;
pub mod user;
pub mod webhook;

#[cfg(test)]
mod testing;
